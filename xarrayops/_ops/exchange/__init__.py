"""Conversion between libraries: planned, carried out, and what outlives it."""
