"""The errors of xarrayops.

Inner code raises the bare fact; the public verb adds the operation, the arrays and the next step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def available_names(asked: object, known: Iterable[str], shown: Sequence[str] = ()) -> str:
    """The end of an error about a name that a library lacks: the names that it has, and the one that was perhaps meant.

    Of many names only those in ``shown`` are listed.

    >>> available_names("flaot32", ("float32", "float64"))
    "it has float32, float64; did you mean 'float32'?"
    """
    from difflib import get_close_matches  # only where there is an error to explain

    names = list(known)
    near = get_close_matches(str(asked), names, n=1)
    return f"it has {', '.join(shown or names) or 'none'}" + (f"; did you mean {near[0]!r}?" if near else "")
