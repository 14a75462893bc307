"""Factorisations of tall matrices that are split along their rows: https://arxiv.org/abs/0808.2664.

Each device factorises its rows, gathers the small factors R of all, and factorises these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.costs import is_tall, tall
from xarrayops.plugin.host import finfo
from xarrayops.plugin.sharding import Cost, described
from xarrayops_backends.jax._sharded.shards import Names, Parts, Plan, lax, names, of_shards, shards_of
from xarrayops_backends.jax._standard.linalg import _precise


def _factors(names: Names, x: Array) -> tuple[Array, Array]:
    """The rows of Q, and R."""
    q, r = jnp.linalg.qr(x)
    n = r.shape[0]
    second, r = jnp.linalg.qr(lax.all_gather(r, names, tiled=True))
    return jnp.matmul(q, lax.dynamic_slice_in_dim(second, lax.axis_index(names) * n, n)), r


@_precise
def _qr(names: Names, x: Array) -> tuple[Array, Array]:
    """The diagonal of R is not negative, so that the factors do not depend on the number of shards."""
    q, r = _factors(names, x)
    signs = jnp.where(jnp.diagonal(r).real < 0, -1, 1).astype(r.dtype)
    return q * signs, r * signs[:, None]


@_precise
def _svd(names: Names, x: Array) -> tuple[Array, Array, Array]:
    q, u, values, vh = _value_factors(names, x)
    return jnp.matmul(q, u), values, vh


def _value_factors(names: Names, x: Array) -> tuple[Array, Array, Array, Array]:
    """The rows of Q, and the singular value decomposition of R."""
    q, r = _factors(names, x)
    return (q, *jnp.linalg.svd(r, full_matrices=False))


def _svdvals(names: Names, x: Array) -> Array:
    r = lax.all_gather(jnp.linalg.qr(x, mode="r"), names, tiled=True)
    return jnp.linalg.svdvals(jnp.linalg.qr(r, mode="r"))


@_precise
def _pinv(names: Names, x: Array, rtol: Array) -> Array:
    """The columns of the pseudo-inverse."""
    q, u, values, vh = _value_factors(names, x)
    inverse, _ = _inverse(values, rtol)
    small = jnp.matmul(vh.conj().T * inverse.astype(x.dtype), u.conj().T)
    return jnp.matmul(small, q.conj().T)


@_precise
def _least_squares(names: Names, x1: Array, x2: Array, rtol: Array) -> tuple[Array, Array, Array, Array]:
    """The solution, the residuals, the rank and the singular values."""
    right = x2 if x2.ndim > 1 else x2[:, None]
    q, u, values, vh = _value_factors(names, x1)
    inverse, is_kept = _inverse(values, rtol)
    projected = jnp.matmul(u.conj().T, lax.psum(jnp.matmul(q.conj().T, right), names))
    solution = jnp.matmul(vh.conj().T, inverse.astype(x1.dtype)[:, None] * projected)
    errors = jnp.abs(right - jnp.matmul(x1, solution))
    residuals = lax.psum(jnp.sum(errors * errors, axis=0), names)
    return solution.reshape(x1.shape[1:] + x2.shape[1:]), residuals, jnp.count_nonzero(is_kept), values


def _inverse(values: Array, rtol: Array) -> tuple[Array, Array]:
    """The inverse singular values, and whether they are kept: 0 for those that count as 0."""
    is_kept = values > rtol * values[:1]
    return jnp.where(is_kept, 1 / jnp.where(is_kept, values, 1), 0), is_kept


def _plan(
    function: Any, x: Array, made: Callable[[Names], Any], others: Any = tuple, more: Any = (0, 0), verb: str = ""
) -> Plan | None:
    """The plan of a function of a tall matrix.

    ``made`` gives the parts of the results, and ``others`` more arguments: arrays that are split like x, or numbers.
    ``more`` is what is moved and held besides the factors. The results have the class of those of a verb.
    """
    split = shards_of(x)
    if split is None or not is_tall(split) or x.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        return None
    rows = names(split, (0,))
    parts: Any = made(rows)
    cost: Any = tall({"x": split})
    first = parts if isinstance(parts, Parts) else parts[0]

    def run() -> Any:
        arrays = x, *others()
        given = tuple(Parts(rows) if array.ndim else Parts() for array in arrays)
        found = of_shards(function, (rows,), given, parts, *arrays)
        return _class_of(verb)(*found) if verb else found

    moves, holds = more
    return Plan(run, Cost(cost.moves + moves, cost.holds + split.shard_bytes + holds, described("jax", first)))


@cache
def _class_of(verb: str) -> Any:
    return type(jax.eval_shape(getattr(jnp.linalg, verb), jnp.empty((1, 1))))


def qr(x: Array, /, *, mode: str = "reduced") -> Plan | None:
    return _plan(_qr, x, lambda rows: (Parts(rows, None), Parts()), verb="qr") if mode == "reduced" else None


def svd(x: Array, /, *, full_matrices: bool = True) -> Plan | None:
    return None if full_matrices else _plan(_svd, x, lambda rows: (Parts(rows, None), Parts(), Parts()), verb="svd")


def svdvals(x: Array, /) -> Plan | None:
    return _plan(_svdvals, x, lambda rows: Parts())


def pinv(x: Array, /, *, rtol: Any = None) -> Plan | None:
    return None if np.ndim(rtol) else _plan(_pinv, x, lambda rows: Parts(None, rows), lambda: (_tolerance(x, rtol),))


def lstsq(x1: Array, x2: Array, /, *, rtol: float | None = None) -> Plan | None:
    left, right, columns = shards_of(x1), shards_of(x2), math.prod(x2.shape[1:])
    if x1.ndim != 2 or x2.ndim not in (1, 2) or x1.dtype != x2.dtype or x1.shape[0] != x2.shape[0]:
        return None
    if left and right and (right.mesh, names(right)) != (left.mesh, names(left, (0,))):
        return None
    moves = columns * (x1.shape[1] * x1.dtype.itemsize + x1.real.dtype.itemsize)
    more = moves, 4 * moves + 4 * x2.nbytes
    return _plan(_least_squares, x1, lambda rows: (Parts(),) * 4, lambda: (x2, _tolerance(x1, rtol)), more)


def _tolerance(x: Array, rtol: Any) -> Array:
    """The given tolerance, or the default one of the standard."""
    return jnp.asarray(max(x.shape) * finfo(x.dtype).eps if rtol is None else rtol, x.real.dtype)
