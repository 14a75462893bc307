"""Rows of our own operations: attention, layout, exchange and the others."""
