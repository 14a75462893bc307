"""What the sparse verbs do on JAX, as programs that it can trace, compile and differentiate.

The number of entries of a result follows from those of its operands, never from values: what there is less of them is
padded. Inside a program a container is its `Parts` as coo: the coords of padding are the extents, so that it sorts
last, a scatter drops it, and a gather gives zeros for it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero
from jax.experimental.sparse import BCOO, BCSR, CSR, csr_matmat, csr_matvec

from xarrayops.plugin import Array
from xarrayops.plugin.sparse import Container, Parts, index_dtype, is_sound as is_sound_anywhere
from xarrayops_backends.jax._dtypes import _available, iinfo
from xarrayops_backends.jax._linalg import _precise, einsum

COMPILED = frozenset(map(jnp.dtype, ("int32", "int64", "float32", "float64", "complex64", "complex128")))
"""The dtypes for which JAX has a product of compressed rows: on CPU it is Eigen's, ten times as quick as ours."""
SAMPLED = 1 << 20
"""Elements of each dense operand that a sampled product gathers at a time."""

Shape = tuple[int, ...]


def format_of(s: Container) -> str:
    """The name of a container's format."""
    return "csr" if isinstance(s, BCSR) else "coo"


def entries(s: Container) -> Parts:
    """A container as coo."""
    width = _width(s)
    coords = s.indices.T.astype(width)
    if isinstance(s, BCSR):
        coords = jnp.stack([_rows(s.indptr.astype(width), s.nse), coords])
    extents = jnp.asarray(s.shape, width)[:, None]
    coords = jnp.where(((coords >= 0) & (coords < extents)).all(axis=0), coords, extents)
    is_sorted, is_unique = bool(s.indices_sorted), bool(s.unique_indices)
    return Parts("coo", s.shape, s.data, coords=coords, sorted=is_sorted, unique=is_unique)


def _width(s: Container) -> Any:
    """The dtype of the indices, or, of an unusual one, that of ours."""
    return s.indices.dtype if s.indices.dtype in (jnp.int32, jnp.int64) else index_dtype(*s.shape, s.nse)


def _rows(indptr: Array, count: int) -> Array:
    """The row of each of so many entries; of those behind the last row the number of rows."""
    return jnp.cumsum(jnp.zeros(count, indptr.dtype).at[indptr[1:]].add(1, mode="drop"), dtype=indptr.dtype)


def container(p: Parts, format: str) -> Container:
    """The container of a format; csr puts the entries in order."""
    width = jnp.promote_types(p.coords.dtype, _available(index_dtype(*p.shape, p.data.shape[0])))
    if format == "coo":
        known = {"indices_sorted": bool(p.sorted), "unique_indices": bool(p.unique)}
        return BCOO((p.data, p.coords.T.astype(width)), shape=p.shape, **known)
    p = ordered(p)
    row, column = p.coords.astype(width)
    arrays = (p.data, column, _pointers(row, p.shape[0]))
    return BCSR(arrays, shape=p.shape, indices_sorted=True, unique_indices=bool(p.unique))


def _with_data(s: Container, data: Array) -> Container:
    """Other data at the places of a container."""
    known = {"shape": s.shape, "indices_sorted": s.indices_sorted, "unique_indices": s.unique_indices}
    return BCSR((data, s.indices, s.indptr), **known) if isinstance(s, BCSR) else BCOO((data, s.indices), **known)


def _pointers(row: Array, rows: int) -> Array:
    """Where each row starts and ends among the rows, in order, of entries."""
    return jnp.cumsum(jnp.zeros(rows + 1, row.dtype).at[row + 1].add(1, mode="drop"), dtype=row.dtype)


def ordered(p: Parts) -> Parts:
    """The entries in order."""
    if p.sorted:
        return p
    order = jnp.lexsort(p.coords[::-1])
    return p._replace(coords=p.coords[:, order], data=p.data[order], sorted=True)


