"""``python -m xarrayops.port``: port programs from NumPy to the arrays of every library."""
