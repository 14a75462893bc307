"""Host kernels of sparse matrices, over NumPy arrays: compaction, order, products, checks."""