def canonical(p: Parts) -> Parts:
    """The entries in order and duplicates summed; of bools the logical or."""
    p = ordered(p)
    if p.unique:
        return p
    count = p.data.shape[0]
    first = jnp.ones(count, bool).at[1:].set((p.coords[:, 1:] != p.coords[:, :-1]).any(axis=0))
    data = _scattered((count,), (jnp.cumsum(first) - 1,), p.data)
    (places,) = jnp.nonzero(first, size=count, fill_value=count)
    return p._replace(coords=_picked(p, places), data=data, unique=True)


def _picked(p: Parts, places: Array) -> Array:
    """The coords of the entries at some places; beyond the last there is padding."""
    picked = [x.at[places].get(mode="fill", fill_value=n) for x, n in zip(p.coords, p.shape, strict=True)]
    return jnp.stack(picked)


def _gathered(x: Array, places: tuple[Array, ...]) -> Array:
    """The elements, or rows, of x at some places; zeros for padding."""
    axes = len(places)
    if 0 in x.shape[:axes]:  # from which JAX gathers nothing
        return jnp.zeros((*places[0].shape, *x.shape[axes:]), x.dtype)
    return x.at[places].get(mode="fill", fill_value=0)


def _scattered(shape: Shape, places: tuple[Array, ...], values: Array) -> Array:
    """Zeros, to which the values are added at their places, narrow floats in float32; of bools the logical or."""
    if values.dtype == bool:
        return jnp.zeros(shape, bool).at[places].max(values, mode="drop")
    wide = values.dtype
    if jnp.issubdtype(wide, jnp.floating) and wide.itemsize < 4:
        wide = jnp.dtype(jnp.float32)
    return jnp.zeros(shape, wide).at[places].add(values.astype(wide), mode="drop").astype(values.dtype)


@partial(jax.jit, static_argnames=("format", "shape", "canonical"))
def is_sound(indices: dict[str, Array], format: str, shape: Shape, canonical: bool) -> Array:
    """Whether the indices of parts are legal; there may be padding."""
    return is_sound_anywhere(jnp, Parts(format, shape, None, **indices), canonical=canonical, pads=True)


@partial(jax.jit, static_argnames=("format", "where", "size", "index"))
def from_dense(x: Array, mask: Array | None, format: str, where: Any, size: int, index: str | None) -> Container:
    """Room for so many entries of x. What goes beyond is lost."""
    flat, *_ = jnp.nonzero(kept(x, where if mask is None else mask).reshape(-1), size=size, fill_value=x.size)
    inside = flat < x.size
    places = jnp.unravel_index(flat, x.shape)
    width = _available(index_dtype(*x.shape, size) if index is None else jnp.dtype(index))
    coords = [jnp.where(inside, place, extent).astype(width) for place, extent in zip(places, x.shape, strict=True)]
    data = _gathered(x, tuple(coords))
    return container(Parts("coo", x.shape, data, coords=jnp.stack(coords), sorted=True, unique=True), format)


def kept(x: Array, where: Any) -> Array:
    """Whether each element of x is to be an entry."""
    if where is None:
        return x != 0
    if hasattr(where, "dtype"):
        return where
    if where == "relu":
        return x > 0
    if not jnp.isdtype(x.dtype, "integral"):
        return jnp.abs(x) > float(where)
    if where < 0:
        return jnp.ones(x.shape, bool)
    limits = iinfo(x.dtype)  # JAX wraps numbers beyond them, and the absolute value of the least
    return (x > math.floor(min(where, limits.max))) | (x < -math.floor(min(where, -limits.min)))


@jax.jit
def to_dense(s: Container) -> Array:
    """Zeros, to which the entries are added."""
    p = entries(s)
    return _scattered(p.shape, tuple(p.coords), p.data)


@partial(jax.jit, static_argnames="format")
def convert(s: Container, format: str) -> Container:
    """Canonical, whatever the format."""
    return container(canonical(entries(s)), format)


@jax.jit
def transpose(s: Container) -> Container:
    """The coords in turn; csr, which JAX does not transpose, is sorted by its columns."""
    return container(_turned(entries(s)), format_of(s))


