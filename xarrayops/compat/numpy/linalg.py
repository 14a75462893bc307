"""The extension linalg of the namespace of numpy; see `xarrayops.compat`."""

from xarrayops.compat._overlay import fill

fill(globals(), "numpy.linalg")
