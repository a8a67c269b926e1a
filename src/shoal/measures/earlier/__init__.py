"""Measure what earlier releases of the same people reveal."""
