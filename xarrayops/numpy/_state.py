"""Floating-point errors, and the class of all arrays."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any

from xarrayops._core.backends.numpy_scalars import is_numpy_scalar
from xarrayops.errors import Unsupported
from xarrayops.numpy._operands import is_array

_SILENT = ("ignore", "warn", None)


def _require_silent(function: str, settings: dict[str, Any]) -> None:
    """Raise unless the settings are those that every library has: no library but NumPy raises or calls back."""
    if settings.get("call") is not None or any(value not in _SILENT for value in settings.values()):
        raise Unsupported(
            f"np.{function}: only 'ignore' and 'warn' are supported, because other libraries than NumPy "
            "never raise. Instead: test the result with np.isfinite"
        )


class errstate(ContextDecorator):  # noqa: N801 - NumPy's name
    """Floating-point errors in a ``with`` block: "ignore" or "warn" for NumPy; other libraries never warn."""

    def __init__(self, **kwargs: Any) -> None:
        _require_silent("errstate", kwargs)
        self._settings = kwargs

    def __enter__(self) -> None:
        import numpy

        self._block = numpy.errstate(**self._settings)
        self._block.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._block.__exit__(*error)


def seterr(all: Any = None, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None) -> Any:
    """Set how NumPy handles floating-point errors: "ignore" or "warn"; other libraries never warn."""
    import numpy

    settings = {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid}
    _require_silent("seterr", settings)
    return numpy.seterr(**settings)


def geterr() -> Any:
    """How NumPy handles floating-point errors; other libraries never warn."""
    import numpy

    return numpy.geterr()


class _Arrays(type):
    """The class of `ndarray`: an array of any known library is an instance."""

    def __instancecheck__(cls, x: Any) -> bool:
        return not is_numpy_scalar(x) and is_array(x)


class ndarray(metaclass=_Arrays):  # noqa: N801 - NumPy's name
    """The arrays of all known libraries, for ``isinstance(x, np.ndarray)``. It has no instances of its own."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("np.ndarray is for isinstance alone. Instead: np.empty(shape, dtype)")


__all__ = ["errstate", "geterr", "ndarray", "seterr"]
