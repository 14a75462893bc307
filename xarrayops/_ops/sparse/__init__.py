"""Sparse matrices: containers stay native; one contract over their formats and libraries."""
