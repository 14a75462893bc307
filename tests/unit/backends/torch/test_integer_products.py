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


@pytest.fixture
def of_cublas(monkeypatch):
    """`torch._int_mm` with the limits of cuBLAS. Its sums wrap around, as those of tensor cores."""
    shapes = []

    def int_mm(x1, x2):
        (rows, terms), columns = x1.shape, x2.shape[1]
        assert x1.dtype is x2.dtype is torch.int8
        assert rows > 16 and not terms % 8 and not columns % 8  # noqa: PT018
        shapes.append((rows, terms, columns))
        return torch.matmul(x1.to(torch.int32), x2.to(torch.int32))

    monkeypatch.setattr(torch, "_int_mm", int_mm)
    return shapes


SHAPES = [
    *(((64, 16), (16, 24)), ((1, 16), (16, 8)), ((16, 8), (8, 8)), ((17, 8), (8, 8)), ((3, 5), (5, 7))),
    *(((2, 3, 40, 16), (16, 8)), ((2, 1, 3), (3, 5)), ((16,), (16, 8)), ((30, 16), (16,)), ((5,), (5,))),
    *(((4, 2000), (2000, 9)), ((2, 33, 1025), (1025, 3))),
]


@pytest.mark.parametrize("second", ["int8", "uint8"])
@pytest.mark.parametrize("first", ["int8", "uint8"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_products_of_eight_bits_on_tensor_cores(of_cublas, shapes, first, second):
    rng = np.random.default_rng(7)
    a, b = (extreme(rng, shape, dtype) for shape, dtype in zip(shapes, (first, second), strict=True))
    found = products.eight_bit(torch.from_numpy(a), torch.from_numpy(b))
    assert found.dtype is torch.int32
    np.testing.assert_array_equal(found.numpy(), a.astype(np.int32) @ b.astype(np.int32))
    assert len(of_cublas) == 1  # no blocks of terms
    if first == second:
        found = products.wrapping(torch.from_numpy(a), torch.from_numpy(b))
        np.testing.assert_array_equal(found.numpy(), a @ b)


def test_products_of_eight_bits_of_many_terms_wrap_around(of_cublas):
    a = np.full((17, 140_000), -128, np.int8)
    found = products.wrapping(torch.from_numpy(a), torch.from_numpy(a[:1].T.copy()))
    np.testing.assert_array_equal(found.numpy(), a @ a[:1].T)


@pytest.mark.parametrize(
    ("architecture", "served"),
    [("gfx942:sramecc+:xnack-", True), ("gfx90a", True), ("gfx1100", False), ("gfx906", False)],
)
def test_only_some_amd_gpus_multiply_integers(monkeypatch, architecture, served):
    from types import SimpleNamespace

    from torch._subclasses.fake_tensor import FakeTensorMode

    from xarrayops.plugin import Call

    monkeypatch.setattr(torch.version, "hip", "6.4")
    properties = SimpleNamespace(gcnArchName=architecture)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    with FakeTensorMode():
        x = torch.empty((32, 32), dtype=torch.int8, device="cuda")
    assert (products.eight_bit_refusal(Call((x, x), {})) is None) is served
