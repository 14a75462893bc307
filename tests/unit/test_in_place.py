"""What docs/in-place.md says of each library."""

import warnings

import numpy as np
import pytest

import xarrayops as xo


def ones(library):
    pytest.importorskip(library)
    return xo.ones((3, 4), dtype="float32", backend=library)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_at_writes_x_itself(library):
    x = ones(library)
    for copy in (None, False):
        assert xo.at(x)[0].add(1.0, copy=copy) is x
    assert np.asarray(x)[0, 0] == 3
    assert xo.at(x)[0].add(1.0, copy=True) is not x


@pytest.mark.parametrize("library", ["jax", "dask"])
def test_at_gives_a_new_array(library):
    x = ones(library)
    new = xo.at(x)[0].add(1.0)
    assert new is not x
    assert np.asarray(xo.compute(x))[0, 0] == 1
    assert np.asarray(xo.compute(new))[0, 0] == 2
    with pytest.raises(xo.Unsupported, match="Instead"):
        xo.at(x)[0].add(1.0, copy=False)


def test_at_copies_what_must_not_be_written():
    x = ones("numpy")
    x.flags.writeable = False
    assert xo.at(x)[0].add(1.0) is not x
    with pytest.raises(xo.Unsupported, match="read-only"):
        xo.at(x)[0].add(1.0, copy=False)
    t = ones("torch")
    for kept in (t.clone().requires_grad_(), t[:1].expand(3, 4)):
        assert xo.at(kept)[0].add(1.0) is not kept
        with pytest.raises(xo.Unsupported, match="Instead"):
            xo.at(kept)[0].add(1.0, copy=False)


def test_duplicates_accumulate_where_the_operator_drops_them():
    for library in ("numpy", "torch"):
        x, index = ones(library)[0], xo.asarray([1, 1], backend=library)
        x[index] += 1.0
        assert float(x[1]) == 2
        assert float(xo.at(x)[index].add(1.0)[1]) == 4


def test_out_of_numpy():
    x, out = ones("numpy"), np.empty((3, 4), dtype=np.float32)
    assert np.add(x, x, out=out) is out
    assert (out == 2).all()


def test_out_of_torch():
    torch = pytest.importorskip("torch")
    x, out = torch.ones(3, 4), torch.empty(3, 4)
    assert torch.add(x, x, out=out) is out
    with pytest.warns(UserWarning, match="resized"):
        assert torch.add(x, x, out=torch.zeros(5)).shape == (3, 4)
    with pytest.raises(RuntimeError, match="out="):
        torch.add(x.requires_grad_(), x, out=out)


def test_out_of_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones((3, 4))
    with pytest.raises(NotImplementedError, match="out"):
        jax.numpy.add(x, x, out=x)
    donated = jax.numpy.full((3, 4), 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert float(jax.jit(lambda a: a + 1, donate_argnums=0)(donated)[0, 0]) == 3


def test_out_of_dask():
    da = pytest.importorskip("dask.array")
    x = da.ones((3, 4), chunks=2)
    out = da.zeros((3, 4), chunks=2)
    assert da.add(x, x, out=out) is out
    assert float(out.compute()[0, 0]) == 2
