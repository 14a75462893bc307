"""Comparisons: between the backends of one run, and between two runs."""
