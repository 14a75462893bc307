"""NumPy's common dtypes of arrays and numbers, where a library has others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import xarrayops as xo
from xarrayops._core.backends.dtype_names import name_of
from xarrayops._core.backends.numpy_scalars import as_number, is_numpy_scalar
from xarrayops._core.backends.resolved import enter
from xarrayops._core.modes.defaults import floating_dtype
from xarrayops.errors import Unsupported
from xarrayops.numpy import _operands as ops
from xarrayops.plugin.candidates import constant_while_tracing
from xarrayops.plugin.dtypes import STANDARD_DTYPES

DTYPES_OF_NUMPY = frozenset((*STANDARD_DTYPES, "float16"))
"""The names of NumPy's dtypes of numbers."""
_harmonised: dict[Any, tuple[str | None, bool]] = {}


def together(*values: Any) -> list[Any]:
    """The values as arrays of one library, in NumPy's common dtype."""
    return harmonised(*ops.arrays(*values))


def operands(*values: Any) -> list[Any]:
    """The values as arrays; Python numbers are unchanged if there is an array."""
    found = ops.with_numbers(*values)
    try:
        return harmonised(*found)
    except Unsupported:  # perhaps because NumPy's scalars are not weakly typed
        if not any(map(is_numpy_scalar, found)):
            raise
    return harmonised(*map(as_number, found))


def alike(*values: Any) -> list[Any]:
    """The values as arrays of one dtype, in which Python numbers are weakly typed."""
    values = tuple(operands(*values))
    like = ops.first_array(values)
    if ops.lacks(like, "float64"):
        values = tuple(map(as_number, values))
    dtype = xo.result_type(*values)
    return [xo.astype(x, dtype) if ops.is_array(x) else xo.asarray(x, dtype=dtype, like=like) for x in values]


def harmonised(*values: Any) -> list[Any]:
    """The values in NumPy's common dtype, if the library promotes to another dtype."""
    dtype = _common_dtype(values)
    if dtype is None or floating_dtype() is not None:
        return list(values)
    return [xo.astype(x, dtype) if hasattr(x, "dtype") and not is_numpy_scalar(x) else x for x in values]


def _common_dtype(values: Sequence[Any]) -> str | None:
    """The dtype to which NumPy promotes; None if the library agrees, or if NumPy has no such dtypes."""
    key = tuple([(type(x), x.dtype) if hasattr(x, "dtype") else type(x) for x in values])
    found = _known_promotion(key)
    dtype, is_agreed = _keep_promotion(key, *_promotion(values)) if found is None else found
    if dtype is None or not is_agreed:
        return dtype
    # JAX agrees only while it has the dtype.
    return dtype if [x for x in values if ops._class_lacks(type(x), dtype)] else None


@constant_while_tracing  # torch.compile would compile again whenever the dict grows
def _known_promotion(key: tuple[Any, ...]) -> tuple[str | None, bool] | None:
    return _harmonised.get(key)


@constant_while_tracing
def _keep_promotion(key: tuple[Any, ...], dtype: str | None, is_agreed: bool) -> tuple[str | None, bool]:
    enter(_harmonised, key, (dtype, is_agreed))
    return dtype, is_agreed


def missing_dtype(*values: Any) -> str | None:
    """NumPy's common dtype if the library of the values lacks it; else None."""
    dtype, like = _common_dtype(values), ops.first_array(values)
    return dtype if dtype is not None and floating_dtype() is None and ops.lacks(like, dtype) else None


def _promotion(values: Sequence[Any]) -> tuple[str | None, bool]:
    """The dtype to which NumPy promotes, and whether the library agrees; None if nothing has to be cast."""
    native = [x for x in values if hasattr(x, "dtype")]
    numbers = [x for x in values if type(x) in ops.NUMBERS]
    wanted = promoted([name_of(x.dtype) for x in native], [type(x) for x in numbers])
    if wanted is None or all(name_of(x.dtype) == wanted for x in native):
        return None, True
    try:
        found = name_of(xo.result_type(*native, *numbers))
    except (TypeError, xo.Unsupported):
        found = None
    return wanted, found == wanted and not _follows_default(native, numbers)


@constant_while_tracing
def promoted(names: Sequence[str | None], numbers: Sequence[type]) -> str | None:
    """NumPy's common dtype of arrays with these dtypes and of Python numbers; None for dtypes that NumPy lacks."""
    import numpy

    if not names or not {*names} <= DTYPES_OF_NUMPY:
        return None
    return numpy.result_type(*names, *(cls() for cls in numbers)).name


@constant_while_tracing
def casts(source: str | None, target: str | None, casting: Any) -> bool:
    """Whether ``casting`` allows the cast; dtypes that NumPy lacks may be cast."""
    import numpy

    names: tuple[Any, Any] = (source, target) if {source, target} <= DTYPES_OF_NUMPY else ("bool", "bool")
    return numpy.can_cast(*names, "same_kind" if casting == "same_value" else casting)


def _follows_default(native: Sequence[Any], numbers: Sequence[Any]) -> bool:
    """Whether the library promotes integers with a number to its default dtype, which programs can change."""
    is_floating = any(type(x) in (float, complex) for x in numbers)
    return is_floating and all(map(is_integer, native)) and any(xo.backend(x).name != "numpy" for x in native)


def floating(x: Any) -> Any:
    """x, or integers in NumPy's default floating-point dtype if the library has another default."""
    return x if floating_dtype() is not None or not is_integer(x) else harmonised(x, 0.5)[0]


def inexact(x: Any) -> Any:
    """x, or integers in NumPy's default floating-point dtype: for steps that the library takes in the dtype of x."""
    x = floating(x)
    return xo.astype(x, float) if is_integer(x) else x


def doubles(*values: Any) -> list[Any]:
    """The values as arrays in NumPy's common dtype with float64, in which NumPy takes some steps."""
    found = harmonised(*ops.arrays(*values))
    dtype = "complex128" if any(map(is_complex, found)) else "float64"
    if floating_dtype() is not None or ops.lacks(found[0], dtype):
        return floats(*found)
    return [xo.astype(x, dtype) for x in found]


def floats(*values: Any) -> list[Any]:
    """The values as arrays of one library, as floating-point numbers in NumPy's common dtype."""
    return harmonised(*map(floating, ops.arrays(*values)))


def is_integer(x: Any) -> bool:
    """Whether an array holds integers or booleans."""
    return xo.isdtype(x.dtype, ("integral", "bool"))


def is_complex(x: Any) -> bool:
    """Whether an array holds complex numbers."""
    return xo.isdtype(x.dtype, "complex floating")
