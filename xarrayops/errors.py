"""The errors of xarrayops.

Inner code raises the bare fact; the public verb adds the operation, the arrays and the next step.
"""

from __future__ import annotations

__all__ = [
    "BackendNotFound",
    "ExchangeError",
    "InvalidBackend",
    "InvalidSparse",
    "LayoutError",
    "MixedBackends",
    "Unsupported",
    "XArrayOpsError",
]


class XArrayOpsError(Exception):
    """Root of every error that xarrayops raises on its own account."""


class BackendNotFound(XArrayOpsError, LookupError):
    """No backend serves this object or bears this name, or its library is not installed."""


class InvalidBackend(XArrayOpsError):
    """A backend module breaks the contract of `xarrayops.plugin`."""


class MixedBackends(XArrayOpsError, TypeError):
    """One call was given arrays, or dtypes, of more than one library."""


class Unsupported(XArrayOpsError, NotImplementedError):
    """The library cannot do what was asked; the message names the way out."""


class ExchangeError(XArrayOpsError, BufferError):
    """An array cannot be handed over as asked."""


class LayoutError(XArrayOpsError, ValueError):
    """A layout, pattern or stride that the array does not allow."""


class InvalidSparse(XArrayOpsError, ValueError):
    """Malformed parts of a sparse matrix; the message names the first offending place."""
