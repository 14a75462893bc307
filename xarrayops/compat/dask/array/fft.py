"""The extension fft of the namespace of Dask; see `xarrayops.compat`."""

from xarrayops.compat._overlay import fill

fill(globals(), "dask.array.fft")
