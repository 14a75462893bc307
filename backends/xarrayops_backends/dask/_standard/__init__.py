"""Functions of the standard that Dask computes differently or slowly, by family."""
