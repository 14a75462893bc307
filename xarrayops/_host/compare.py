"""Compare two results up to rounding: the rule that `verify`, `check_operation`, `jit` and `export` share.

For floating-point and complex numbers, element by element::

    |got - want| <= FACTOR * (spread + eps * |want| + tiny)

``spread`` is the difference of the results if the arguments, or intermediate values, are rounded at random: it
grows with the size of operands that cancel, with the condition of a system, and with the number of summed elements.
Integers and booleans must be equal, or as near as random rounding moves them, as where a sum lies on the threshold of
a comparison. Infinities must be equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xarrayops.plugin.arrays import Record

FACTOR = 16.0
"""Libraries round functions such as exp to a few units in the last place, and the spread is measured in few runs."""
NARROW = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float8_e4m3fn": 2.0**-3, "float8_e5m2": 2.0**-2}
"""The distance from 1 to the next number, for the dtypes whose values are compared as float32."""
_EPS = NARROW | {"float32": 2.0**-23, "complex64": 2.0**-23, "float64": 2.0**-52, "complex128": 2.0**-52}


class Value(Record):
    """A snapshot of an array, a number or another object.

    Attributes
    ----------
    dtype : str
        The name of the dtype; empty for Python's numbers and for objects.
    shape : tuple of int
        The shape; empty for numbers and objects.
    data : numpy.ndarray or object
        A copy of the values; None for arrays without values.
    library : str
        The name of the library of an array; empty for numbers and objects.
    is_numeric : bool
        Whether it is an array or a number.
    device : str
        The device of an array without values; otherwise empty.
    """

    dtype: str
    shape: tuple[int, ...]
    data: Any
    library: str = ""
    is_numeric: bool = True
    device: str = ""

    def __str__(self) -> str:
        if not self.is_numeric:
            return repr(self.data)
        if self.data is None or self.data.size > 1:
            return f"{self.dtype}{self.shape}"
        return f"{self.data.reshape(())[()]!s}"

    @property
    def eps(self) -> float:
        """The distance from 1 to the next number of a floating-point or complex dtype; 0 for other dtypes."""
        if self.dtype in _EPS or self.data is None or self.data.dtype.kind not in "fc":
            return _EPS.get(self.dtype, 0.0)
        return float(np.finfo(self.data.dtype).eps)


class Difference(Record):
    """How a result differs: the property, and a description of the values.

    ``what`` is "type", "shape", "dtype" or "values".
    """

    what: str
    text: str


def wide(x: Any) -> Any:
    """The values in float64, or in complex128."""
    return np.asarray(x).astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def spread_of(reference: Value, samples: Sequence[Value]) -> Any:
    """The largest distance of a sample from the reference, by element; inf where only one of both is finite."""
    want = reference.data
    if want is None or not reference.is_numeric:
        return 0.0
    spread: Any = np.zeros(want.shape)
    for sample in samples:
        if not sample.is_numeric or np.shape(sample.data) != want.shape:
            continue
        with np.errstate(all="ignore"):
            distance = np.abs(wide(sample.data) - wide(want))
            if reference.eps:
                finite = np.isfinite(wide(want))
                distance = np.where(finite == np.isfinite(wide(sample.data)), np.where(finite, distance, 0.0), np.inf)
        spread = np.maximum(spread, distance)
    return spread


def difference(
    want: Value,
    got: Value,
    spread: Any = 0.0,
    *,
    strict_dtype: bool = True,
    of_largest: bool = False,
    factor: float = FACTOR,
) -> Difference | None:
    """How a result differs from the reference beyond its budget; None if it does not.

    With ``of_largest`` every element has the budget of the largest finite one; ``factor`` is for that of the caller.
    """
    if want.is_numeric != got.is_numeric:
        return Difference("type", f"{got} where the reference has {want}")
    if not want.is_numeric:
        same = want.data == got.data if isinstance(want.data, (str, bytes)) else type(want.data) is type(got.data)
        return None if same else Difference("type", f"{got} where the reference has {want}")
    if want.shape != got.shape:
        return Difference("shape", f"shape {got.shape} where the reference has {want.shape}")
    if strict_dtype and want.dtype and got.dtype and want.dtype != got.dtype:
        return Difference("dtype", f"dtype {got.dtype} where the reference has {want.dtype}")
    if got.data is None or want.data is None:
        return None
    far = _beyond(want, got, spread, factor, of_largest=of_largest)
    return Difference("values", _worst(want.data, got.data, far)) if np.any(far) else None


def _beyond(want: Value, got: Value, spread: Any, factor: float, *, of_largest: bool) -> Any:
    """Where the values are farther apart than the budget."""
    with np.errstate(all="ignore"):
        if not (want.eps or got.eps):
            # In float64 large integers that differ may be equal, which counts only where random rounding moves them.
            is_near = (np.asarray(spread) > 0) & (np.abs(wide(got.data) - wide(want.data)) <= spread)
            return (want.data != got.data) & ~is_near
        wide_want, wide_got = wide(want.data), wide(got.data)
        sizes = np.abs(wide_want)
        finite = np.isfinite(sizes)
        if of_largest and finite.any():
            sizes = np.where(finite, sizes[finite].max(), sizes)
        # If one result is an integer and the other floating-point, both are compared as float64.
        is_floating = want.data.dtype.kind in "fc"
        tiny = float(np.finfo(want.data.dtype if is_floating else np.float64).tiny)
        allowed = factor * (spread + (want.eps or _EPS["float64"]) * sizes + tiny)
        # Equal infinities agree; their difference is NaN and would exceed any budget.
        equal = (wide_want == wide_got) | (np.isnan(wide_want) & np.isnan(wide_got))
        near = finite & (np.abs(wide_got - wide_want) <= allowed)
        # An infinite spread means that rounding alone can change the value without limit: nothing can be said against
        # the result.
        return ~(equal | near | np.isinf(spread))


def _worst(want: Any, got: Any, where: Any) -> str:
    """A description of the element in the mask that is farthest from the reference."""
    with np.errstate(all="ignore"):
        distance = np.abs(wide(got) - wide(want))
    # NaN versus a number counts as the largest difference.
    distance = np.where(where, np.where(np.isnan(distance), np.inf, distance), -1.0)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(distance)), distance.shape))
    count = int(np.count_nonzero(where))
    place = f" at {list(index)}" if index else ""
    text = f"{got[index]!s} where the reference has {want[index]!s}{place}"
    return f"{text}; {count} of {np.size(where)} elements differ" if np.size(where) > 1 else text
