"""The error budget of `verify`: how far a result may be from the reference, by the rule of `xarrayops._host.budget`.

``spread`` is how far the results of the reference are apart when it runs with random rounding (`_rounding`), in the
dtypes in which it computes: it grows with the size of operands that cancel, with the condition of a system, and with
the number of summed elements. Integers and booleans must be equal, unless random rounding changes them too, as where a
sum lies on the threshold of a comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xarrayops._host.budget import beyond, farthest, wide
from xarrayops.plugin.arrays import Record
from xarrayops.testing._verify._values import Value


class Difference(Record):
    """How a result differs: the property, and text about the values.

    ``what`` is "type", "shape", "dtype" or "values".
    """

    what: str
    text: str


def spread_of(reference: Value, samples: Sequence[Value]) -> Any:
    """The largest distance of a sample from the reference, element by element; inf where a sample has another kind."""
    want = reference.data
    if want is None or not reference.is_numeric:
        return 0.0
    spread: Any = np.zeros(want.shape)
    for sample in samples:
        if not sample.is_numeric or np.shape(sample.data) != want.shape:
            continue
        with np.errstate(all="ignore"):
            if want.dtype.kind in "fc":
                distance = np.abs(wide(sample.data) - wide(want))
                finite = np.isfinite(wide(want))
                distance = np.where(finite == np.isfinite(wide(sample.data)), np.where(finite, distance, 0.0), np.inf)
            else:
                distance = np.where(sample.data == want, 0.0, np.inf)
        spread = np.maximum(spread, distance)
    return spread


def difference(want: Value, got: Value, spread: Any = 0.0, *, strict_dtype: bool = True) -> Difference | None:
    """How a result differs from the reference beyond its budget; None if it does not."""
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
    far = _beyond(want.data, got.data, spread)
    return Difference("values", _worst(want.data, got.data, far)) if np.any(far) else None


def _beyond(want: Any, got: Any, spread: Any) -> Any:
    """Where the values are farther apart than the budget."""
    if want.dtype.kind not in "fc" and got.dtype.kind not in "fc":
        return beyond(want, got, spread, eps=0.0)
    limits = np.finfo(want.dtype if want.dtype.kind in "fc" else np.float64)
    return beyond(want, got, spread, eps=float(limits.eps), tiny=float(limits.tiny))


def eps_of(dtype: np.dtype[Any]) -> float:
    """The distance of 1 and the next number of a floating-point or complex dtype; 0 for others."""
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


def _worst(want: Any, got: Any, where: Any) -> str:
    """Text about the element that is farthest from the reference."""
    index = farthest(want, got, where)
    count = int(np.count_nonzero(where))
    place = f" at {list(index)}" if index else ""
    text = f"{got[index]!s} where the reference has {want[index]!s}{place}"
    return f"{text}; {count} of {np.size(where)} elements differ" if np.size(where) > 1 else text
