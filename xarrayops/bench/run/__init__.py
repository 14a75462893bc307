"""A run: what is measured, in which process and order, and what is recorded."""
