"""The flags for sorted and unique indices of CuPy's sparse matrices: they are kept, and never read from the device.

Run by tests/contract/test_cupy_sparse.py, with the stand-in CuPy first on the path.
"""

from __future__ import annotations

import collections
import sys
from functools import partial

import cupy
import cupyx.scipy.sparse as native
import numpy as np
import pytest
from xarrayops_backends.cupy import _sparse

import xarrayops as xo

pytestmark = pytest.mark.device


@pytest.fixture
def waits(monkeypatch):
    """A count of the transfers of values to the host: by truth values, and by our own code."""
    calls = collections.Counter()
    names = ("__bool__", "__int__", "__float__", "__index__", "get", "item", "tolist")
    for name in filter(partial(hasattr, cupy.ndarray), names):
        own = getattr(cupy.ndarray, name)

        def counted(self, *args, own=own, name=name):
            caller = sys._getframe(1).f_globals["__name__"]  # the stand-in itself computes on the host
            if name == "__bool__" or caller.startswith("xarrayops"):
                calls[name] += 1
            return own(self, *args)

        monkeypatch.setattr(cupy.ndarray, name, counted)
    return calls


def canonical(format):
    """A container that is known to be canonical."""
    random = np.random.default_rng(0)
    return xo.sparse.from_dense(cupy.array(random.integers(1, 9, (6, 8)) * (random.random((6, 8)) < 0.5) / 4), format)


def loose(format):
    """A container without known flags, with unsorted entries and duplicates."""
    rows, columns = [5, 0, 0, 5, 2], [7, 1, 0, 7, 3]
    if format == "coo":
        return native.coo_matrix((cupy.ones(5), (cupy.array(rows, "int32"), cupy.array(columns, "int32"))), (6, 8))
    outer, inner, extent = (rows, columns, 6) if format == "csr" else (columns, rows, 8)
    order = np.argsort(outer, kind="stable")
    indptr = cupy.array(np.searchsorted(np.array(outer)[order], np.arange(extent + 1)).astype("int32"))
    made = getattr(native, f"{format}_matrix")
    return made((cupy.ones(5), cupy.array(np.array(inner, "int32")[order]), indptr), (6, 8))


VERBS_OF_ONE = {
    "to_dense": xo.sparse.to_dense,
    "transpose": xo.sparse.transpose,
    "multiply by a number": lambda s: xo.sparse.multiply(s, 2.0),
    "multiply by an array": lambda s: xo.sparse.multiply(s, cupy.ones(8)),
    "sum": xo.sparse.sum,
    "sum of columns": lambda s: xo.sparse.sum(s, axis=0),
    "sum of rows": lambda s: xo.sparse.sum(s, axis=1),
    "sddmm": lambda s: xo.sparse.sddmm(cupy.ones((6, 2)), cupy.ones((2, 8)), s),
    "to coo": lambda s: xo.sparse.convert(s, "coo"),
    "to csr": lambda s: xo.sparse.convert(s, "csr"),
    "to csc": lambda s: xo.sparse.convert(s, "csc"),
    "matmul": lambda s: xo.matmul(s, cupy.ones((8, 2))),
    "matmul with a vector": lambda s: xo.matmul(s, cupy.ones(8)),
    "matmul from the left": lambda s: xo.matmul(cupy.ones((2, 6)), s),
    "matmul of the transpose": lambda s: xo.matmul(xo.sparse.transpose(s), cupy.ones((6, 2))),
}


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("verb", VERBS_OF_ONE)
def test_canonical_operands_cause_no_wait(verb, format, waits):
    s = canonical(format)
    want = canonical(format)
    waits.clear()
    first = VERBS_OF_ONE[verb](s)
    assert not waits
    del want._has_canonical_format, want._has_sorted_indices  # without known flags the result is the same
    again = VERBS_OF_ONE[verb](want)
    assert waits["__bool__"] == (verb != "transpose" and verb != f"to {format}")
    for a, b in (
        ((first, again),) if isinstance(first, cupy.ndarray) else zip(*map(arrays_of, (first, again)), strict=True)
    ):
        np.testing.assert_array_equal(a.get(), b.get())


def arrays_of(s):
    return xo.sparse.parts(s).arrays.values()


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_known_flags_are_kept(format, waits):
    s = canonical(format)
    p = xo.sparse.parts(s)
    assert (p.sorted, p.unique) == (True, True)
    transposed = xo.sparse.parts(xo.sparse.transpose(s))
    assert (transposed.sorted, transposed.unique) == (True, True)
    assert vars(_sparse.wrap(p))["_has_canonical_format"] is True
    unknown = loose(format)
    p = xo.sparse.parts(unknown)
    assert (p.sorted, p.unique) == (None, None)
    assert "_has_canonical_format" not in vars(xo.sparse.transpose(unknown))
    assert not unknown.has_canonical_format
    assert not xo.sparse.parts(unknown).unique
    unknown.has_sorted_indices = True
    del unknown._has_canonical_format
    p = xo.sparse.parts(xo.sparse.transpose(unknown))
    assert (p.sorted, p.unique) == (True, None)


def test_a_product_of_sorted_coo_shares_its_values():
    """Only the index pointers of csr are new."""
    s = canonical("coo")
    made = _sparse._operand(s, "csr")
    assert made.data is s.data
    assert made.indices is s.col


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_indices_are_checked_on_the_device(format, waits):
    s = canonical(format)
    waits.clear()
    xo.sparse.validate(s, canonical=True)
    assert waits == {"__bool__": 1}
    p = xo.sparse.parts(s)
    xo.sparse.from_parts(format, *p.arrays.values(), shape=p.shape)
    assert waits == {"__bool__": 2}
    wrong = p.arrays | ({"coords": p.coords + 1} if format == "coo" else {"indices": p.indices + 1})
    with pytest.raises(xo.InvalidSparse, match=r"coords\[[01], \d+\] is [68]|indices\[\d+\], in .* is [68]"):
        xo.sparse.from_parts(format, *wrong.values(), shape=p.shape)
    unknown = loose(format)
    xo.sparse.validate(unknown)
    with pytest.raises(xo.InvalidSparse, match=r"twice|not sorted"):
        xo.sparse.validate(unknown, canonical=True)
