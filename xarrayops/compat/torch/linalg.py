"""The extension linalg of the namespace of torch; see `xarrayops.compat`."""

from xarrayops.compat._overlay import fill

fill(globals(), "torch.linalg")
