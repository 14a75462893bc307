"""Products of integers by products of float64, as on GPUs: the same bits as NumPy, which wraps around."""

import numpy as np
import pytest

import xarrayops as xo

torch = pytest.importorskip("torch")
products = pytest.importorskip("xarrayops_backends.torch._standard.integer_products")

DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
CALLS = {
    "ij,jk->ik": [(3, 4), (4, 5)],
    "ij,jk": [(3, 4), (4, 5)],
    "ij,jk,kl->il": [(3, 4), (4, 5), (5, 2)],
    "i,i,i->": [(6,), (6,), (6,)],
    "...ij,...jk->...ik": [(2, 3, 4), (1, 4, 5)],
    "...i,j...,k->k...": [(2, 3), (4, 2), (3,)],
    "ii,jj->": [(3, 3), (4, 4)],
    "ij->ji": [(3, 4)],
    "ii": [(3, 3)],
    "ab , cd -> abcd": [(2, 3), (3, 2)],
    "ij,j->i": [(3, 0), (0,)],
    "aB,Ba": [(3, 4), (4, 3)],
}


def extreme(rng, shape, dtype):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("subscripts", CALLS)
def test_einsum(subscripts, dtype):
    rng = np.random.default_rng(5)
    hosts = [extreme(rng, shape, dtype) for shape in CALLS[subscripts]]
    found = products.contraction(subscripts, [torch.from_numpy(x) for x in hosts], getattr(torch, dtype))
    assert found.dtype is getattr(torch, dtype)
    np.testing.assert_array_equal(found.numpy(), np.einsum(subscripts, *hosts))


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices(dtype):
    rng = np.random.default_rng(6)
    x1, x2 = extreme(rng, (3, 50), dtype), extreme(rng, (50, 4), dtype)
    found = products.product(torch.from_numpy(x1), torch.from_numpy(x2), getattr(torch, dtype), 50)
    np.testing.assert_array_equal(found.numpy(), x1 @ x2)


def test_a_product_that_is_not_exact_is_refused():
    x = torch.zeros(1 << 21, dtype=torch.int8)
    with pytest.raises(xo.Unsupported, match="2097152 terms is not exact on a GPU"):
        products.contraction("i,i->", [x, x], torch.int8)
