"""The patches for older NumPy versions, compared with the newer version that runs the tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from xarrayops_backends.numpy import ARRAY_TYPES, _compat as old

from xarrayops._host.sparse.compact import _bounds

NEW_ENOUGH = np.lib.NumpyVersion(np.__version__) >= "2.3.0"
STRIDED = np.arange(14 * 72, dtype=np.uint8).reshape(14, 72)[::2, ::3]


@pytest.mark.skipif(not NEW_ENOUGH, reason="this NumPy version needs the patches")
def test_newer_numpy_has_no_patches():
    assert old.PATCHES == {}


@pytest.mark.parametrize("name", old._COMPARISONS)
@pytest.mark.parametrize("number", [-1, 0, 200, 256, 10**20])
@pytest.mark.parametrize("x", [STRIDED, STRIDED.T, STRIDED[::-1], np.ascontiguousarray(STRIDED), np.uint8(3)])
def test_comparisons_with_a_python_integer_get_a_contiguous_array(name, number, x):
    seen = []

    def compare(x1, x2):
        seen.append(x1)
        return getattr(np, name)(x1.astype(object), x2).astype(bool)

    found = old._compared(compare, x, number)
    np.testing.assert_array_equal(found, getattr(np, name)(x.astype(object), number).astype(bool))
    assert all(each.flags.forc for each in seen)
    assert old._compared(getattr(np, name), x, x).all() == getattr(np, name)(x, x).all()


@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_counts_are_arrays(axis, keepdims):
    found = old._count_nonzero(STRIDED, axis=axis, keepdims=keepdims)
    assert isinstance(found, ARRAY_TYPES)
    np.testing.assert_array_equal(found, np.sum(STRIDED != 0, axis=axis, keepdims=keepdims), strict=True)


def test_the_last_axis_is_the_default():
    indices = np.argsort(STRIDED)
    np.testing.assert_array_equal(old._take_along_axis(STRIDED, indices), np.sort(STRIDED))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32", "uint64", "int64"])
def test_thresholds_of_integers_are_of_their_dtype(dtype):
    limits = np.iinfo(dtype)
    ends = {limits.min, limits.min + 1, 0, 1, 5, limits.max // 2, limits.max - 1, limits.max}
    wheres = (-math.inf, -1, -0.5, 0, 0.5, 1, 127, 127.5, 128, 128.5, 255, 2.0**63, 2**64, math.inf, math.nan)
    for where in (*wheres, limits.max - 1, limits.max, limits.max + 1):
        low, high = _bounds(where, limits)
        assert low.dtype == high.dtype == dtype
        for number in ends:
            assert (number < int(low) or number > int(high)) == (abs(number) > where), (number, where)
