"""Calls whose arguments are rare together: values, dtypes and errors are those of NumPy on each library."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import xarrayops.numpy as np
from tests.unit.numpy.conftest import as_numpy, with_64_bits
from xarrayops import convert
from xarrayops.errors import Unsupported

EQUAL = (
    # edges of bins: integers between them, and elements that are equal to one
    "histogram(a([-0.5, 0.0, 0.0, -0.5, 1.0, 0.5]), [-2, 0, 0, 3])[0]",
    "histogram(a([-0.5, 0.5, 2.5, 3.5]), a([0, 1, 3], 'int8'))[0]",
    "histogram(a([0, 200, 3], 'uint8'), a([-2, 0, 100], 'int16'))[0]",
    "histogram(a([300, 44, 5], 'int64'), a([0, 50, 100], 'int8'))[0]",
    "histogram(a([5, 4, 1, 4, 0, 7, 7, 5, 1, 9, 6, 9], 'float64'), 3)[0]",
    "histogram(a([0.1, 0.2, 0.3, 0.6, 0.7]), 10, range=(0, 1))[0]",
    "digitize(a(numpy.zeros((0, 4))), a([0.0, 1.0]))",
    # Python numbers take the dtype of the loop
    "floor_divide(a([4.5, -2.0]), -1.5, casting='unsafe', dtype='int64')",
    "divmod(a([4.5, -2.0]), -1.5, casting='unsafe', dtype='int64')[1]",
    "choose(a([0, 1, 2]), [3, a([7], 'int32'), a([-4], 'int16')])",
    "trapezoid(a([1.0, 2.0], 'float32'), [1, 2])",
    "trapezoid(a([1.0, 2.0], 'float16'), a([1, 2], 'int16'))",
    "average(a([-4, 8], 'int8'), weights=a([4, 3], 'float32'))",
    "vander(a([6, 2], 'uint64'))",
    "unwrap(a([-6, -1, 0, 2, -9, 3], 'int16'), period=4)",
    # one row, one index, no elements
    "cov(a([[1.0, 2.0, 4.0]]), rowvar=False, ddof=0)",
    "cov(a([[1.0, 2.0], [4.0, 1.0], [0.0, 2.0]]), a([[1.0, 2.0, 4.0]]), rowvar=False)",
    "insert(a([1.0, 2.5]), [1], a([1.0, 2.0, 3.0]), 0)",
    "insert(a([1.0, 2.5]), slice(1, 3), a([1.0, 2.0, 3.0]), 0)",
    "insert(a([[1, 2], [3, 4]]), [1], a([[7, 8], [9, 9]]), 0)",
    "unique_inverse(a(1j))[1]",
    "linspace(a([0, 1]), a([2, 3]), 1, retstep=True)[1]",
)
OUTPUTS = (
    "sum(a([70000, -69999], 'int64'), out=a(0.0, 'float16'))",
    "sum(a([2**24 + 1, -(2**24)], 'int64'), out=a(0.0, 'float32'))",
    "mean(a([70000, -69990], 'int64'), out=a(0.0, 'float16'))",
    "max(a([1, 2], 'int64'), out=a(0, 'uint64'))",
    "prod(a([3, 2], 'uint8'), out=a(0, 'int16'))",
    "subtract.reduce(a([100, -100], 'int8'), out=a(0, 'int64'))",
    "less.reduce(a([True, False]), out=a(0.0))",
    "equal.accumulate(a([True, False]), out=a([0, 0]))",
    "ptp(a([-6.2940001, 3.753, 0.1], 'float32'), out=a(0.0))",
    "cumsum(a([0.1, 0.2, 2049.0], 'float16'), out=a([0.0, 0.0, 0.0]))",
    "cumprod(a([300.0, 300.0], 'float16'), out=a([0.0, 0.0], 'float32'))",
    "mean(a([0.1, 0.2, 2049.0], 'float16'), out=a(0.0, 'float32'))",
    "subtract.reduce(a([0.1, 0.2], 'float32'), out=a(0.0))",
    "divide.accumulate(a([True, True]), out=a([0, 0], 'int8'))",
    "logical_or.accumulate(a([True, False]), out=a([0, 0], 'int8'))",
    "add.reduceat(a([0.1, 0.2, 0.3], 'float32'), [0, 2], out=a([0.0, 0.0]))",
)
"""An output chooses the loop. Arrays of the other libraries cannot be written."""
RAISING = (
    "full_like(a([7], 'int8'), 300)",
    "insert(a([0, 1], 'uint8'), 0, 300)",
    "insert(a([0, 1], 'uint8'), 0, [-1])",
    "put(a([0, 1], 'uint8'), [0], [300])",
    "place(a([0, 1], 'uint8'), [True, False], [300])",
    "putmask(a([0, 1], 'uint8'), [True, False], [-2])",
    "put_along_axis(a([[0, 1]], 'uint8'), a([[0, 1]]), [-2, 2], 1)",
    "repeat(a([], 'int8'), [1, 2])",
    "trapezoid(a(numpy.ones((3, 4))), [[7.0]])",
)


def _called(module: Any, call: str, array: Any) -> Any:
    return eval(f"np.{call}", {"np": module, "a": lambda *values: array(numpy.array(*values)), "numpy": numpy})


def _of(library: str, call: str) -> Any:
    with with_64_bits(library):
        return as_numpy(_called(np, call, lambda x: convert(x, library)))


@pytest.mark.parametrize("call", EQUAL)
def test_results(library: str, call: str) -> None:
    wanted, found = numpy.asarray(_called(numpy, call, lambda x: x)), numpy.asarray(_of(library, call))
    numpy.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert found.dtype == wanted.dtype


@pytest.mark.parametrize("writable", ["numpy", "torch"])
@pytest.mark.parametrize("call", OUTPUTS)
def test_outputs(writable: str, call: str) -> None:
    wanted = _called(numpy, call, lambda x: x)
    numpy.testing.assert_allclose(_of(writable, call), wanted, rtol=1e-12)


@pytest.mark.parametrize("call", RAISING)
def test_errors(library: str, call: str) -> None:
    with pytest.raises((OverflowError, ValueError)) as wanted:
        _called(numpy, call, lambda x: x)
    with pytest.raises((type(wanted.value), Unsupported)):  # arrays that cannot be written are refused
        _of(library, call)
