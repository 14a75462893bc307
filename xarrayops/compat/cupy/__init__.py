"""The namespace of cupy; see `xarrayops.compat`."""

from xarrayops.compat._overlay import fill

fill(globals(), "cupy")
