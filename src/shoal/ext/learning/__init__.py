"""Classifiers that are trained on a release, and a transformer for scikit-learn."""
