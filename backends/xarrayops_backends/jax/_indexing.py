"""``xo.at`` on JAX: indexed elements, and updates of them. JAX arrays are immutable, so each gives a new array."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Index, Selection
from xarrayops.plugin.indexing import UFUNCS
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._standard.creation import asarray

_COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "set": lambda x, value: value,
    **{op: getattr(jnp, name) for op, name in UFUNCS.items()},
}


def update(x: Array, index: Index, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Update by x.at[index], or by a selection if the index is a traced mask."""
    if copy is False:
        raise Unsupported("JAX arrays are immutable. Instead: copy=None or copy=True, and use the result")
    selection = index.selection(x.shape)  # it raises for indices out of bounds, which JAX drops
    is_whole = op != "set" and index.is_basic and all(entry is ... or entry == slice(None) for entry in index.entries)
    if is_whole and type(value) is float and x.dtype.itemsize >= 4:
        return _whole(op, x, value)  # an array of the number takes as long as the update
    value = asarray(value, dtype=x.dtype)
    padded = selection.padded(value.shape)
    if value.ndim > len(padded):
        value = value.reshape(padded)
    if is_whole:
        return _whole(op, x, value)
    if _is_traced(index, selection) or _is_split_mask(index, selection, value):
        return _where(x, index, selection, op, value)
    is_unique = not selection.arrays or index.lone_mask(selection) is not None
    if op != "set" and not is_unique and (op not in ("add", "subtract") or x.dtype == bool):
        return _scattered(x, index, selection, op, value)
    if _is_native(index, selection):
        return _updated(x, index.entries, op, value, is_unique)
    old = x[selection.basic].transpose(selection.order)
    value = index.arranged(selection, value)
    return _replaced(x, selection, _updated(old, index.integers(selection), op, value, is_unique))


def select(x: Array, index: Index, /, *, copy: bool | None) -> Array:
    """x[index]. Arrays are immutable, so a view of x would be the same as a copy."""
    if copy is False:
        raise Unsupported("JAX arrays have no views. Instead: copy=None or copy=True")
    selection = index.selection(x.shape)
    if _is_traced(index, selection):
        raise Unsupported(
            "under jax.jit, the number of elements that a mask selects is unknown. Instead: xo.where(mask, x, 0), or "
            "an array of indices"
        )
    if _is_native(index, selection):
        return x[index.entries]
    return index.restored(selection, x[selection.basic].transpose(selection.order)[index.integers(selection)])


def _updated(x: Array, key: Any, op: str, value: Array, is_unique: bool) -> Array:
    """An update by JAX. Gradients of products, minima and maxima require an index without duplicates."""
    if is_unique:
        return x.at[key].set(_COMBINE[op](x[key], value))
    return x.at[key].add(-value) if op == "subtract" else getattr(x.at[key], op)(value)


@partial(_jit, static_argnums=0)
def _whole(op: str, x: Array, value: Array) -> Array:
    """An update of all elements, compiled as a whole: an assignment to an index takes 4 to 8 times as long."""
    return jnp.broadcast_to(_COMBINE[op](x, value), x.shape)


def _is_native(index: Index, selection: Selection) -> bool:
    """Whether JAX reads an index as NumPy does: not a mask with other arrays, nor a mask without axes."""
    masks = [a for a in index.entries if hasattr(a, "dtype") and index.is_mask(a)]
    return not masks or (len(selection.arrays) == 1 and masks[0].ndim > 0)


def _is_traced(index: Index, selection: Selection) -> bool:
    """Whether the index has a traced mask, whose number of True elements is unknown."""
    return any(isinstance(a, jax.core.Tracer) and index.is_mask(a) for a in selection.arrays)


def _is_split_mask(index: Index, selection: Selection, value: Array) -> bool:
    """Whether the index is a mask on several devices, where JAX would read it, and each element gets the same value."""
    mask = index.lone_mask(selection)
    return _shards.is_split(mask) and index.arranged(selection, value).shape[0] == 1


