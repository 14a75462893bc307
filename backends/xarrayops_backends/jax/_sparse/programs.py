# Long: a program for each sparse verb over one representation.
"""The sparse operations as programs that JAX can trace, compile and differentiate.

The number of entries of a result depends only on the numbers of entries of the operands, never on values; unused
entries are padding. Inside a program a container is represented by its `Parts` as coo. The coords of padding are the
extents, so that padding sorts last, a scatter drops it, and a gather returns zeros for it.
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
from xarrayops.plugin.generic import is_sound as is_sound_anywhere
from xarrayops.plugin.host import iinfo, index_dtype
from xarrayops.plugin.precision import DOUBLE
from xarrayops.plugin.sparse import Container, Parts
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._dtypes import _available
from xarrayops_backends.jax._standard.linalg import _precise, einsum

# The dtypes for which JAX has a CSR product; on CPU it is Eigen's, ten times as fast as the one here.
COMPILED = frozenset(map(jnp.dtype, ("int32", "int64", "float32", "float64", "complex64", "complex128")))
# The number of elements of each dense operand that sddmm gathers at a time.
SAMPLED = 1 << 20

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
    # Any entry out of bounds is padding, in all coordinates at once, so that one comparison recognises it.
    coords = jnp.where(((coords >= 0) & (coords < extents)).all(axis=0), coords, extents)
    is_sorted, is_unique = bool(s.indices_sorted), bool(s.unique_indices)
    return Parts("coo", s.shape, s.data, coords=coords, sorted=is_sorted, unique=is_unique)


def _width(s: Container) -> Any:
    """The dtype of the indices if it is int32 or int64, otherwise the default index dtype."""
    return s.indices.dtype if s.indices.dtype in (jnp.int32, jnp.int64) else index_dtype(*s.shape, s.nse)


def _rows(indptr: Array, count: int) -> Array:
    """The row of each of ``count`` entries; entries after the last row get the number of rows."""
    # Each row adds 1 at the entry where it ends; the running sum at an entry is the number of rows that ended before
    # it, its row. Empty rows add to one place; ends at `count` are dropped.
    return jnp.cumsum(jnp.zeros(count, indptr.dtype).at[indptr[1:]].add(1, mode="drop"), dtype=indptr.dtype)


def container(p: Parts, format: str) -> Container:
    """The container in the given format; for csr the entries are sorted."""
    width = jnp.promote_types(p.coords.dtype, _available(index_dtype(*p.shape, p.data.shape[0])))
    if format == "coo":
        known = {"indices_sorted": bool(p.sorted), "unique_indices": bool(p.unique)}
        return BCOO((p.data, p.coords.T.astype(width)), shape=p.shape, **known)
    p = ordered(p)
    row, column = p.coords.astype(width)
    arrays = (p.data, column, _pointers(row, p.shape[0]))
    return BCSR(arrays, shape=p.shape, indices_sorted=True, unique_indices=bool(p.unique))


def with_data(s: Container, data: Array, *, canonical: bool = False) -> Container:
    """A container with the same indices and other data."""
    is_sorted, is_unique = s.indices_sorted or canonical, s.unique_indices or canonical
    known = {"shape": s.shape, "indices_sorted": is_sorted, "unique_indices": is_unique}
    return BCSR((data, s.indices, s.indptr), **known) if isinstance(s, BCSR) else BCOO((data, s.indices), **known)


def _pointers(row: Array, rows: int) -> Array:
    """The index pointers for the sorted rows of the entries."""
    # The count of each row, one place later; the running sum is the pointers. Padding has row == rows, one place
    # beyond, and is dropped.
    return jnp.cumsum(jnp.zeros(rows + 1, row.dtype).at[row + 1].add(1, mode="drop"), dtype=row.dtype)


def ordered(p: Parts) -> Parts:
    """The entries sorted by their coords."""
    if p.sorted:
        return p
    # The last key is the primary one. Padding has the largest coordinates, so it comes last.
    order = jnp.lexsort(p.coords[::-1])
    return p._replace(coords=p.coords[:, order], data=p.data[order], sorted=True)


def canonical(p: Parts) -> Parts:
    """The canonical format: sorted entries, with duplicates summed (bools combined by logical or)."""
    p = ordered(p)
    if p.unique:
        return p
    count = p.data.shape[0]
    # An entry that differs from the one before begins a group; the running count numbers the groups.
    first = jnp.ones(count, bool).at[1:].set((p.coords[:, 1:] != p.coords[:, :-1]).any(axis=0))
    data = _scattered((count,), (jnp.cumsum(first) - 1,), p.data)
    # As many places as entries, because shapes must not depend on values: the other places are padding.
    (positions,) = jnp.nonzero(first, size=count, fill_value=count)
    return p._replace(coords=_picked(p, positions), data=data, unique=True)


def _picked(p: Parts, positions: Array) -> Array:
    """The coords of the entries at some positions; positions beyond the last entry give padding."""
    picked = [x.at[positions].get(mode="fill", fill_value=n) for x, n in zip(p.coords, p.shape, strict=True)]
    return jnp.stack(picked)


def _gathered(x: Array, positions: tuple[Array, ...]) -> Array:
    """The elements (or rows) of x at the given indices; zeros for padding."""
    axes = len(positions)
    # JAX cannot gather from an empty array.
    if 0 in x.shape[:axes]:
        return jnp.zeros((*positions[0].shape, *x.shape[axes:]), x.dtype)
    return x.at[positions].get(mode="fill", fill_value=0)


def _scattered(shape: Shape, positions: tuple[Array, ...], values: Array) -> Array:
    """Add the values to zeros at the given indices, narrow floats in float32; bools are combined by logical or."""
    if values.dtype == bool:
        return jnp.zeros(shape, bool).at[positions].max(values, mode="drop")
    wide = values.dtype
    if jnp.issubdtype(wide, jnp.floating) and wide.itemsize < 4:
        wide = jnp.dtype(jnp.float32)
    return jnp.zeros(shape, wide).at[positions].add(values.astype(wide), mode="drop").astype(values.dtype)


@partial(_jit, static_argnames=("format", "shape", "canonical"))
def is_sound(indices: dict[str, Array], format: str, shape: Shape, canonical: bool) -> Array:
    """Whether the indices of parts are valid; padding is allowed."""
    return is_sound_anywhere(jnp, Parts(format, shape, None, **indices), canonical=canonical, pads=True)


@partial(_jit, static_argnames=("format", "where", "size", "index"))
def from_dense(x: Array, mask: Array | None, format: str, where: Any, size: int, index: str | None) -> Container:
    """A container with ``size`` entries of x; further entries are dropped."""
    # One vector of flat indices, in C order, so the entries are sorted.
    flat, *_ = jnp.nonzero(kept(x, where if mask is None else mask).reshape(-1), size=size, fill_value=x.size)
    inside = flat < x.size
    positions = jnp.unravel_index(flat, x.shape)
    width = _available(index_dtype(*x.shape, size) if index is None else jnp.dtype(index))
    coords = [
        jnp.where(inside, position, extent).astype(width) for position, extent in zip(positions, x.shape, strict=True)
    ]
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
    # JAX wraps numbers beyond the limits, and the absolute value of the minimum, so the bounds are clipped and both
    # sides compared.
    limits = iinfo(x.dtype)
    highest, lowest = math.floor(min(where, limits.max)), -math.floor(min(where, -limits.min))
    return (x > jnp.asarray(highest, x.dtype)) | (x < jnp.asarray(lowest, x.dtype))


@_jit
def to_dense(s: Container) -> Array:
    """A dense array with the entries added to zeros."""
    p = entries(s)
    return _scattered(p.shape, tuple(p.coords), p.data)


@partial(_jit, static_argnames="format")
def convert(s: Container, format: str) -> Container:
    """The container in another format, always canonical."""
    return container(canonical(entries(s)), format)


@_jit
def transpose(s: Container) -> Container:
    """Swap the coords. A csr result is sorted again, because JAX does not transpose csr."""
    return container(_transposed(entries(s)), format_of(s))


def _transposed(p: Parts) -> Parts:
    return p._replace(coords=p.coords[::-1], shape=p.shape[::-1], sorted=False)


@_jit
def add(a: Container, b: Container) -> Container:
    """Concatenate the entries of both containers and sum duplicates."""
    first, second = entries(a), entries(b)
    coords, data = jnp.concatenate([first.coords, second.coords], axis=1), jnp.concatenate([first.data, second.data])
    return _canonical_container(Parts("coo", a.shape, data, coords=coords, sorted=False, unique=False), format_of(a))


def _canonical_container(p: Parts, format: str) -> Container:
    """A canonical container, with at most as many entries as the matrix has elements."""
    p, count = canonical(p), math.prod(p.shape)
    return container(p._replace(coords=p.coords[:, :count], data=p.data[:count]), format)


@_jit
def multiply(a: Container, b: Any) -> Container:
    """The product of two containers at their common entries, or of the entries of a with a dense array or a scalar."""
    p = entries(a)
    if isinstance(b, (BCOO, BCSR)):
        return container(_intersection(canonical(p), canonical(entries(b))), format_of(a))
    if jnp.ndim(b):
        b = b.reshape((1,) * (2 - b.ndim) + b.shape)
        positions = [
            # An axis of extent 1 broadcasts: any coordinate reads element 0. Padding keeps its coordinate, so the
            # gather gives 0.
            jnp.where(x < n, 0, x) if m == 1 else x
            for x, n, m in zip(p.coords, p.shape, b.shape, strict=True)
        ]
        b = _gathered(b, tuple(positions))
    return with_data(a, p.data * b)


@_jit
def scale(s: Container, rows: Array | None, columns: Array | None) -> Container:
    """The values of a canonical container times the factors of their rows and columns."""
    data = s.data
    for position, factors in zip(entries(s).coords, (rows, columns), strict=True):
        data = data if factors is None else data * _gathered(factors, (position,))
    return with_data(s, data, canonical=True)


def _intersection(a: Parts, b: Parts) -> Parts:
    """The products at common entries: after a joint sort, the two entries are adjacent, the entry of a first."""
    coords, dtype = jnp.concatenate([a.coords, b.coords], axis=1), jnp.result_type(a.data, b.data)
    data = jnp.concatenate([a.data.astype(dtype), b.data.astype(dtype)])
    both = ordered(Parts("coo", a.shape, data, coords=coords, sorted=False))
    # Neither operand has duplicates, so equal neighbours are one entry of each. Padding is equal to padding, and is
    # left out.
    paired = (both.coords[:, 1:] == both.coords[:, :-1]).all(axis=0) & (both.coords[0, 1:] < a.shape[0])
    (positions,) = jnp.nonzero(paired, size=min(a.data.size, b.data.size), fill_value=data.size)
    product = _gathered(both.data, (positions,)) * _gathered(both.data, (positions + 1,))
    return both._replace(coords=_picked(both, positions), data=product, unique=True)


@partial(_jit, static_argnames="axis")
def sum(s: Container, axis: int | None) -> Array:
    """The sum along one axis or all; duplicate bools count once."""
    p = entries(s)
    p = canonical(p) if p.data.dtype == bool else p
    dtype = jnp.sum(p.data).dtype
    with jax.enable_x64(True):
        data = p.data.astype(DOUBLE.get(dtype.name, dtype))
        if axis is None:
            # The data of padding may be anything.
            return jnp.sum(data, where=p.coords[0] < p.shape[0]).astype(dtype)
        return _scattered((p.shape[1 - axis],), (p.coords[1 - axis],), data).astype(dtype)


@_jit
def sddmm(a: Array, b: Array, pattern: Container) -> Container:
    """The product sampled in batches, so that the gathered rows and columns stay small; gradients gather them again.

    The pattern is made canonical first, so that each element is computed once.
    """
    p, b_transposed = canonical(entries(pattern)), b.T

    @jax.checkpoint
    def sampled(coords: Array) -> Array:
        row, column = coords
        return einsum("k,k->", _gathered(a, (row,)), _gathered(b_transposed, (column,)))

    data = jax.lax.map(sampled, p.coords.T, batch_size=max(SAMPLED // max(a.shape[1], 1), 1))
    return container(p._replace(data=data), format_of(pattern))


@_jit
def matmul(a: Container | Array, b: Container | Array) -> Container | Array:
    """The matrix product. Two containers are multiplied by a comparison of all pairs of entries."""
    if not isinstance(a, (BCOO, BCSR)):
        p = entries(b)
        return _gather_scatter_product(p.shape[1], p.coords[::-1], p.data, a.T).T
    if not isinstance(b, (BCOO, BCSR)):
        return _dense_product(a, b)
    p, q = entries(a), entries(b)
    # Every pair of entries: the number of products must not depend on values. Pairs that do not match become padding,
    # and are cut off after the sort.
    match = (p.coords[1][:, None] == q.coords[0]) & (p.coords[1][:, None] < a.shape[1])
    shape = a.shape[0], b.shape[1]
    given = zip((p.coords[0][:, None], q.coords[1]), shape, strict=True)
    coords = jnp.stack([jnp.where(match, x, extent).reshape(-1) for x, extent in given])
    data = (p.data[:, None] * q.data).reshape(-1)
    return _canonical_container(Parts("coo", shape, data, coords=coords, sorted=False, unique=False), format_of(a))


def _dense_product(s: Container, b: Array) -> Array:
    """The product with a dense array; as CSR if the entries need not be sorted for it."""
    dtype = jnp.result_type(s.data, b)
    # The product needs entries sorted by row, and is not worth a sort.
    if dtype not in COMPILED or not (isinstance(s, BCSR) or s.indices_sorted):
        p = entries(s)
        return _gather_scatter_product(p.shape[0], p.coords, p.data, b)
    return _compressed(s.shape, *_rows_of(s), s.data.astype(dtype), b.astype(dtype))


def _rows_of(s: Container) -> tuple[Array, Array]:
    """The column indices and index pointers of a container with sorted rows."""
    if isinstance(s, BCSR):
        return s.indices.astype(_width(s)), s.indptr.astype(_width(s))
    row, indices = entries(s).coords
    return indices, _pointers(row, s.shape[0])


@_jit
def cusparse(a: Container | Array, b: Container | Array) -> Array:
    """The product of a container and a dense array by JAX's functions that call cuSPARSE on a GPU.

    This has not been run on a GPU yet; on a CPU JAX uses other kernels. ``jax.vmap`` cannot batch these functions.
    """
    if not isinstance(a, (BCOO, BCSR)):
        return _by_csr(b, a.T, transpose=True).T
    return _by_csr(a, b, transpose=False)


def _by_csr(s: Container, dense: Array, *, transpose: bool) -> Array:
    dtype = jnp.result_type(s.data, dense)
    indices, indptr, data = _bounded_rows(s.shape, *_rows_of(s), s.data.astype(dtype))
    product = csr_matvec if dense.ndim == 1 else csr_matmat
    rows = CSR((data, indices, indptr), shape=s.shape)  # type: ignore[no-untyped-call]
    return product(rows, dense.astype(dtype), transpose=transpose)


def _gather_scatter_product(rows: int, coords: Array, data: Array, b: Array) -> Array:
    """The product by a gather of rows of b and a scatter to the rows of the result."""
    terms = data.reshape(-1, *(1,) * (b.ndim - 1)) * _gathered(b, (coords[1],))
    return _scattered((rows, *b.shape[1:]), (coords[0],), terms)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _compressed(shape: Shape, indices: Array, indptr: Array, data: Array, b: Array) -> Array:
    """JAX's CSR product with our derivative: JAX's gradient for the data would compute a dense product."""
    indices, indptr, data = _bounded_rows(shape, indices, indptr, data)
    return _precise(lambda: BCSR((data, indices, indptr), shape=shape) @ b)()


def _bounded_rows(shape: Shape, indices: Array, indptr: Array, data: Array) -> tuple[Array, Array, Array]:
    """CSR arrays without indices out of bounds. Traced indices are not checked, and padding has indices out of bounds.

    The data after the last row are zero, because cuSPARSE reads them too.
    """
    # Pointers that fall or exceed the entries would lead a native kernel out of bounds: made monotone, from 0 to the
    # number of entries at most.
    indptr = jnp.clip(jax.lax.cummax(indptr.at[:1].set(0)), 0, indices.size)
    inside = (indices >= 0) & (indices < shape[1]) & (jnp.arange(indices.size, dtype=indptr.dtype) < indptr[-1])
    return jnp.where(inside, indices, 0), indptr, jnp.where(inside, data, 0)


@partial(_compressed.defjvp, symbolic_zeros=True)
def _compressed_jvp(shape: Shape, primals: Any, tangents: Any) -> tuple[Array, Array]:
    indices, indptr, data, b = primals
    *_, data_dot, b_dot = tangents
    coords = jnp.stack([_rows(indptr, indices.size), indices])
    pairs = [(data_dot, b), (data, b_dot)]
    terms = [
        _gather_scatter_product(shape[0], coords, *pair)
        for pair in pairs
        # The product rule, without the terms whose tangent is known to be 0: no product with the dense operand is
        # computed for them.
        if not any(isinstance(x, SymbolicZero) for x in pair)
    ]
    return _compressed(shape, *primals), jnp.stack(terms).sum(axis=0)
