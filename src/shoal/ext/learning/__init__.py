"""Classifiers that are trained on a release."""
