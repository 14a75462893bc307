"""What a call gives on a library, compared with NumPy in values, dtype, shape and class."""

from __future__ import annotations

import re
import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy

import xarrayops as xo
import xarrayops.numpy as ours
from tests.fuzz.differential.draw import Call
from tests.fuzz.differential.values import NARROW
from xarrayops._core.backends.dtype_names import name_of
from xarrayops.errors import XArrayOpsError

LIBRARIES = ("numpy", "torch", "jax", "jax-32", "dask")
"""The libraries; ``jax-32`` is JAX without its 64-bit types."""
UNSPECIFIED_VALUES = (
    *("linalg.eig", "linalg.eigh", "linalg.svd", "linalg.qr", "linalg.lstsq", "linalg.eigvals"),
    *("argpartition", "partition", "linalg.pinv", "linalg.inv", "unique_values"),
    *("linalg.solve", "linalg.tensorinv", "linalg.tensorsolve"),
)
"""Functions of which only dtype and shape are compared: NumPy does not determine the values."""
FAULTS = (RuntimeError, AttributeError, AssertionError, NotImplementedError, RecursionError, NameError)
"""Errors of a library that say nothing to the user of NumPy's names."""
CLEAR = (ValueError, TypeError, IndexError, OverflowError, KeyError, ZeroDivisionError, numpy.linalg.LinAlgError)
NAMES = {"nan": numpy.nan, "inf": numpy.inf, "numpy": numpy}


@dataclass(frozen=True)
class Outcome:
    """How a call on a library compares with NumPy's."""

    kind: str
    """equal, both raise, refused, skipped, or the kind of the difference."""
    detail: str = ""

    @property
    def is_difference(self) -> bool:
        return self.kind in KINDS


KINDS = (
    "values",
    "operands",
    "dtype",
    "shape",
    "structure",
    "library",
    "raw error",
    "error without advice",
    "NumPy raises",
    "signs of zeros",
)
"""The kinds of differences, the worst first."""


def evaluated(call: Call, library: str = "numpy") -> tuple[Any, dict[str, Any]]:
    """The result of NumPy's call, or of ours on a library, or the error; and the operands after it."""
    operands = {name: x.of(library) for name, x in call.operands.items()}
    try:
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return eval(call.code, {**NAMES, **operands, "np": numpy}), operands
    except Exception as error:
        return error, operands


def on(call: Call, library: str) -> tuple[Any, dict[str, Any]]:
    """The result of our call on a library as NumPy's arrays, or the error; and the operands after it."""
    place = library.removesuffix("-32")
    with bits(library), warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        operands = {name: x.of(place) for name, x in call.operands.items()}
        try:
            with xo.use(place):
                result = eval(call.code, {**NAMES, **operands, "np": ours})
                return [_on_host(x, operands) for x in _leaves(result)], {n: _host(x) for n, x in operands.items()}
        except Exception as error:
            return error, {}


def bits(library: str) -> AbstractContextManager[Any]:
    """JAX with or without its 64-bit types."""
    if not library.startswith("jax"):
        return nullcontext()
    import jax

    return jax.enable_x64(not library.endswith("-32"))


@dataclass(frozen=True)
class Leaf:
    """An array or a number of a result."""

    value: Any
    is_array: bool
    library: str = ""


def _leaves(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)) and not isinstance(result, str):
        return [leaf for member in result for leaf in (*_leaves(member), _END)][:-1] if result else [_EMPTY]
    return [result]


_END, _EMPTY = "end of a member", "empty sequence"


def _host(x: Any) -> Any:
    return numpy.asarray(xo.convert(xo.compute(x), "numpy"))


def _on_host(x: Any, operands: dict[str, Any]) -> Leaf:
    if hasattr(x, "dtype") and hasattr(x, "shape") and not isinstance(x, (numpy.dtype, type)):
        return Leaf(_host(x), True, xo.backend(x).name)
    return Leaf(x, False)


def compared(call: Call, library: str, reference: tuple[Any, dict[str, Any]]) -> Outcome:
    """How our call on a library compares with NumPy's result."""
    wanted, operands = reference
    found, after = on(call, library)
    if isinstance(found, Exception):
        return _of_error(found, wanted, library)
    if isinstance(wanted, Exception):
        return Outcome("NumPy raises", f"NumPy: {type(wanted).__name__}: {_short(wanted)}")
    leaves = [_on_host(x, {}) for x in _leaves(wanted)]
    if len(leaves) != len(found):
        return Outcome("structure", f"{len(found)} leaves, NumPy {len(leaves)}")
    tolerance = Tolerance(call, operands)
    for x, y in zip(found, leaves, strict=True):
        outcome = _of_leaf(call, library, x, y, tolerance)
        if outcome is not None:
            return outcome
    for name, y in () if "overwrite_input" in call.code else operands.items():
        difference = _of_values(after[name], numpy.asarray(y), tolerance, exact_zero=False)
        if difference:
            return Outcome("operands", f"{name} after the call: {difference}")
    return Outcome("equal")