def _turned(p: Parts) -> Parts:
    return p._replace(coords=p.coords[::-1], shape=p.shape[::-1], sorted=False)


@jax.jit
def add(a: Container, b: Container) -> Container:
    """The entries of both, as of one container."""
    first, second = entries(a), entries(b)
    coords, data = jnp.concatenate([first.coords, second.coords], axis=1), jnp.concatenate([first.data, second.data])
    return _cut(Parts("coo", a.shape, data, coords=coords, sorted=False, unique=False), format_of(a))


def _cut(p: Parts, format: str) -> Container:
    """Canonical, with no more room than the matrix has places."""
    p, count = canonical(p), math.prod(p.shape)
    return container(p._replace(coords=p.coords[:, :count], data=p.data[:count]), format)


@jax.jit
def multiply(a: Container, b: Any) -> Container:
    """Where both have entries; or the entries of a by what a dense b holds there, or by a number."""
    p = entries(a)
    if isinstance(b, (BCOO, BCSR)):
        return container(_intersection(canonical(p), canonical(entries(b))), format_of(a))
    if jnp.ndim(b):
        b = b.reshape((1,) * (2 - b.ndim) + b.shape)
        places = [jnp.where(x < n, 0, x) if m == 1 else x for x, n, m in zip(p.coords, p.shape, b.shape, strict=True)]
        b = _gathered(b, tuple(places))
    return _with_data(a, p.data * b)


def _intersection(a: Parts, b: Parts) -> Parts:
    """Where both have entries: sorted together, they stand side by side, that of a first."""
    coords, dtype = jnp.concatenate([a.coords, b.coords], axis=1), jnp.result_type(a.data, b.data)
    data = jnp.concatenate([a.data.astype(dtype), b.data.astype(dtype)])
    both = ordered(Parts("coo", a.shape, data, coords=coords, sorted=False))
    paired = (both.coords[:, 1:] == both.coords[:, :-1]).all(axis=0) & (both.coords[0, 1:] < a.shape[0])
    (places,) = jnp.nonzero(paired, size=min(a.data.size, b.data.size), fill_value=data.size)
    product = _gathered(both.data, (places,)) * _gathered(both.data, (places + 1,))
    return both._replace(coords=_picked(both, places), data=product, unique=True)


@partial(jax.jit, static_argnames="axis")
def sum(s: Container, axis: int | None) -> Array:
    """Of what is left along the other axis; bools count once at each place."""
    p = entries(s)
    p = canonical(p) if p.data.dtype == bool else p
    dtype = jnp.sum(p.data).dtype
    if axis is None:
        return jnp.sum(p.data, where=p.coords[0] < p.shape[0], dtype=dtype)
    return _scattered((p.shape[1 - axis],), (p.coords[1 - axis],), p.data.astype(dtype))


