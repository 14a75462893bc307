"""Checks an answer against the oracle, which is computed in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Case


class WrongAnswer(Exception):
    """The results differ from the oracle by more than the tolerance."""


def check(case: Case, results: tuple[Any, ...], dtype: str) -> float:
    """The largest error among the results, each relative to the largest magnitude in its oracle.

    Floating-point results must have the measured dtype. Integer and boolean results may have any integer or boolean
    dtype and must be equal.

    Raises
    ------
    WrongAnswer
        A result has another shape or dtype, an error beyond the tolerance, or NaN where the oracle has none.
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
            raise WrongAnswer(f"relative error {error:.1e}, tolerance {tolerance:.1e} for {dtype}")
        worst = max(worst, error)
    return worst


def relative_error(got: Any, expected: Any) -> float:
    """``max |got - expected| / max |expected|``, in float64."""
    difference = np.subtract(got, expected, dtype=np.float64)
    largest = float(np.max(np.abs(expected, dtype=np.float64), initial=0.0))
    error = float(np.max(np.abs(difference), initial=0.0))
    return error / largest if largest else error
