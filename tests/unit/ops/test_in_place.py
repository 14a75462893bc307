"""The statements of docs/guides/in-place.md about each library."""

import warnings

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._host import permute


def ones(library):
    pytest.importorskip(library)
    return xo.ones((3, 4), dtype="float32", backend=library)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_at_writes_x_itself(library):
    x = ones(library)
    for copy in (None, False):
        assert xo.at(x)[0].add(1.0, copy=copy) is x
    assert np.asarray(x)[0, 0] == 3
    for copy in ({}, {"copy": True}):
        assert xo.at(x)[0].add(1.0, **copy) is not x


@pytest.mark.parametrize("library", ["jax", "dask"])
def test_at_returns_a_new_array(library):
    x = ones(library)
    new = xo.at(x)[0].add(1.0, copy=None)
    assert new is not x
    assert np.asarray(xo.compute(x))[0, 0] == 1
    assert np.asarray(xo.compute(new))[0, 0] == 2
    with pytest.raises(xo.Unsupported, match="Instead"):
        xo.at(x)[0].add(1.0, copy=False)


def test_at_copies_arrays_that_must_not_be_written():
    x = ones("numpy")
    x.flags.writeable = False
    assert xo.at(x)[0].add(1.0, copy=None) is not x
    with pytest.raises(xo.Unsupported, match="read-only"):
        xo.at(x)[0].add(1.0, copy=False)
    t = ones("torch")
    for kept in (t.clone().requires_grad_(), t[:1].expand(3, 4)):
        assert xo.at(kept)[0].add(1.0, copy=None) is not kept
        with pytest.raises(xo.Unsupported, match="Instead"):
            xo.at(kept)[0].add(1.0, copy=False)


@pytest.fixture
def spy(monkeypatch):
    """A list with one item for each copy by the host kernel."""
    copies = []
    real = permute.copy
    monkeypatch.setattr(permute, "copy", lambda *arrays: copies.append(1) or real(*arrays))
    return copies


INDICES = [
    (slice(None), slice(None)),
    (slice(2, None), slice(None, None, 2)),
    (slice(None, None, -1), slice(5, 405)),
    (Ellipsis, slice(0, 400)),
    Ellipsis,
    slice(3, 503),
    (None, slice(None), slice(300)),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_at_sets_large_numpy_views_with_the_host_kernel(spy, index):
    x = np.random.default_rng(0).standard_normal((600, 700)).astype(np.float32)
    want = x.copy()
    value = np.asfortranarray(np.random.default_rng(1).standard_normal(want[index].shape).astype(np.float32))
    want[index] = value
    assert xo.at(x)[index].set(value, copy=None) is x
    assert np.array_equal(x, want)
    assert spy


def test_at_sets_other_views_as_numpy_does(spy):
    """Values that overlap, broadcast or are cast; indices that do not select a view; short runs of items."""
    base = np.random.default_rng(0).standard_normal((600, 600)).astype(np.float32)
    rows = np.arange(600)[::-1].copy()
    for index, value_of in [
        ((slice(None), slice(None)), lambda x: x.T),
        ((slice(1, None), slice(None)), lambda x: x[:-1]),
        ((slice(None), slice(None)), lambda x: np.ones((300, 2, 600), np.float32).reshape(600, 600)[:1]),
        ((slice(None), slice(None)), lambda x: base.astype(np.float64).T),
        ((slice(None), slice(None)), lambda x: base.astype(">f4").T),
        (rows, lambda x: base.T),
        ((rows, slice(None)), lambda x: base.T),
        (base > -9, lambda x: base.T.reshape(-1)),
        ((np.int64(0), ...), lambda x: base[1]),
    ]:
        got, want = base.copy(), base.copy()
        with np.errstate(invalid="ignore"):
            want[index] = value_of(want)
        assert xo.at(got)[index].set(value_of(got), copy=None) is got
        assert np.array_equal(got, want)
    narrow, value = np.zeros((90000, 9), np.float32), np.ones((3, 90000), np.float32).T
    assert xo.at(narrow)[:, 1:4].set(value, copy=None)[:, :5].tolist()[7] == [0, 1, 1, 1, 0]
    assert not spy


def test_at_under_vmap_follows_the_value():
    torch = pytest.importorskip("torch")
    x, values = torch.zeros(3, 4), torch.arange(8.0).reshape(2, 4)
    got = torch.func.vmap(lambda v: xo.at(x)[1].set(v))(values)
    assert torch.equal(got[:, 1], values)
    assert got.sum() == values.sum()
    assert torch.equal(
        torch.func.vmap(lambda v: xo.at(xo.zeros((4,), like=x))[1:3].add(v[:2]))(values)[:, 1:3], values[:, :2]
    )
    with pytest.raises(xo.Unsupported, match=r"tracks the value.*Instead"):
        torch.func.vmap(lambda v: xo.at(x)[1].set(v, copy=False))(values)
    assert not x.any()
    (grad,) = torch.func.grad(lambda v: xo.at(x)[1].multiply(v).sum() + xo.at(x)[1].set(v).sum(), argnums=(0,))(
        values[1]
    )
    assert grad.tolist() == [1, 1, 1, 1]


def test_duplicates_accumulate_unlike_in_the_operator():
    for library in ("numpy", "torch"):
        x, index = ones(library)[0], xo.asarray([1, 1], backend=library)
        x[index] += 1.0
        assert float(x[1]) == 2
        assert float(xo.at(x)[index].add(1.0)[1]) == 4


def test_out_argument_of_numpy():
    x, out = ones("numpy"), np.empty((3, 4), dtype=np.float32)
    assert np.add(x, x, out=out) is out
    assert (out == 2).all()


def test_out_argument_of_torch():
    torch = pytest.importorskip("torch")
    x, out = torch.ones(3, 4), torch.empty(3, 4)
    assert torch.add(x, x, out=out) is out
    with pytest.warns(UserWarning, match="resized"):
        assert torch.add(x, x, out=torch.zeros(5)).shape == (3, 4)
    with pytest.raises(RuntimeError, match="out="):
        torch.add(x.requires_grad_(), x, out=out)


def test_out_argument_of_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones((3, 4))
    with pytest.raises(NotImplementedError, match="out"):
        jax.numpy.add(x, x, out=x)
    donated = jax.numpy.full((3, 4), 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert float(jax.jit(lambda a: a + 1, donate_argnums=0)(donated)[0, 0]) == 3


def test_out_argument_of_dask():
    da = pytest.importorskip("dask.array")
    x = da.ones((3, 4), chunks=2)
    out = da.zeros((3, 4), chunks=2)
    assert da.add(x, x, out=out) is out
    assert float(out.compute()[0, 0]) == 2
