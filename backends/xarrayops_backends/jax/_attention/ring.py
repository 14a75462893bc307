"""Attention of arrays that are split over a mesh: each device has some batch rows, heads and queries.

If keys are split too, their shards go around a ring of devices. A device holds two shards at a time: it computes the
attention of its queries to one, while it receives the next. Partial results are merged by their logsumexp. The gradient
goes around the ring again, with the gradients of the keys and values that a shard has so far. See Liu, Zaharia and
Abbeel 2023, https://arxiv.org/abs/2310.01889.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Attention, Call
from xarrayops.plugin.backends import limited
from xarrayops.plugin.sharding import Cost, described, names, shardings
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._attention.blocks import attended, plain
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._devices import _has_one_device, _platform_of, is_lazy as _is_lazy

_jax: Any = jax  # untyped: JAX does not annotate these functions
Names = tuple[str, ...]
State = tuple[Array, Array]
"""The attention to some keys, and its logsumexp."""
Operands = tuple[Array, Array, Array, Array | None]
"""Queries, keys, values and the bias: the arrays that have gradients."""


class Places(NamedTuple):
    """The axes of a mesh, or of its sizes, over which batch rows, heads, queries and keys are split."""

    mesh: Any
    rows: Names
    heads: Names
    queries: Names
    keys: Names

    def count(self, axes: Names) -> int:
        """The number of shards."""
        sizes = getattr(self.mesh, "shape", self.mesh)
        return math.prod(sizes[name] for name in axes)

    def spec(self, name: str, x: Array) -> Any:
        """The axes over which a field of `Attention` is split. An axis of extent 1 broadcasts."""
        along = {"q": self.queries, "k": self.keys, "v": self.keys}.get(name, self.queries)
        axes = (self.rows, self.heads, along)[: x.ndim]
        return _jax.P(*(each if each and n > 1 else None for each, n in zip(axes, x.shape, strict=False)))


def places_of(a: Attention, place_of: Callable[[Any], Any] = _shards.known_place) -> Places | None:
    """Where the arrays of a call are split; None if they are on one device, or if XLA decides it later.

    Keys take their queries along: an axis of the mesh that splits keys splits queries too, which moves nothing.
    """
    found = [place_of(x) for x in (a.q, a.k, a.v)]
    mesh = next((place.mesh for place in found if place is not None), None)
    if mesh is None:
        return None
    q, k, v = ([names(axis) for axis in (*(place.spec if place else ()), *(None,) * 4)[:4]] for place in found)
    keys = k[2] or v[2]
    queries = (*q[2], *(name for name in keys if name not in q[2]))
    places = Places(mesh, q[0] or k[0], q[1] or k[1], queries, keys)
    if a.k.shape[1] > 1 and a.k.shape[1] % places.count(places.heads):
        places = places._replace(heads=())  # query heads that share a key head are on several devices
    return places


def ring_refusal(call: Call, /) -> str | None:
    """Refuse arrays on one device. For arrays that are split in another way, raise what to do."""
    if _has_one_device() and not _is_lazy(call.args[0].q):
        return _ON_ONE
    (a,) = call.args
    places = places_of(a)
    if places is None:
        return _ON_ONE
    shared = [name for name, n in Counter((*places.rows, *places.heads, *places.queries)).items() if n > 1]
    if shared:
        raise Unsupported(
            f"q, k and v are split over the axis {shared[0]!r} of the mesh along different axes. Instead: "
            "xo.shard(k, xo.sharding_of(q).spec, like=q), and the same for v"
        )
    if a.q.shape[2] % places.count(places.queries):
        raise Unsupported(
            f"keys are split over {places.count(places.queries)} devices, which do not divide {a.q.shape[2]} queries. "
            "Instead: xo.shard(k, None) and xo.shard(v, None), or other numbers of queries with xo.pad"
        )
    for name in ("mask", "bias") if places.keys else ():
        x = getattr(a, name)
        place = None if x is None else _shards.known_place(x)
        if place is not None and len(place.spec) > 3 and place.spec[3] is not None:
            raise Unsupported(
                f"each device needs the {name} of all keys, but it is split along them. Instead: "
                f"xo.shard({name}, None), or a spec that splits it along queries"
            )
    return None


_ON_ONE = "the arrays are not split over devices, or XLA decides it later"


def keys_are_split(a: Attention) -> bool:
    """Whether keys are known to be split."""
    places = places_of(a)
    return places is not None and bool(places.keys)


def _ring(a: Attention, /) -> State:
    """Attention of split arrays."""
    places = places_of(a)
    assert places is not None, "the refusal requires it"
    with jax.numpy_rank_promotion("allow"):
        return _split(plain(a), places=places, platform=_platform_of(a.q))


def _cost(given: Mapping[str, Any]) -> Cost:
    """All other shards of keys and values move. A device holds two pairs of shards, and a partial result at a time."""
    a: Attention = given["a"]
    places = places_of(a, lambda x: x if x.spec else None)
    assert places is not None, "an array is split"
    (batch, heads, queries, size), others = a.q.shape, [x for _, x in shardings({"a": a[3:]})]
    rows = batch * heads * queries // places.count((*places.rows, *places.heads, *places.queries))
    pair = a.k.shard_bytes + a.v.shard_bytes
    moves = (places.count(places.keys) - 1) * pair
    holds = (
        rows * (size * a.q.itemsize + 4 * (a.v.shape[3] + 1) * max(a.q.itemsize, 4))
        + 2 * pair
        + sum(x.shard_bytes or 0 for x in others)
    )
    spec = (places.rows or None, places.heads or None, places.queries or None, None)
    return Cost(moves, holds, described("jax", spec))


ring = limited("attention", _ring, _cost, may_be_split=lambda a: not _is_lazy(a.q))


@partial(_jit, static_argnames=("places", "platform"))
def _split(a: Attention, places: Places, platform: str | None) -> State:
    given = {name: jnp.asarray(x) for name, x in a._asdict().items() if x is not None}
    specs = {name: places.spec(name, x) for name, x in given.items()}
    if _shards.has_explicit_axes(NamedSharding(places.mesh, _jax.P())):
        given = {name: _jax.reshard(x, NamedSharding(places.mesh, specs[name])) for name, x in given.items()}
    out = places.spec("q", a.q)

    def local(given: dict[str, Array]) -> State:
        part = a._replace(**given)
        attend = partial(attended, platform=platform, is_split=False)
        part = _from(part, _first(places.queries, part.q), 0)
        if not places.keys:
            return attend(part)
        wide = part._replace(q=part.q.astype(jnp.promote_types(part.q.dtype, jnp.float32)))
        operands = wide.q, wide.k, wide.v, wide.bias
        total, lse = _ringed(_Ring(attend, places.keys, places.count(places.keys)), operands, wide)
        return total.astype(part.q.dtype), lse

    split = _jax.shard_map(local, mesh=places.mesh, in_specs=(specs,), out_specs=(out, out), check_vma=False)
    return split(given)


def _first(axes: Names, x: Array) -> Any:
    """The position of the first element of a shard along the sequence."""
    return jax.lax.axis_index(axes) * x.shape[2] if axes else 0


def _from(a: Attention, queries: Any, keys: Any) -> Attention:
    """The call of shards of queries and keys that start at these positions."""
    shifts = {"left": keys - queries, "right": queries - keys, "q_lengths": -queries, "kv_lengths": -keys}
    return a._replace(**{name: x + by for name, by in shifts.items() if (x := getattr(a, name)) is not None})


class _Ring(NamedTuple):
    """The function that computes the attention of a shard, and the devices of the ring."""

    attend: Callable[[Attention], State]
    axes: Names
    size: int

    def passed_on(self, arrays: Any) -> Any:
        """The arrays of the device before this one in the ring."""
        return jax.lax.ppermute(arrays, self.axes, [(n, (n + 1) % self.size) for n in range(self.size)])  # type: ignore[no-untyped-call]

    def start(self, k: Array, step: Any) -> Any:
        """The position of the first of the keys that are here after so many steps."""
        return (jax.lax.axis_index(self.axes) - step) % self.size * k.shape[2]

    def visited(self, a: Attention, start: Any, q: Array, k: Array, v: Array, bias: Array | None) -> State:
        """The attention to the keys that start at a position, with their columns of the bias."""
        part = _from(a._replace(q=q, k=k, v=v, bias=bias), 0, start)
        return self.attend(part._replace(mask=_columns(a.mask, start, k.shape[2])))


def _columns(x: Array | None, start: Any, extent: int) -> Array | None:
    """The part of a mask or bias for some keys."""
    return x if x is None or x.shape[3] == 1 else jax.lax.dynamic_slice_in_dim(x, start, extent, 3)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _ringed(ring: _Ring, operands: Operands, a: Attention) -> State:
    q, k, v, bias = operands

    def visit(found: State, k: Array, v: Array, n: Any) -> State:
        start = ring.start(k, n)
        return _merged(found, ring.visited(a, start, q, k, v, _columns(bias, start, k.shape[2])))

    def step(state: tuple[Array, Array, State], n: Array) -> tuple[tuple[Array, Array, State], None]:
        k, v, found = state
        coming = ring.passed_on((k, v))
        return (*coming, visit(found, k, v, n)), None

    nothing = jnp.zeros((*q.shape[:3], v.shape[3]), q.dtype), jnp.full(q.shape[:3], -jnp.inf, q.dtype)
    (k, v, found), _ = jax.lax.scan(step, (k, v, nothing), jnp.arange(ring.size - 1))
    return visit(found, k, v, ring.size - 1)


def _merged(one: State, other: State) -> State:
    """The attention to two sets of keys: the mean of the results, with the weights exp(logsumexp)."""
    lse = jnp.logaddexp(one[1], other[1])
    return one[0] * _weight(one[1], lse) + other[0] * _weight(other[1], lse), lse


def _weight(part: Array, whole: Array) -> Array:
    """The weight of some keys among all; 0 for queries that see none."""
    return jnp.exp(part - jnp.where(whole == -jnp.inf, 0, whole))[..., None]


def _forward(ring: _Ring, operands: Operands, a: Attention) -> tuple[State, Any]:
    found = _ringed(ring, operands, a)
    return found, (operands, a, found)


def _backward(ring: _Ring, kept: Any, cotangents: State) -> tuple[Operands, None]:
    """The gradients of the operands.

    ``out`` is the mean of the results ``out_b`` of the shards of keys, with the weights ``w_b = exp(lse_b - lse)``. So
    the cotangent of ``out_b`` is ``w_b d_out``, and that of ``lse_b`` is ``w_b (d_out · (out_b - out) + d_lse)``.
    """
    (q, k, v, bias), a, (out, lse) = kept
    d_out, d_lse = cotangents

    def visit(sums: Any, k: Array, v: Array, n: Any) -> Any:
        d_q, d_k, d_v, d_bias = sums
        start = ring.start(k, n)
        columns = _columns(bias, start, k.shape[2])
        (part, part_lse), pull = jax.vjp(partial(ring.visited, a, start), q, k, v, columns)
        weight = _weight(part_lse, lse)
        along = (d_out * (part - out)).sum(-1) + d_lse
        found = pull((weight * d_out, weight[..., 0] * along))
        if bias is not None:
            d_bias = _added(d_bias, found[3], start)
        return d_q + found[0], d_k + found[1], d_v + found[2], d_bias

    def step(state: Any, n: Array) -> tuple[Any, None]:
        k, v, sums = state
        coming = ring.passed_on((k, v))
        d_q, d_k, d_v, d_bias = visit(sums, k, v, n)
        d_k, d_v = ring.passed_on((d_k, d_v))
        return (*coming, (d_q, d_k, d_v, d_bias)), None

    zeros = [None if x is None else jnp.zeros(x.shape, q.dtype) for x in (q, k, v, bias)]
    (k, v, sums), _ = jax.lax.scan(step, (k, v, tuple(zeros)), jnp.arange(ring.size - 1))
    d_q, d_k, d_v, d_bias = visit(sums, k, v, ring.size - 1)
    d_k, d_v = ring.passed_on((d_k, d_v))
    return (d_q, d_k.astype(k.dtype), d_v.astype(v.dtype), None if bias is None else d_bias.astype(bias.dtype)), None


def _added(total: Array, part: Array, start: Any) -> Array:
    """The gradient of a bias and that of its columns for some keys."""
    if total.shape[3] == 1:
        return total + part
    before = jax.lax.dynamic_slice_in_dim(total, start, part.shape[3], 3)
    return jax.lax.dynamic_update_slice_in_dim(total, before + part, start, 3)


_ringed.defvjp(_forward, _backward)
