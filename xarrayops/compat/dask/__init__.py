"""The namespace of Dask is `xarrayops.compat.dask.array`."""
