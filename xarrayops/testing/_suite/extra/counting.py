"""Counts and segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import DISCRETE, INTEGERS, sample
from xarrayops.testing._suite.table import Row, call, cases, check_row, fails, native_case, row, rows_test
from xarrayops.testing._suite.variant import Variant

IDS = np.asarray([3, 0, 3, 1, 0, 3])
OUTSIDE = np.asarray([3, -1, 7, 1, 0, 3])
NONE = sample("int64", (0,))


def _bincount(x: Any, weights: Any = None, *, minlength: int = 0, length: int | None = None) -> Any:
    x = x.astype("int64")  # NumPy before 2.3 refuses uint64
    if length is None:
        return np.bincount(x, weights, minlength)
    return np.bincount(x, weights, length)[:length]


def _segments(reduce: Callable[..., Any]) -> Callable[..., Any]:
    def oracle(x: Any, segment_ids: Any, num_segments: int | None = None) -> Any:
        count = int(segment_ids.max(initial=-1)) + 1 if num_segments is None else num_segments
        found = [reduce(x[segment_ids == i]) for i in range(count)]
        return np.asarray(found).reshape((count, *x.shape[1:]))

    return oracle


def _extreme(name: str) -> Callable[..., Any]:
    def reduce(x: Any) -> Any:
        limits = np.iinfo(x.dtype) if x.dtype.kind in "iu" else None
        bounds = (-np.inf, np.inf) if limits is None else (limits.min, limits.max)
        return getattr(np, name)(x, axis=0, initial=bounds[name == "min"])

    return _segments(reduce)


COUNTED = [sample(dtype, (6,), low=0, high=5) for dtype in DISCRETE]
SEGMENTED = (
    call(sample("float64", (6,)), IDS, 5),
    call(sample("float32", (6, 2)), IDS.astype("int32"), 4),
    call(sample("float64", (6,)), OUTSIDE, 4),
    call(sample("float64", (6, 0)), IDS, 5),
    call(sample("float64", (0, 2)), NONE, 3),
    *(call(sample(dtype, (6,)), IDS, 4) for dtype in INTEGERS),
)
UNKNOWN_LENGTH = (call(sample("float64", (6,)), IDS), call(sample("float64", (0,)), NONE))
ROWS = [
    row(
        "bincount",
        _bincount,
        call(IDS, length=5),
        call(IDS, length=2),
        call(NONE, length=3),
        *(call(x, length=6) for x in COUNTED),
        dtype="integral",
    ),
    row(
        "bincount",
        _bincount,
        call(IDS, sample("float64", (6,)), length=5),
        call(IDS, sample("float32", (6,)), length=2),
        dtype=lambda x, weights: weights.name,
        label="of weights",
        ulps=64,
    ),
    row("segment_max", _extreme("max"), *SEGMENTED, dtype="first"),
    row("segment_mean", _segments(lambda x: np.mean(x, axis=0)), *SEGMENTED[:3], dtype="first", ulps=64),
    row("segment_min", _extreme("min"), *SEGMENTED, dtype="first"),
    row("segment_sum", _segments(lambda x: np.sum(x, axis=0)), *SEGMENTED, dtype="first", ulps=64),
    row("segment_sum", _segments(lambda x: np.sum(x, axis=0)), call(sample("bool", (6, 2)), IDS, 5), dtype="integral"),
]
OF_VALUES = [
    row(
        "bincount", _bincount, call(IDS), call(IDS, minlength=7), call(NONE), call(NONE, minlength=2), dtype="integral"
    ),
    row("segment_sum", _segments(lambda x: np.sum(x, axis=0)), *UNKNOWN_LENGTH, dtype="first"),
]
"""Calls whose result has a length that depends on values."""


class CountingSuite:
    """Counts and segments."""

    # Class, dtype, device, shape and values match the oracle.
    test_counting = rows_test(ROWS)

    @cases(OF_VALUES)
    def test_counting_up_to_the_greatest(self, variant: Variant, row: Row) -> None:
        """Without a length the values decide: a compiler cannot trace the call, and a task graph must compute."""
        if not variant.traced:
            check_row(variant, row)
            return
        for case in row.calls:
            native, _ = native_case(variant, row, case)
            assert not native.args[-1].shape[0] or fails(variant, row.public, *native.args, **native.kwargs)
