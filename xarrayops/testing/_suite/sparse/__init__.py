"""Rows of the sparse functions: cases, oracle, and refusals."""