def _where(x: Array, index: Index, selection: Selection, op: str, value: Array) -> Array:
    """``x[mask] = value`` for a traced mask, whose number of True elements is unknown: each gets the same value."""
    mask, value = index.lone_mask(selection), index.arranged(selection, value)
    if mask is None or value.shape[0] != 1:
        raise Unsupported(
            f"under jax.jit, values of shape {value.shape} cannot be assigned to the True elements of a mask, because "
            "their number is unknown. Instead: xo.where(mask, values, x) with values that broadcast against x"
        )
    old = x[selection.basic].transpose(selection.order)
    mask = mask.reshape(*mask.shape, *(1,) * len(selection.rest))
    return _replaced(x, selection, jnp.where(mask, _COMBINE[op](old, value[0]), old))


def _scattered(x: Array, index: Index, selection: Selection, op: str, value: Array) -> Array:
    """An update by arrays of integers; duplicates accumulate."""
    old = x[selection.basic].transpose(selection.order)
    arrays = index.integers(selection)
    positions = jnp.zeros((), dtype=int)
    for extent, array in zip(old.shape, arrays, strict=False):
        positions = positions * extent + jnp.where(array < 0, array + extent, array)
    rest = selection.rest
    values = jnp.broadcast_to(index.arranged(selection, value), (*positions.shape, *rest))
    flat = old.reshape(math.prod(old.shape[: len(arrays)]), *rest)
    new = _accumulated(op, flat, positions.reshape(-1), values.reshape(positions.size, *rest))
    return _replaced(x, selection, new.reshape(old.shape))


def _replaced(x: Array, selection: Selection, new: Array) -> Array:
    """x with new values for the elements that the basic part of an index selects."""
    order = selection.order
    return x.at[selection.basic].set(new.transpose(sorted(range(len(order)), key=order.__getitem__)))


def _accumulated(op: str, flat: Array, positions: Array, values: Array) -> Array:
    """The rows of flat, combined with values; several values may belong to one row."""
    if flat.dtype == bool:
        of_bytes = {"add": "max", "multiply": "min"}.get(op, op)
        return _accumulated(of_bytes, flat.astype("uint8"), positions, values.astype("uint8")).astype(bool)
    if op == "divide":
        return _divided(flat, positions, values)
    if not jnp.issubdtype(flat.dtype, jnp.inexact):
        return getattr(flat.at[positions], op)(values)
    return _differentiable(op, flat, positions, values)


def _divided(flat: Array, positions: Array, values: Array) -> Array:
    """Rows with one value are divided by it. Rows with several are multiplied by the reciprocals in sequence.

    The product of the values could overflow where the quotients do not.
    """
    counts = jnp.zeros(flat.shape[0], dtype=int).at[positions].add(1)
    repeated = (counts > 1).reshape(-1, *(1,) * (flat.ndim - 1))
    among = repeated[positions]
    products = _accumulated("multiply", flat, positions, 1 / jnp.where(among, values, 1))
    divisors = jnp.ones_like(flat).at[positions].set(jnp.where(among, 1, values))
    return jnp.where(repeated, products, flat) / divisors


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _differentiable(op: str, flat: Array, positions: Array, values: Array) -> Array:
    """JAX's scatter, which has no derivatives for these operations unless the positions are unique."""
    return getattr(flat.at[positions], op)(values)


@_differentiable.defjvp
def _derivative(op: str, primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
    flat, positions, values = primals
    return jax.jvp(
        lambda flat, values: _by_scan(op, flat, positions, values), (flat, values), (tangents[0], tangents[2])
    )


def _by_scan(op: str, flat: Array, positions: Array, values: Array) -> Array:
    """The same update by operations that have derivatives: values of one row are combined by a segmented scan.

    Guy E. Blelloch, Prefix sums and their applications, 1990.
    """
    if positions.size == 0:
        return flat
    order = jnp.argsort(positions)
    positions, values = positions[order], values[order]
    edges = positions[1:] != positions[:-1]
    ends = jnp.ones(1, dtype=bool)

    def combined(left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
        (left_begins, x), (begins, y) = left, right
        mask = begins.reshape(-1, *(1,) * (y.ndim - 1))
        return left_begins | begins, jnp.where(mask, y, _COMBINE[op](x, y))

    _, totals = jax.lax.associative_scan(combined, (jnp.concatenate([ends, edges]), values))
    rows = jnp.where(jnp.concatenate([edges, ends]), positions, flat.shape[0])  # one past the end is dropped
    return flat.at[rows].set(_COMBINE[op](flat[positions], totals), mode="drop")
