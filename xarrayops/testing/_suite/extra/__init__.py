"""Rows of the functions beyond the standard that pipelines need."""