def _of_error(error: Exception, wanted: Any, library: str) -> Outcome:
    is_ours = isinstance(error, XArrayOpsError)
    text = f"{type(error).__name__}: {_short(error)}"
    if isinstance(wanted, Exception):
        if is_ours or isinstance(error, CLEAR) or "LinAlgError" in type(error).__name__ or type(error) is type(wanted):
            return Outcome("both raise")
        return Outcome("raw error", f"{text} (NumPy: {type(wanted).__name__})")
    if is_ours or (isinstance(error, CLEAR) and re.search("Instead|must", str(error))):
        return Outcome("refused", text)
    if isinstance(error, CLEAR):
        return Outcome("error without advice", text)
    return Outcome("raw error", text)


def _short(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:110] if lines else ""


def _of_leaf(call: Call, library: str, x: Leaf, y: Leaf, tolerance: Tolerance) -> Outcome | None:
    if not y.is_array and not call.name.startswith("random."):
        return _of_object(x, y)
    if not x.is_array and not isinstance(x.value, (bool, int, float, complex)):
        return Outcome("structure", f"{type(x.value).__name__}, NumPy an array")
    found, wanted = numpy.asarray(x.value), numpy.asarray(y.value)
    if found.shape != wanted.shape:
        return Outcome("shape", f"{found.shape}, NumPy {wanted.shape}")
    is_of_numbers = not call.operands and not found.shape  # numbers alone are computed by NumPy
    if x.is_array and x.library != library.removesuffix("-32") and not (is_of_numbers and x.library == "numpy"):
        return Outcome("library", f"the result is of {x.library}")
    narrow = NARROW.get(wanted.dtype.name) if library == "jax-32" else None
    if found.dtype.name not in (wanted.dtype.name, narrow) and x.is_array and y.is_array:
        return Outcome("dtype", f"{found.dtype.name}, NumPy {wanted.dtype.name}")
    if call.name in UNSPECIFIED_VALUES or "sorted=False" in call.code or call.name.startswith("random."):
        return None
    difference = _of_values(found, wanted, tolerance, exact_zero=True)
    if difference == "signs of zeros":
        return Outcome("signs of zeros")
    return Outcome("values", difference) if difference else None


def _of_object(x: Leaf, y: Leaf) -> Outcome | None:
    """The outcome for numbers, dtypes, slices and None."""
    found, wanted = x.value, y.value
    if x.is_array and isinstance(wanted, (bool, int, float, complex)):
        return None if x.value.shape == () and x.value == wanted else Outcome("values", f"{x.value}, NumPy {wanted}")
    if isinstance(wanted, (numpy.dtype, type)) or name_of(wanted) is not None:
        same = name_of(found) == name_of(wanted)
    else:
        same = bool(found == wanted) or (wanted != wanted and found != found) or type(wanted).__module__ == "numpy"
    return None if same else Outcome("values", f"{found!r}, NumPy {wanted!r}"[:120])


class Tolerance:
    """How far a result may be from NumPy's: some units of the dtype, of the result and of the operands."""

    def __init__(self, call: Call, operands: dict[str, Any]) -> None:
        self.scale = 0.0
        self.is_half = call.name.startswith("fft.") and "float16" in {x.dtype for x in call.operands.values()}
        for x in operands.values():
            values = numpy.abs(numpy.asarray(x, "complex128"))
            finite = values[numpy.isfinite(values)]
            self.scale = max(self.scale, float(finite.max()) if finite.size else 0.0)

    def of(self, dtype: numpy.dtype, wanted: numpy.ndarray) -> float:
        if dtype.kind not in "fc":
            return 0.0
        finite = numpy.abs(wanted[numpy.isfinite(wanted)].astype("complex128"))
        largest = float(finite.max()) if finite.size else 0.0
        return (
            16 * float(numpy.finfo("float16" if self.is_half else dtype).eps) * max(largest, min(self.scale, 1e3), 1.0)
        )


def _of_values(found: Any, wanted: numpy.ndarray, tolerance: Tolerance, *, exact_zero: bool) -> str:
    """What differs between two arrays of one shape; nothing if they agree."""
    found = numpy.asarray(found)
    if wanted.dtype.kind not in "fc" or found.dtype.kind not in "fc":
        differs = found != wanted
    else:
        with numpy.errstate(all="ignore"):
            narrow = min((found.dtype, wanted.dtype), key=lambda d: d.itemsize)
            near = numpy.abs(found.astype("complex128") - wanted) <= (
                tolerance.of(narrow, wanted)
                + 64 * float(numpy.finfo(narrow).eps) * numpy.abs(wanted.astype("complex128"))
            )
            both_nan = numpy.isnan(found) & numpy.isnan(wanted)
            differs = ~(near | both_nan | (found == wanted))
    if numpy.any(differs):
        place = tuple(int(i[0]) for i in numpy.nonzero(numpy.atleast_1d(differs)))
        x, y = numpy.atleast_1d(found)[place], numpy.atleast_1d(wanted)[place]
        return f"{x} at {place}, NumPy {y}"
    if exact_zero and wanted.dtype.kind == "f":
        zero = wanted == 0
        if numpy.any(numpy.signbit(wanted) & zero != (numpy.signbit(found) & zero)):
            return "signs of zeros"
    return ""
