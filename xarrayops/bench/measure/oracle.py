"""Whether an answer is right, against one computed in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Case


class WrongAnswer(Exception):
    """The results differ from the oracle's by more than the dtype explains."""


def check(case: Case, results: tuple[Any, ...], dtype: str) -> float:
    """The largest error among the results, each as a part of the largest magnitude in its oracle.

    Results whose oracle is floating-point have the dtype that is measured; those of integers and booleans have whatever
    integer or boolean dtype the library counts in, and must be equal.

    Raises
    ------
    WrongAnswer
        A result has another shape or dtype, or an error beyond the tolerance; NaN where the oracle has none is one.
    """
    if len(results) != len(case.expected):
        raise WrongAnswer(f"{len(results)} results instead of {len(case.expected)}")
    worst = 0.0
    for result, expected in zip(results, case.expected, strict=True):
        got = xo.convert(result, "numpy")
        exact = expected.dtype.kind in "iub"
        fits = got.dtype.kind in "iub" if exact else got.dtype.name == dtype
        if got.shape != expected.shape or not fits:
            wanted = expected.dtype.name if exact else dtype
            raise WrongAnswer(
                f"shape {got.shape} and dtype {got.dtype.name} instead of shape {expected.shape} and dtype {wanted}"
            )
        error = relative_error(got, expected)
        tolerance = 0.0 if exact else case.tolerance
        if not error <= tolerance:
            raise WrongAnswer(f"error {error:.1e} of the largest value; {dtype} allows {tolerance:.1e} here")
        worst = max(worst, error)
    return worst


def relative_error(got: Any, expected: Any) -> float:
    """``max |got - expected| / max |expected|``, in float64."""
    difference = np.subtract(got, expected, dtype=np.float64)
    largest = float(np.max(np.abs(expected, dtype=np.float64), initial=0.0))
    error = float(np.max(np.abs(difference), initial=0.0))
    return error / largest if largest else error
