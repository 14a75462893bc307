"""Functions of sparse matrices on JAX: with padding, traced and differentiated, compared with dense NumPy and JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarrayops as xo

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.experimental.sparse import BCOO, BCSR  # noqa: E402

X = np.asarray([[0, -2.5, 0, 1, 3], [0, 0, 0, 0, 0], [4, 0, -0.5, 0, 2], [0, 1.5, 0, 0, 0]], "float32")
ROWS, COLUMNS = np.asarray([1, 2, -3, 0.5], "float32"), np.asarray([2, -1, 0, 3, 0.5], "float32")
NAMES = ("abs", "expm1")
INDICES = np.asarray([2, -1, 2, 0, 1])
KINDS = ("coo", "csr", "padded coo", "padded csr", "not sorted", "no rows", "no columns")


def operand(kind: str) -> tuple[Any, Any]:
    """A container and the same matrix in NumPy."""
    if kind in ("no rows", "no columns"):
        x = X[:0] if kind == "no rows" else X[:, :0]
        return xo.sparse.from_dense(jnp.asarray(x), "csr" if kind == "no rows" else "coo", nnz_max=2), x
    if kind == "not sorted":
        coo = BCOO.fromdense(jnp.asarray(X), nse=11)
        twice = jnp.concatenate([coo.indices[::-1], coo.indices])
        return BCOO((jnp.concatenate([coo.data[::-1] - 1, jnp.ones(11)]), twice), shape=X.shape), X
    cls = BCOO if kind.endswith("coo") else BCSR
    return cls.fromdense(jnp.asarray(X), nse=12 if kind.startswith("padded") else None), X


def results(s: Any, other: Any, rows: Any, columns: Any, indices: Any) -> dict[str, Any]:
    """The result of each function; of some functions along one axis only if s is traced, as compilation is slow."""
    sparse = xo.sparse
    axes = (0,) if xo.is_lazy(s) else (0, 1)
    found = {
        **{name: getattr(sparse, name)(s) for name in NAMES},
        "power": sparse.power(s, 3),
        "positive": sparse.maximum(s, 0),
        "maximum": sparse.maximum(s, other),
        "scale": sparse.scale(s, rows, columns),
        **{f"concat {axis}": sparse.concat([s, other, s], axis=axis) for axis in axes},
        "count": sparse.count(s),
        **{f"norm {axis}": sparse.norm(s, axis=axis) for axis in axes},
        "diagonal": sparse.diagonal(s),
    }
    for axis in axes:
        if s.shape[axis]:
            found[f"take {axis}"] = sparse.take(s, indices % s.shape[axis] - s.shape[axis], axis=axis)
    return {name: sparse.to_dense(x) if sparse_holds(x) else x for name, x in found.items()}


def sparse_holds(x: Any) -> bool:
    return isinstance(x, (BCOO, BCSR))


def expected(x: Any, other: Any, rows: Any, columns: Any, indices: Any, xp: Any = np) -> dict[str, Any]:
    """The same for dense arrays."""
    found = {
        **{name: getattr(xp, name)(x) for name in NAMES},
        "power": x**3,
        "positive": xp.maximum(x, 0),
        "maximum": xp.maximum(x, other),
        "scale": rows[:, None] * x * columns,
        **{f"concat {axis}": xp.concatenate([x, other, x], axis=axis) for axis in (0, 1)},
        "count": (x != 0).sum(),
        **{f"norm {axis}": xp.sqrt((x * x).sum(axis=axis)) for axis in (0, 1)},
        "diagonal": xp.diagonal(x),
    }
    for axis in (0, 1):
        if x.shape[axis]:
            found[f"take {axis}"] = xp.take(x, indices % x.shape[axis], axis=axis)
    return found


@pytest.mark.parametrize(
    ("kind", "traced"), [(kind, traced) for kind in KINDS for traced in (False, True) if not traced or " " in kind]
)
def test_functions_equal_those_of_dense_arrays(kind: str, traced: bool) -> None:
    s, x = operand(kind)
    other = (x[::-1, ::-1] * 2 - x).astype("float32")
    given = xo.sparse.from_dense(jnp.asarray(other), "coo")
    arguments = (ROWS[: x.shape[0]], COLUMNS[: x.shape[1]], INDICES)
    found = (jax.jit(results) if traced else results)(s, given, *map(jnp.asarray, arguments))
    right = expected(x.astype("float64"), other, *arguments)
    assert found.keys() == right.keys() or (traced and len(found) > 9)
    for name, result in found.items():
        np.testing.assert_allclose(result, right[name], rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("kind", ["padded coo", "padded csr"])
def test_gradients_are_those_of_dense_arrays(kind: str) -> None:
    with jax.enable_x64(True):
        s, x = operand(kind)
        other = jnp.asarray(x[::-1, ::-1] * 2 - x, "float64")
        given, places = xo.sparse.from_dense(other), np.nonzero(x)
        arrays = s.indices, *([s.indptr] if kind.endswith("csr") else [])

        def weighted(found: dict[str, Any]) -> Any:
            names = ("abs", "power", "positive", "maximum", "scale", "concat 0", "norm 0", "diagonal", "take 0")
            return sum(jnp.sum(jnp.sin(found[name] + 1)) for name in names)

        def loss(data: Any, rows: Any, columns: Any) -> Any:
            made = type(s)((data, *arrays), shape=s.shape, indices_sorted=True, unique_indices=True)
            return weighted(results(made, given, rows, columns, jnp.asarray(INDICES)))

        def dense_loss(data: Any, rows: Any, columns: Any) -> Any:
            full = jnp.zeros(x.shape).at[places].add(data[: len(places[0])])
            return weighted(expected(full, other, rows, columns, INDICES, jnp))

        at = s.data.astype("float64"), jnp.asarray(ROWS, "float64"), jnp.asarray(COLUMNS, "float64")
        found, right = (jax.jit(jax.grad(f, (0, 1, 2)))(*at) for f in (loss, dense_loss))
        count = len(places[0])
        np.testing.assert_allclose(found[0][:count], right[0][:count], rtol=1e-10, atol=1e-12)
        for a, b in zip(found[1:], right[1:], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_a_norm_of_zero_has_the_gradient_zero() -> None:
    s = BCOO((jnp.zeros(2), jnp.asarray([[0, 0], [1, 1]])), shape=(2, 2), indices_sorted=True, unique_indices=True)

    def total(data: Any) -> Any:
        return jnp.sum(xo.sparse.norm(BCOO((data, s.indices), shape=s.shape), axis=1))

    assert jax.grad(total)(s.data).tolist() == [0, 0]


def test_selections_that_cannot_be_traced() -> None:
    s, _ = operand("csr")
    with pytest.raises(xo.Unsupported, match=r"take.*number of rows.*Instead: an array of indices"):
        jax.jit(lambda s, mask: xo.sparse.take(s, mask))(s, jnp.asarray([True, False, True, True]))
    with pytest.raises(IndexError, match=r"indices\[1\] is 4, but the axis has 4"):
        xo.sparse.take(s, jnp.asarray([0, 4]))


@pytest.mark.parametrize("axis", [0, 1])
def test_many_entries_of_half_precision_are_added_in_float32(axis: int) -> None:
    """In float16, adding 1 to 2048 gives 2048."""
    x = np.ones((5000, 2) if axis == 0 else (2, 5000), "float16")
    s = BCOO.fromdense(jnp.asarray(x))
    np.testing.assert_array_equal(jax.jit(lambda s: xo.sparse.sum(s, axis=axis))(s), [5000, 5000])


def test_many_duplicates_of_half_precision_are_added_in_float32() -> None:
    s = BCOO((jnp.ones(5000, "float16"), jnp.zeros((5000, 2), "int32")), shape=(1, 1))
    np.testing.assert_array_equal(jax.jit(xo.sparse.to_dense)(s), [[5000]])
