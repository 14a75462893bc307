"""The rules of functions of Dask that differ from those of most libraries."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, prod
from operator import lt
from typing import Any

from dask import config
from dask.utils import parse_bytes

from xarrayops.plugin import costs
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.costs import OF_MATRICES, Chunks, Either, Rule, Whole, bound
from xarrayops.plugin.generic import shaping
from xarrayops.plugin.sharding import Cost, Sharding, described, is_known, of_chunks, shardings
from xarrayops_backends.dask._indexing import _keeps_chunks
from xarrayops_backends.dask._selection import SMALL


class InChunks(Record):
    """The rule of functions that gather rows that fit into a chunk, and hold some chunks in a task for longer rows.

    Complex rows are always whole.

    Attributes
    ----------
    whole : Whole
        The rule for rows that are gathered.
    chunks : float
        The chunks that a task holds: those that it takes, its results and its temporary arrays.
    """

    whole: Whole
    chunks: float

    @property
    def bound(self) -> float:
        """That of the whole rows: chunks are held where they are less."""
        return bound(self.whole)

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost of the whole rows, or of the chunks if that is less."""
        x: Sharding = given["x"]
        cost, size = self.whole(given), x.shard_bytes or 0
        limit, axes = max(size, SMALL), self.whole.axes_of("x", x, given)
        gathered = x.gathered(axes)
        if any(x.counts[axis] > 1 for axis in axes) and 0 < gathered < limit < prod(x.shape) * x.itemsize:
            times = limit / gathered  # small rows are joined up to the limit
            cost = cost._replace(moves=int(times * (cost.moves or 0)), holds=int(times * (cost.holds or 0)))
        most = int(self.chunks * limit)
        if cost.holds is None or cost.holds <= most or x.is_complex:
            return cost
        return cost._replace(moves=min(cost.moves or 0, most), holds=most)


class Quantiles(InChunks):
    """The rule of quantiles: arrays like the result are combined at the end."""

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost of the elements, or three results if more bytes of these move."""
        x, q = given["x"], given.get("q")
        count = prod(q.shard_shape) if isinstance(q, Sharding) else len(q) if isinstance(q, list) else 1
        axes = self.whole.axes_of("x", x, given)
        of_rows = 8 * count * prod(extent for i, extent in enumerate(x.shard_shape) if i not in axes)
        return at_least(super().__call__(given), moves=3 * of_rows)


class LookedUp(Whole):
    """The rule of functions that look up the elements of x in whole tables, and then combine arrays like x."""

    def __init__(self, axes: Mapping[str, str], arrays: int) -> None:
        super().__init__(axes, like="x", copies=2, item=8)
        self.arrays = arrays

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost of the whole tables, and of the arrays that move."""
        cost, x = super().__call__(given), given["x"]
        size = prod(x.shard_shape) if isinstance(x, Sharding) else 1
        return cost._replace(moves=(cost.moves or 0) + 8 * self.arrays * size)


