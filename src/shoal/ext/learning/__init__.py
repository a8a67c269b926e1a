"""Train classifiers on a release, and anonymize inside scikit-learn."""