@jax.jit
def sddmm(a: Array, b: Array, pattern: Container) -> Container:
    """So many places at a time that what is gathered for them stays small, which gradients gather anew.

    The pattern is made canonical: each of the elements is wanted once.
    """
    p, turned = canonical(entries(pattern)), b.T

    @jax.checkpoint
    def sampled(places: Array) -> Array:
        row, column = places
        return einsum("k,k->", _gathered(a, (row,)), _gathered(turned, (column,)))

    data = jax.lax.map(sampled, p.coords.T, batch_size=max(SAMPLED // max(a.shape[1], 1), 1))
    return container(p._replace(data=data), format_of(pattern))


@jax.jit
def matmul(a: Container | Array, b: Container | Array) -> Container | Array:
    """Of two containers each entry of one meets each of the other."""
    if not isinstance(a, (BCOO, BCSR)):
        p = entries(b)
        return _spread(p.shape[1], p.coords[::-1], p.data, a.T).T
    if not isinstance(b, (BCOO, BCSR)):
        return _times(a, b)
    p, q = entries(a), entries(b)
    meet = (p.coords[1][:, None] == q.coords[0]) & (p.coords[1][:, None] < a.shape[1])
    shape = a.shape[0], b.shape[1]
    given = zip((p.coords[0][:, None], q.coords[1]), shape, strict=True)
    coords = jnp.stack([jnp.where(meet, x, extent).reshape(-1) for x, extent in given])
    data = (p.data[:, None] * q.data).reshape(-1)
    return _cut(Parts("coo", shape, data, coords=coords, sorted=False, unique=False), format_of(a))


def _times(s: Container, b: Array) -> Array:
    """The product with a dense array, of compressed rows where they need not be sorted for it."""
    dtype = jnp.result_type(s.data, b)
    if dtype not in COMPILED or not (isinstance(s, BCSR) or s.indices_sorted):
        p = entries(s)
        return _spread(p.shape[0], p.coords, p.data, b)
    return _compressed(s.shape, *_rows_of(s), s.data.astype(dtype), b.astype(dtype))


def _rows_of(s: Container) -> tuple[Array, Array]:
    """The indices and pointers of the rows of a container, which are in order."""
    if isinstance(s, BCSR):
        return s.indices.astype(_width(s)), s.indptr.astype(_width(s))
    row, indices = entries(s).coords
    return indices, _pointers(row, s.shape[0])


@jax.jit
def cusparse(a: Container | Array, b: Container | Array) -> Array:
    """The product of a container and a dense array by the functions of JAX that call cuSPARSE on a GPU.

    Never run on a GPU: on a CPU JAX has other kernels for the same functions. ``jax.vmap`` cannot batch them.
    """
    if not isinstance(a, (BCOO, BCSR)):
        return _by_csr(b, a.T, transpose=True).T
    return _by_csr(a, b, transpose=False)


def _by_csr(s: Container, dense: Array, *, transpose: bool) -> Array:
    dtype = jnp.result_type(s.data, dense)
    indices, indptr, data = _readable(s.shape, *_rows_of(s), s.data.astype(dtype))
    product = csr_matvec if dense.ndim == 1 else csr_matmat
    rows = CSR((data, indices, indptr), shape=s.shape)  # type: ignore[no-untyped-call]
    return product(rows, dense.astype(dtype), transpose=transpose)


def _spread(rows: int, coords: Array, data: Array, b: Array) -> Array:
    """Row by row of b, each added to the row of the result where its entry stands."""
    terms = data.reshape(-1, *(1,) * (b.ndim - 1)) * _gathered(b, (coords[1],))
    return _scattered((rows, *b.shape[1:]), (coords[0],), terms)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _compressed(shape: Shape, indices: Array, indptr: Array, data: Array, b: Array) -> Array:
    """JAX's own product of compressed rows, whose own gradient by the data would take a dense product."""
    indices, indptr, data = _readable(shape, indices, indptr, data)
    return _precise(lambda: BCSR((data, indices, indptr), shape=shape) @ b)()


def _readable(shape: Shape, indices: Array, indptr: Array, data: Array) -> tuple[Array, Array, Array]:
    """Arrays of rows that no kernel reads beyond: traced indices are not checked, and padding leads out of the matrix.

    What is behind the last row is zero: cuSPARSE reads that, too.
    """
    indptr = jnp.clip(jax.lax.cummax(indptr.at[:1].set(0)), 0, indices.size)
    inside = (indices >= 0) & (indices < shape[1]) & (jnp.arange(indices.size, dtype=indptr.dtype) < indptr[-1])
    return jnp.where(inside, indices, 0), indptr, jnp.where(inside, data, 0)


@partial(_compressed.defjvp, symbolic_zeros=True)
def _compressed_jvp(shape: Shape, primals: Any, tangents: Any) -> tuple[Array, Array]:
    indices, indptr, data, b = primals
    *_, data_dot, b_dot = tangents
    coords = jnp.stack([_rows(indptr, indices.size), indices])
    pairs = [(data_dot, b), (data, b_dot)]
    terms = [_spread(shape[0], coords, *pair) for pair in pairs if not any(isinstance(x, SymbolicZero) for x in pair)]
    return _compressed(shape, *primals), jnp.stack(terms).sum(axis=0)
