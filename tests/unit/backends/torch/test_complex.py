"""Complex numbers in functions that torch.compile compiles: it generates code for their parts only."""

import numpy as np
import pytest

import xarrayops as xo
import xarrayops.numpy as xnp

torch = pytest.importorskip("torch", exc_type=ImportError)


def views(x):
    """Views of a matrix with other strides."""
    return (
        x,
        x.mT,
        x[::2, 1:],
        x[:, ::3],
        x[1],
        x[1, 2],
        x[:0],
        xo.conj(x),
        xo.conj(x).mT,
        torch._neg_view(x),
        xo.broadcast_to(x[0], x.shape),
    )


@pytest.mark.parametrize("dtypes", [("complex128", "complex64"), ("complex64", "complex128")])
def test_casts_of_views(dtypes):
    rng = np.random.default_rng(3)
    parts = rng.normal(size=(2, 6, 7)) * 10.0 ** rng.integers(-60, 60, (2, 6, 7))
    with np.errstate(over="ignore"):
        host = (parts[0] + 1j * parts[1]).astype(dtypes[0])
    host[0, :3] = [np.inf - 1j, complex(np.nan, 2), complex(-0.0, -0.0)]
    cast = xo.jit(lambda x: [xo.astype(each, dtypes[1]) for each in views(x)])
    with np.errstate(over="ignore"):
        wanted = [each.numpy(force=True).astype(dtypes[1]) for each in views(torch.asarray(host))]
    for found, want in zip(cast(torch.asarray(host)), wanted, strict=True):
        assert str(found.dtype) == f"torch.{dtypes[1]}"
        np.testing.assert_array_equal(found.numpy(force=True), want)


def test_gradients_of_casts():
    x = torch.asarray([1.0 + 2j, -3.0 + 0.5j]).requires_grad_()
    f = xo.jit(lambda x: xo.sum(xnp.abs(xo.astype(x, "complex128")) ** 2))
    (gradient,) = torch.autograd.grad(f(x), x)
    torch.testing.assert_close(gradient, 2 * x.detach())


def test_assigned_elements():
    into, z = torch.zeros(3, 4, dtype=torch.complex64), torch.arange(8.0, dtype=torch.float64).reshape(2, 4) * (1 + 2j)
    found = xo.jit(lambda x, z: xo.at(x + 0)[1:].assign(z))(into, z)
    torch.testing.assert_close(found[1:], z.to(torch.complex64))
    assert not found[0].any()
