"""Host kernels: plain functions over NumPy views of memory, whoever owns it. Backends call them; the core does not."""
