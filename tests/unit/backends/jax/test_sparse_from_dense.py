"""from_dense on JAX, with the number of entries that ``nnz_max`` requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import Unsupported

jax = pytest.importorskip("jax")
programs = pytest.importorskip("xarrayops_backends.jax._sparse.programs")
import jax.numpy as jnp  # noqa: E402

each_format = pytest.mark.parametrize("format", ["coo", "csr"])
X = np.asarray([[0, 2, 0, -3, 1], [0, 0, 0, 0, 0], [-1, 0, 4, 0, -2], [2, 0, 0, 0, 3]], "float32")
MASK = np.arange(20).reshape(4, 5) % 3 == 0

RULES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    # the condition for from_dense, and the same condition in NumPy
    "not zero": (None, lambda x: x != 0),
    "relu": ("relu", lambda x: x > 0),
    "beyond": (2, lambda x: np.abs(x.astype("float64")) > 2),
    "beyond a fraction": (1.5, lambda x: np.abs(x.astype("float64")) > 1.5),
    "beyond less than nothing": (-1.0, lambda x: np.isfinite(x)),
    "beyond all": (1e12, lambda x: np.zeros(x.shape, bool)),
    "mask": (MASK, lambda x: MASK),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("format", "dtype"), [("csr", "float32"), ("csr", "int8"), ("coo", "uint8")])
def test_what_from_dense_keeps(format: str, rule: str, dtype: str) -> None:
    where, keeps = RULES[rule]
    x = np.abs(X).astype(dtype) if dtype[0] == "u" else X.astype(dtype)
    if dtype == "float32":
        x[0, 0], x[0, 2] = np.nan, -0.0
    if dtype == "int8":
        x[3, 4] = -128
    mask = keeps(x)
    given = jnp.asarray(where) if rule == "mask" else where
    native = jnp.asarray(x)
    concrete = xo.sparse.from_dense(native, format, where=given)
    padded = xo.sparse.from_dense(native, format, where=given, nnz_max=40)
    traced = jax.jit(lambda x: xo.sparse.from_dense(x, format, where=given, nnz_max=40))(native)
    for s in (concrete, padded, traced):
        xo.sparse.validate(s, canonical=True)
        assert s.dtype == dtype
        assert s.nse == (mask.sum() if s is concrete else 40)
        entries = xo.convert(s, "numpy").tocoo()
        np.testing.assert_array_equal(entries.data, x[mask])
        np.testing.assert_array_equal(np.stack(entries.coords), np.nonzero(mask))


@each_format
def test_from_dense_counts_its_entries(format: str) -> None:
    x = jnp.asarray(X)
    count = int((x != 0).sum())
    assert xo.sparse.from_dense(x, format, nnz_max=count).nse == count
    with pytest.raises(ValueError, match=f"{count} entries to keep, more than nnz_max={count - 1}"):
        xo.sparse.from_dense(x, format, nnz_max=count - 1)
    with pytest.raises(Unsupported, match="give nnz_max"):
        jax.jit(lambda x: xo.sparse.from_dense(x, format))(x)
    cut = jax.jit(lambda x: xo.sparse.from_dense(x, format, nnz_max=3))(x)
    np.testing.assert_array_equal(cut.data, X[X != 0][:3])
    assert xo.sparse.from_dense(jnp.zeros_like(x), format, nnz_max=0).nse == 0


@pytest.mark.parametrize("options", [{}, {"nnz_max": 40}], ids=["exact", "padded"])
def test_indices_have_the_requested_width_or_are_refused(options: dict[str, Any]) -> None:
    x = jnp.asarray(X)
    assert xo.sparse.from_dense(x, "coo", **options).indices.dtype == "int32"
    with jax.enable_x64(False), pytest.raises(Unsupported, match="64-bit types are off"):
        xo.sparse.from_dense(x, index_dtype="int64", **options)
    with jax.enable_x64(True):
        s = xo.sparse.from_dense(x, index_dtype="int64", **options)
        assert (s.indices.dtype, s.indptr.dtype) == ("int64", "int64")
        xo.sparse.validate(s, canonical=True)
        np.testing.assert_array_equal(jax.jit(xo.matmul)(s, jnp.ones((5, 2))), X @ np.ones((5, 2)))


def test_wide_indices_are_narrowed_only_if_all_extents_fit() -> None:
    arrays = np.asarray([[0], [1]]), np.ones(1, "float32")
    with jax.enable_x64(False):
        assert xo.convert(xo.sparse.from_dense(X, index_dtype="int64"), "jax").indices.dtype == np.int32
        with pytest.raises(xo.Unsupported, match="no index dtype that is wide enough"):
            xo.convert(xo.sparse.from_parts("coo", *arrays, shape=(2**31, 2)), "jax")


def test_more_axes_than_two() -> None:
    x = np.zeros((3, 4, 5), "float32")
    x[1, 2, 3], x[2, 0, 4] = 5, -1
    for s in (
        xo.sparse.from_dense(jnp.asarray(x), "coo"),
        jax.jit(lambda x: xo.sparse.from_dense(x, "coo", nnz_max=6))(jnp.asarray(x)),
    ):
        np.testing.assert_array_equal(xo.sparse.to_dense(s), x)
        np.testing.assert_array_equal(jax.jit(xo.sparse.to_dense)(s), x)


@each_format
def test_gradients_reach_what_from_dense_keeps(format: str) -> None:
    x = jnp.asarray(X)
    grad = jax.jit(
        jax.grad(lambda x: jnp.sum(xo.sparse.to_dense(xo.sparse.from_dense(x, format, where="relu", nnz_max=40)) ** 2))
    )(x)
    np.testing.assert_allclose(grad, 2 * np.maximum(X, 0))


@pytest.mark.parametrize("where", [-1, 0, 3, 1.5, 2**62, 2.0**70, np.inf])
@pytest.mark.parametrize("dtype", ["uint8", "uint64", "int8", "int64"])
def test_a_limit_of_integers_that_a_device_compares(dtype, where):
    """On the CPU the host kernels select entries."""
    limits = np.iinfo(dtype)
    x = np.asarray([limits.min, limits.min + 1, 0, 1, 3, limits.max - 1, limits.max], dtype)
    with jax.enable_x64(True):
        found = programs.kept(jnp.asarray(x), where)
    np.testing.assert_array_equal(np.asarray(found), [abs(int(each)) > where for each in x])