class Bounded(Record):
    """A rule with a bound of what a task holds, in multiples of the bytes of all arguments."""

    rule: Rule
    bound: float

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost by the rule."""
        return self.rule(given)


def counting(given: Mapping[str, Any]) -> Cost:
    """Each task counts a chunk, or combines its segments. A tree adds the counts."""
    x: Sharding = given["x"]
    bins = given.get("bins", given.get("length", given.get("num_segments")))
    if bins is None:  # the call finds it in the values
        return Cost(None, None, "one chunk")
    count = bins + 1 if isinstance(bins, int) else prod(bins.shape) if isinstance(bins, Sharding) else len(bins)
    columns = x.shard_shape[1:] if "segment_ids" in given else ()
    counts = 8 * count * prod(columns)
    holds = 4 * sum(each.shard_bytes or 0 for _, each in shardings(given)) + 20 * counts
    taken = costs.all_but_largest([each.shard_bytes or 0 for _, each in shardings(given)]) + 8 * count
    moves = max(taken, costs.combined(x, range(len(x.shape) - len(columns))) * counts)
    return Cost(moves, holds, described("dask", (None, *(x.spec or ())[1:]) if columns else ()))


def composed(given: Mapping[str, Any]) -> Cost:
    """The tasks of elementwise functions that choose between two arrays."""
    cost = costs.elementwise(given)
    return cost._replace(holds=3 * (cost.holds or 0))


def triangle(given: Mapping[str, Any]) -> Cost:
    """A task takes the positions of the rows and columns of its chunk."""
    return composed(given)._replace(moves=8 * sum(given["x"].shard_shape[-2:]))


class Distinct(Whole):
    """The distinct elements of each chunk move with their places and counts."""

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost of whole arrays, with 16 more bytes for each element that moves."""
        cost, least = super().__call__(given), min((x.itemsize for _, x in shardings(given)), default=0)
        return cost._replace(moves=(cost.moves or 0) * (1 + 16 // max(least, 1)))


def cumulative(given: Mapping[str, Any]) -> Cost:
    """Each chunk is summed, and the total of the chunks before it is added."""
    x: Sharding = given["x"]
    holds = 6 * max(x.shard_bytes or 0, 8 * prod(x.shard_shape))
    return Cost(costs.reduction(given).moves, holds, described("dask", x.spec or ()))


def with_factors(given: Mapping[str, Any]) -> Cost:
    """The rule of functions of tall matrices that multiply their factor Q by a small matrix, of the size of one R."""
    cost, x = costs.tall(given), given["x"]
    if not costs.is_tall(x) or given.get("full_matrices"):
        return cost
    columns, one = x.shape[1] * x.itemsize, x.shape[1] ** 2 * x.itemsize
    product = costs.all_but_largest((x.shard_bytes or 0, x.counts[0] * one, one, columns))
    return at_least(cost, moves=product)


def pseudo_inverse(given: Mapping[str, Any]) -> Cost:
    """A tall matrix is factorised, and of a wide one its transpose."""
    x: Sharding = given["x"]
    is_wide = len(x.shape) == 2 and x.shape[0] < x.shape[1]
    if is_wide:
        x = x._replace(spec=(x.spec or ())[::-1], shape=x.shape[::-1], shard_shape=x.shard_shape[::-1])
    if not costs.is_tall(x):
        return OF_MATRICES(given)
    spec = ("axis0", None) if is_wide else (None, "axis1")
    return with_factors({"x": x})._replace(sharding=described("dask", spec))


def least_squares(given: Mapping[str, Any]) -> Cost:
    """A tall matrix is factorised together with the columns of the right side."""
    x1: Sharding = given["x1"]
    x2: Sharding = given["x2"]
    if len(x1.shape) != 2:
        return OF_MATRICES(given)
    columns = x1.shape[1] + prod(x2.shape[1:])
    part, size = (x1.shard_shape[0], columns), max(x1.itemsize, x2.itemsize)
    both = x1._replace(shape=(x1.shape[0], columns), shard_shape=part, shard_bytes=prod(part) * size)
    if x1.counts[1] > 1 or not costs.is_tall(both):
        return OF_MATRICES(given)
    cost = costs.tall({"x": both})
    right = x2.gathered(range(1, len(x2.shape)))
    moves = right if x1.counts[0] == x2.counts[0] else both.shard_bytes or 0  # else the rows are cut again
    return Cost(max(cost.moves or 0, moves), (cost.holds or 0) + right, "one chunk")


def norm(given: Mapping[str, Any]) -> Cost:
    """Singular values are those of whole matrices; other norms are sums, or extrema of sums."""
    if given["ord"] in (2, -2, "nuc") and not isinstance(given.get("axis"), int) and len(given["x"].shape) > 1:
        return (Whole({"x": "axis"}, copies=3, drops=True) if "axis" in given else OF_MATRICES)(given)
    cost = costs.reduction({"axis": (-2, -1), **given})
    axes = given.get("axis")
    if given["ord"] not in (1, -1, inf, -inf) or isinstance(axes, int):
        return cost
    pair = range(len(given["x"].shape))[-2:] if axes is None else axes
    sums = (costs.reduction({**given, "axis": axis}).moves or 0 for axis in pair)
    return cost._replace(moves=max(sums, default=0))


def is_of_two(given: Mapping[str, Any]) -> bool:
    """Whether an einsum is one product of arrays, without diagonals. Of more arrays the products of two are made."""
    terms = given["subscripts"].partition("->")[0].replace(" ", "").replace("...", "").split(",")
    return len(terms) < 3 and all(len(set(term)) == len(term) for term in terms)


class Reshaped(Chunks):
    """Where the shape changes, Dask may join chunks in between."""

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost of chunks, or of those that Dask joins."""
        cost = super().__call__(given)
        has_axis = given.get("axis") is not None
        return cost if has_axis else joined(cost, *(x for _, x in shardings(given)))


class Flattened(Record):
    """The rule of functions that first bring the elements in the order of the flat index, without a given axis."""

    rule: Rule
    is_worst: bool = True

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost by the rule, or of the chunks that Dask joins."""
        cost, x = self.rule(given), given["x"]
        is_flat = given.get("axis") is not None or len(x.shape) < 2
        return cost if is_flat else joined(cost, x, item=8)


def joined(cost: Cost, *arrays: Sharding, item: int = 0) -> Cost:
    """The cost of a call that brings arrays into other chunks: Dask joins chunks up to the size of its configuration.

    A task holds the joined chunk and its pieces. Elements that have less than ``item`` bytes are converted to more.
    """
    most: int = parse_bytes(config.get("array.chunk-size"))
    sizes = ((x, max(x.itemsize, item)) for x in arrays)
    nbytes = max(min(prod(x.shape) * size, max(most, prod(x.shard_shape) * size)) for x, size in sizes)
    return at_least(cost, moves=nbytes, holds=2 * nbytes)


def at_least(cost: Cost, moves: int = 0, holds: int = 0) -> Cost:
    """The cost, or these bytes where they are more."""
    return cost._replace(moves=max(cost.moves or 0, moves), holds=max(cost.holds or 0, holds))


def deletes_few(given: Mapping[str, Any]) -> bool:
    """Whether the pieces between the deleted elements are joined. Of many the others are taken from the whole axis."""
    sizes = [(prod(x.shape) if given["axis"] is None else x.shape[given["axis"]]) for _, x in shardings(given)]
    return max(sizes) - min(sizes) < shaping.FEW_PIECES


class Windows(Chunks):
    """A chunk of the longer vector, no shorter than the other vector, and its neighbour; the other vector is whole."""

    bound = 192.0
    """Twelve pairs of vectors, of elements of one byte and of 16."""

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost of a chunk and of the shorter vector."""
        short, long = sorted((given["x1"], given["x2"]), key=lambda x: x.shape)
        nbytes = max(short.itemsize, long.itemsize) * (long.shard_shape[0] + short.shape[0])
        return super().__call__(given)._replace(moves=nbytes, holds=12 * nbytes)


class Indexed(Either):
    """The arrays of an index and the values are arguments too."""

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost by the chosen rule."""
        arrays = [of_chunks("dask", x) for x in given["index"].entries if hasattr(x, "chunks")]
        rule = self.rule if self.test(given) else self.other
        cost = rule({**given, "index": [x for x in arrays if is_known(x)]})
        return cost if arrays or "value" in given else cost._replace(moves=0)


def keeps_chunks(given: Mapping[str, Any]) -> bool:
    """Whether an index or update takes some chunks. Of several arrays of indices a task gets all."""
    return _keeps_chunks(given["x"].shape, given["index"], given.get("op"), given.get("value"))


def positions(given: Mapping[str, Any]) -> Cost:
    """The positions of the elements of a chunk, along all axes."""
    x: Sharding = given["x"]
    size, ndim = prod(x.shard_shape), len(x.shape)
    return Cost(8 * size * ndim, 32 * size * (ndim + 1), "one chunk")


def chosen(given: Mapping[str, Any]) -> Cost:
    """The elements of a chunk of a vector; of other arrays the axis is whole."""
    x: Sharding = given["x"]
    is_vector = given["axis"] is None or len(x.shape) == 1
    if not is_vector or given["condition"].shape[0] != prod(x.shape):
        return Whole({"x": "axis", "condition": "all"}, copies=2, item=16)(given)
    part, chosen = x.shard_bytes or 0, 8 * given["condition"].shard_shape[0]
    return Cost(costs.all_but_largest((part, chosen)), 4 * (part + chosen), None)


def of_attention(given: Mapping[str, Any]) -> Cost:
    """A chunk of queries and one of keys, with all of the head size; then a tree of pairs merges the results."""
    a = given["a"]
    batch, shared, keys, _ = a.k.shard_shape
    extents = (batch, shared * (a.q.shape[1] // max(a.k.shape[1], 1)), a.q.shard_shape[2], keys)
    rows, (size, values) = prod(extents[:3]), (a.k.shape[3], a.v.shape[3])
    item, of_keys = max(a.q.itemsize, 4), batch * shared * keys
    pair = [item * n for n in (rows * size, of_keys * size, of_keys * values)]
    others = 8 * (sum(prod(map(min, x.shape, extents)) for _, x in shardings({"a": a[3:]})) + sum(extents))
    merged = item * rows * (values + 1)
    wanted = (*extents[:3], size), (batch, shared, keys, size), (batch, shared, keys, values)
    is_joined = any(any(map(lt, x.shard_shape, each)) for x, each in zip(a[:3], wanted, strict=True))
    taken = sum(pair) if is_joined else costs.all_but_largest(pair)
    holds = 2 * (sum(pair) + 2 * merged + others)
    return Cost(max(taken + others, merged), holds, described("dask", a.q.spec or ()))
