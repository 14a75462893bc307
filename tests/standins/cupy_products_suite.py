"""The checks around cuSPARSE's products, with injected faults; results are compared with dense NumPy.

Run by tests/contract/test_cupy_sparse.py, with the stand-in CuPy first on the path.
"""

from __future__ import annotations

import cupy
import cupyx.scipy.sparse as native
import numpy as np
import pytest
from xarrayops_backends.cupy import SPARSE, _sparse

import xarrayops as xo
from xarrayops._core.backends.sparse_backend import SparseBackend
from xarrayops.plugin import Call

pytestmark = pytest.mark.device

right_product = native.csr_matrix.__matmul__


def matrix(shape, seed, format="csr"):
    random = np.random.default_rng(seed)
    host = random.integers(-3, 4, shape) * (random.random(shape) < 0.4)
    host[:, :2] = 1.0  # every row of a product has entries, more than one if it can
    return xo.sparse.from_dense(cupy.array(host.astype(float)), format), host


def no_entries(a, b):
    return native.csr_matrix((a.shape[0], b.shape[1]), dtype=a.dtype)


def no_pointers(a, b):
    c = right_product(a, b)
    c.indptr = cupy.zeros_like(c.indptr)
    return c


def half_the_rows(a, b):
    c = right_product(a, b)
    middle = int(c.indptr[a.shape[0] // 2])
    c.data, c.indices, c.indptr = c.data[:middle], c.indices[:middle], cupy.minimum(c.indptr, middle)
    return c


def no_last_entry(a, b):
    c = right_product(a, b)
    c.indptr[-1] -= 1
    return c


def no_resources(a, b):
    raise RuntimeError("CUSPARSE_STATUS_INSUFFICIENT_RESOURCES")  # the base class of CuSparseError


def no_memory(a, b):
    raise MemoryError("Out of memory allocating 1 bytes")  # the base class of OutOfMemoryError


FAULTS = (no_entries, no_pointers, no_last_entry, half_the_rows, no_resources, no_memory)


def no_memory_at_all(*args):
    no_memory(*args[:2])


@pytest.fixture
def install(monkeypatch):
    """Inject a fault into products with more than ``most`` rows; returns the row counts of all products tried."""

    def installed(fault, most):
        tried = []

        def matmul(a, b):
            tried.append(a.shape[0])
            return fault(a, b) if a.shape[0] > most else right_product(a, b)

        monkeypatch.setattr(native.csr_matrix, "__matmul__", matmul)
        return tried

    return installed


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
@pytest.mark.parametrize("most", [0, 1, 2, 5])
def test_large_products_that_fail_are_split(format, fault, most, install, monkeypatch):
    """https://github.com/cupy/cupy/issues/10033"""
    monkeypatch.setattr(_sparse, "_AT_ONCE", 0)
    (a, first), (b, second) = matrix((11, 8), 0, format), matrix((8, 9), 1)
    tried = install(fault, most)
    product = xo.matmul(a, b)
    assert type(product) is type(a)
    xo.sparse.validate(product, canonical=True)
    np.testing.assert_array_equal(product.get().toarray(), first @ second)
    assert tried[0] == 11
    assert sum(rows for rows in tried if rows <= max(most, 1)) == 11


@pytest.mark.parametrize("fault", [no_entries, no_resources])
@pytest.mark.parametrize("shapes", [((11, 8), (8, 9)), ((1, 1), (1, 1)), ((9, 1), (1, 300))])
def test_small_products_that_fail_are_computed_without_cusparse(fault, shapes, install):
    (a, first), (b, second) = matrix(shapes[0], 0), matrix(shapes[1], 1)
    b.data[0] = np.inf  # not multiplied by any zero
    second = b.get().toarray()
    tried = install(fault, 0)
    with np.errstate(invalid="ignore"):
        want = sum(np.where(first[:, k : k + 1] != 0, first[:, k : k + 1] * second[k], 0) for k in range(len(second)))
    np.testing.assert_array_equal(xo.matmul(a, b).get().toarray(), want)
    assert tried == [shapes[0][0]]


def test_a_persistent_lack_of_memory_is_reported(install, monkeypatch):
    install(no_memory, 0)
    monkeypatch.setattr(_sparse, "_expanded", no_memory_at_all)
    (a, _), (b, _) = matrix((11, 8), 0), matrix((8, 9), 1)
    with pytest.raises(MemoryError, match=r"xo.matmul\(cupy csr float64 \(11, 8\), .*Out of memory allocating"):
        xo.matmul(a, b)


def test_cancellation_is_not_a_fault():
    """SciPy stores no entry there and cuSPARSE a zero; both are correct."""
    left, right = cupy.array([[1.0, 1.0], [2.0, 2.0]]), cupy.array([[1.0], [-1.0]])
    product = xo.matmul(xo.sparse.from_dense(left), xo.sparse.from_dense(right))
    np.testing.assert_array_equal(product.get().toarray(), np.zeros((2, 1)))


def test_operands_without_common_indices_are_not_multiplied(install):
    tried = install(no_resources, 0)
    left, right = cupy.array([[1.0, 0.0], [2.0, 0.0]]), cupy.array([[0.0], [1.0]], "float32")
    product = xo.matmul(xo.sparse.from_dense(left), xo.sparse.from_dense(right))
    assert (product.nnz, product.shape, product.dtype) == (0, (2, 1), "float64")
    assert tried == []


def test_wide_dense_operands_are_refused_where_cusparse_gives_zeros(monkeypatch):
    (s, _), wide = matrix((2, 3), 0), cupy.broadcast_to(cupy.ones((3, 1)), (3, 65535 * 16 + 1))
    for version, bad in (("14.0.1", True), ("14.1.0", False)):
        monkeypatch.setattr(_sparse, "versions", lambda version=version: {"cupy": version})
        (_, _, refusal), _ = SparseBackend(xo.backend("cupy"), SPARSE).kernels["matmul"]
        for args in ((s, wide), (wide.T, xo.sparse.transpose(s))):
            reason = refusal(Call(args, {}))
            assert bad == (reason is not None and "issues/9850" in reason)
        for args in ((s, wide[:, 1:]), (s, wide[:, 0]), (s, xo.sparse.transpose(s)), (cupy.ones(2), s)):
            assert refusal(Call(args, {})) is None
