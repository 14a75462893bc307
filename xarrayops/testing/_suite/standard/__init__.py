"""Rows of the functions of the array API standard."""
