"""pydata/sparse has no backend of its own: its own namespace and the generic functions serve it."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo

sparse = pytest.importorskip("sparse", exc_type=ImportError)


def test_functions_of_the_library_serve_its_arrays() -> None:
    host = np.asarray([[0.0, 2.0], [3.0, 0.0]])
    x = sparse.COO.from_numpy(host)
    assert xo.backend(x).name == "sparse"
    assert xo.array_namespace(x) is xo.backend(sparse).namespace
    for got, want in (
        (xo.add(x, x), host + host),
        (xo.sum(x, axis=0), host.sum(axis=0)),
        (xo.matmul(x, x), host @ host),
    ):
        assert isinstance(got, sparse.SparseArray)
        np.testing.assert_allclose(got.todense(), want)


def test_missing_functions_raise() -> None:
    with pytest.raises(xo.Unsupported, match=r"sparse has no linalg\.det"):
        xo.linalg.det(sparse.COO.from_numpy(np.eye(2)))


def test_arrays_of_sparse_and_numpy_in_one_call_raise() -> None:
    with pytest.raises(xo.MixedBackends, match="sparse"):
        xo.add(sparse.COO.from_numpy(np.eye(2)), np.eye(2))
