"""Functions of the standard in which Dask deviates from it or is slower than it need be, by family."""
