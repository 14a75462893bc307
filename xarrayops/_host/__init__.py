"""Host kernels: plain functions over NumPy views of memory, whichever library owns it."""
