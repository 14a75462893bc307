"""The errors of xarrayops.

Internal code raises errors with the reason. The public function adds the operation, the arrays and the alternative.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = [
    "BackendNotFound",
    "BuildError",
    "CrossingError",
    "ExchangeError",
    "InvalidArguments",
    "InvalidBackend",
    "InvalidSparse",
    "LayoutError",
    "MixedBackends",
    "NotAnArray",
    "Unsupported",
    "XArrayOpsError",
]


class XArrayOpsError(Exception):
    """The base class of all errors of xarrayops."""


class BackendNotFound(XArrayOpsError, LookupError):
    """No backend supports this object or has this name, or its library is not installed."""


class NotAnArray(BackendNotFound, TypeError):
    """An argument is not an array of a known library."""


class InvalidBackend(XArrayOpsError):
    """A backend module breaks the contract of `xarrayops.plugin`."""


class MixedBackends(XArrayOpsError, TypeError):
    """One call has arrays or dtypes of several libraries."""


class BuildError(XArrayOpsError, RuntimeError):
    """A native kernel cannot be built; the message has the command and the compiler's output."""


class Unsupported(XArrayOpsError, NotImplementedError):
    """The library cannot do what was requested; the message names an alternative."""


class InvalidArguments(XArrayOpsError, ValueError, RuntimeError):
    """The library refuses the arguments of a call, such as shapes that do not fit; the message has its reason."""


class ExchangeError(XArrayOpsError, BufferError):
    """An array cannot be converted to another library as requested."""


class LayoutError(XArrayOpsError, ValueError):
    """A layout, pattern or stride does not fit the array."""


class CrossingError(XArrayOpsError, RuntimeError):
    """A block of `xarrayops.strict` has too many transfers, waits or computations; the message names the line."""


class InvalidSparse(XArrayOpsError, ValueError):
    """The parts of a sparse matrix are malformed; the message names the first invalid entry."""


def available_names(name: object, known: Iterable[str], shown: Sequence[str] = ()) -> str:
    """The end of the error message for an unknown name: the known names, and the closest one.

    If ``shown`` is given, only those names are listed.

    >>> available_names("flaot32", ("float32", "float64"))
    "it has float32, float64; did you mean 'float32'?"
    """
    from difflib import get_close_matches  # slow to import, and needed for errors only

    names = list(known)
    accelerators = [known for known in names if known != "cpu"]  # "gpu" is not a misspelt "cpu"
    near = get_close_matches(str(name), names, n=1) if name != "gpu" else accelerators[:1]
    return f"it has {', '.join(shown or names) or 'none'}" + (f"; did you mean {near[0]!r}?" if near else "")


def install_command(extra: str, distribution: str = "xarrayops") -> str:
    """The command that installs an extra of a distribution.

    A distribution that was installed from a checkout may not be on an index: the command then installs from that
    folder, as in ``pip install '.[torch]'``.
    """
    return f"pip install '{'.' if _is_from_folder(distribution) else distribution}[{extra}]'"


def _is_from_folder(distribution: str) -> bool:
    """Whether pip installed a distribution from a folder, as recorded in direct_url.json (PEP 610)."""
    from importlib import metadata  # slow to import, and needed for errors only

    try:
        origin = metadata.distribution(distribution).read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # the package is imported from a checkout that is not installed
        return distribution == "xarrayops"
    return origin is not None and "dir_info" in origin
