"""Host kernels for sparse matrices, over NumPy arrays: compaction, sorting, products, checks."""
