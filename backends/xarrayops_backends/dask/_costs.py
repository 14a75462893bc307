"""What the functions of Dask move and hold, where this differs from most libraries."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
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
    whole : Rule
        The rule for rows that are gathered.
    chunks : float
        The chunks that a task holds: those that it takes, its results and its temporary arrays.
    """

    whole: Rule
    chunks: float

    @property
    def bound(self) -> float:
        """That of the whole rows: chunks are held where they are less."""
        return bound(self.whole)

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost of the whole rows, or of the chunks if that is less."""
        x: Sharding = given["x"]
        cost, size = self.whole(given), x.shard_bytes or 0
        most = int(self.chunks * max(size, SMALL))
        if cost.holds is None or cost.holds <= most or size > 8 * prod(x.shard_shape):
            return cost
        return cost._replace(moves=min(cost.moves or 0, most), holds=most)


class Bounded(Record):
    """A rule with a bound of what a task holds, in multiples of the bytes of all arguments."""

    rule: Rule
    bound: float

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost by the rule."""
        return self.rule(given)


def counting(given: Mapping[str, Any]) -> Cost:
    """Each task counts a chunk, or combines its segments. A tree adds the counts, 16 in a task."""
    x: Sharding = given["x"]
    bins = given.get("bins", given.get("length", given.get("num_segments")))
    if bins is None:  # the call finds it in the values
        return Cost(None, None, "one chunk")
    count = bins + 1 if isinstance(bins, int) else prod(bins.shape) if isinstance(bins, Sharding) else len(bins)
    columns = x.shard_shape[1:] if "segment_ids" in given else ()
    counts = 8 * count * prod(columns)
    holds = 4 * sum(each.shard_bytes or 0 for _, each in shardings(given)) + 20 * counts
    return Cost(16 * counts, holds, described("dask", (None, *(x.spec or ())[1:]) if columns else ()))


def composed(given: Mapping[str, Any]) -> Cost:
    """The tasks of elementwise functions that choose between two arrays."""
    cost = costs.elementwise(given)
    return cost._replace(holds=3 * (cost.holds or 0))


def cumulative(given: Mapping[str, Any]) -> Cost:
    """Each chunk is summed, and the total of the chunks before it is added."""
    x: Sharding = given["x"]
    holds = 6 * max(x.shard_bytes or 0, 8 * prod(x.shard_shape))
    return Cost(costs.reduction(given).moves, holds, described("dask", x.spec or ()))


def pseudo_inverse(given: Mapping[str, Any]) -> Cost:
    """A tall matrix is factorised, and of a wide one its transpose."""
    x: Sharding = given["x"]
    is_wide = len(x.shape) == 2 and x.shape[0] < x.shape[1]
    if is_wide:
        x = x._replace(spec=(x.spec or ())[::-1], shape=x.shape[::-1], shard_shape=x.shard_shape[::-1])
    if not costs.is_tall(x):
        return OF_MATRICES(given)
    spec = ("axis0", None) if is_wide else (None, "axis1")
    return costs.tall({"x": x})._replace(sharding=described("dask", spec))


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
    return cost._replace(holds=(cost.holds or 0) + (x2.shard_bytes or 0), sharding="one chunk")


def norm(given: Mapping[str, Any]) -> Cost:
    """Singular values are those of whole matrices; other norms are sums, or extrema of sums."""
    if given["ord"] in (2, -2, "nuc") and not isinstance(given.get("axis"), int) and len(given["x"].shape) > 1:
        return (Whole({"x": "axis"}, copies=3, drops=True) if "axis" in given else OF_MATRICES)(given)
    return costs.reduction({"axis": (-2, -1), **given})


def is_of_two(given: Mapping[str, Any]) -> bool:
    """Whether an einsum is one product of arrays, without diagonals. Of more arrays the products of two are made."""
    terms = given["subscripts"].partition("->")[0].replace(" ", "").replace("...", "").split(",")
    return len(terms) < 3 and all(len(set(term)) == len(term) for term in terms)


class Reshaped(Chunks):
    """Where the shape changes, Dask may join chunks in between."""

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost of chunks, or of those that Dask joins."""
        cost = super().__call__(given)
        if given.get("axis") is not None:
            return cost
        return cost._replace(holds=max(cost.holds or 0, *(joined(x, x.itemsize) for _, x in shardings(given))))


class Flattened(Record):
    """The rule of functions that first bring the elements in the order of the flat index, without a given axis."""

    rule: Rule
    is_worst: bool = True

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost by the rule, or of the chunks that Dask joins."""
        cost, x = self.rule(given), given["x"]
        is_flat = given.get("axis") is None and len(x.shape) > 1
        return cost._replace(holds=max(cost.holds or 0, joined(x, 8))) if is_flat else cost


def joined(x: Sharding, item: int) -> int:
    """What a task holds to bring an array into other chunks: Dask joins chunks up to the size of its configuration."""
    most: int = parse_bytes(config.get("array.chunk-size"))
    return 2 * min(prod(x.shape) * item, max(most, prod(x.shard_shape) * item))


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
        lengths = long.shard_shape[0] + short.shape[0]
        return super().__call__(given)._replace(holds=12 * max(short.itemsize, long.itemsize) * lengths)


class Indexed(Either):
    """The arrays of an index and the values are arguments too."""

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost by the chosen rule."""
        arrays = [of_chunks("dask", x) for x in given["index"].entries if hasattr(x, "chunks")]
        rule = self.rule if self.test(given) else self.other
        return rule({**given, "index": [x for x in arrays if is_known(x)]})


def keeps_chunks(given: Mapping[str, Any]) -> bool:
    """Whether an index or update takes some chunks. Of several arrays of indices a task gets all."""
    return _keeps_chunks(given["x"].shape, given["index"], given.get("op"), given.get("value"))


def positions(given: Mapping[str, Any]) -> Cost:
    """The positions of the elements of a chunk, along all axes."""
    x: Sharding = given["x"]
    return Cost(None, 32 * prod(x.shard_shape) * (len(x.shape) + 1), "one chunk")


def chosen(given: Mapping[str, Any]) -> Cost:
    """The elements of a chunk of a vector; of other arrays the axis is whole."""
    x: Sharding = given["x"]
    is_vector = given["axis"] is None or len(x.shape) == 1
    if not is_vector or given["condition"].shape[0] != prod(x.shape):
        return Whole({"x": "axis", "condition": "all"}, copies=2, item=16)(given)
    return Cost(None, 4 * ((x.shard_bytes or 0) + 8 * given["condition"].shard_shape[0]), None)


def of_attention(given: Mapping[str, Any]) -> Cost:
    """A chunk of queries and one of keys, with all of the head size; then a tree of pairs merges the results."""
    a = given["a"]
    batch, shared, keys, _ = a.k.shard_shape
    extents = (batch, shared * (a.q.shape[1] // max(a.k.shape[1], 1)), a.q.shard_shape[2], keys)
    rows, (size, values) = prod(extents[:3]), (a.k.shape[3], a.v.shape[3])
    pair = rows * size + batch * shared * keys * (size + values)
    others = (prod(map(min, x.shape, extents)) for _, x in shardings({"a": a[3:]}))
    holds = 2 * max(a.q.itemsize, 4) * (pair + 2 * rows * (values + 1)) + 16 * (sum(others) + sum(extents))
    return Cost(None, holds, described("dask", a.q.spec or ()))


REDUCTION = Bounded(costs.reduction, 4 + 16 * 8)
"""Four chunks, and 16 partial results of eight bytes for each element."""
_OF_CHUNKS = """
atleast_nd diag empty_like expand_dims fft.fftshift fft.ifftshift
fill_diagonal flip full_like linalg.diagonal matrix_transpose moveaxis one_hot ones_like
permute_dims split squeeze stack tile unstack zeros_like
"""
_VIEWS = "broadcast_arrays broadcast_to meshgrid sliding_window_view"
_COMPUTED = "allclose array_equal gradient outer polyval trapezoid linalg.outer linalg.trace"
_PRODUCTS = "matmul matmul_int32 tensordot vecdot"
_DISTINCT = "unique unique_all unique_counts unique_inverse unique_values union1d"
_OF_TWO = "intersect1d setdiff1d setxor1d"
_ALL = {"x": "all", "x1": "all", "x2": "all"}
_SORTED = dict.fromkeys(("x1", "sorter"), "all")
_INDEXED = dict.fromkeys(("x", "value", "index"), "all")
_MOMENTS = "var std nanvar nanstd"
_REDUCTIONS = "nanargmax nanargmin ptp logsumexp linalg.vector_norm"
_SEGMENTS = "segment_sum segment_mean segment_max segment_min"
_QUANTILES = "median nanmedian quantile nanquantile percentile nanpercentile"
RULES: dict[str, Any] = {
    **dict.fromkeys(_QUANTILES.split(), InChunks(Whole({"x": "axis"}, drops=True, copies=3, item=8), 4)),
    **dict.fromkeys(("sort", "partition"), InChunks(Whole({"x": "axis"}, like="x", item=8), 4)),
    **dict.fromkeys(("argsort", "argpartition"), InChunks(Whole({"x": "axis"}, like="x", copies=2, item=8), 8)),
    "topk": Chunks(4, 10, item=8),
    **dict.fromkeys(("cbrt", "nan_to_num", "sigmoid", "sign", "tril", "triu"), Bounded(composed, 3 * (1 + 8))),
    "isclose": composed,  # two small arrays may broadcast to a large one
    **dict.fromkeys(_MOMENTS.split(), Chunks(4, 28, item=8)),  # counts, sums and squares of eight chunks
    **dict.fromkeys(_REDUCTIONS.split(), REDUCTION),
    **dict.fromkeys(("histogram", "bincount", *_SEGMENTS.split()), counting),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), Bounded(cumulative, 6 * 8)),
    **dict.fromkeys(("linalg.qr", "linalg.svd", "linalg.svdvals"), costs.tall),
    "linalg.pinv": pseudo_inverse,
    "linalg.lstsq": least_squares,
    **dict.fromkeys(("linalg.eig", "linalg.eigvals"), Whole(OF_MATRICES.axes, copies=3, item=16)),
    **dict.fromkeys(("linalg.cond", "linalg.matrix_power"), OF_MATRICES),
    "linalg.cross": Whole({"x1": "axis", "x2": "axis"}, copies=2),
    **dict.fromkeys(("linalg.norm", "linalg.matrix_norm"), Bounded(norm, REDUCTION.bound)),
    **dict.fromkeys(_OF_CHUNKS.split(), Chunks()),
    **dict.fromkeys(_VIEWS.split(), Chunks(is_worst=True)),  # elements that are repeated take no memory
    **dict.fromkeys(_COMPUTED.split(), Chunks(4, 4, item=8)),
    **dict.fromkeys(("diff", "insert"), Chunks(4, 4)),
    "pad": Either(lambda given: given["mode"] != "linear_ramp", Chunks(4, 4), Chunks(32, 32)),  # in double precision
    "average": Chunks(4, 12, item=8),
    "delete": Either(deletes_few, Chunks(), Whole({"x": "axis"}, copies=2, item=8)),
    "searchsorted": Either(
        lambda given: given["sorter"] is None, Chunks(4, 6, item=8), Whole(_SORTED, like="x2", item=8)
    ),
    **dict.fromkeys(_PRODUCTS.split(), Chunks(2, 6, item=8)),  # a tree adds four products at a time
    **dict.fromkeys(("cov", "corrcoef"), Chunks(4, 6, item=8)),
    "einsum": Either(is_of_two, Chunks(2, 6, item=8), lambda given: Cost()),
    **dict.fromkeys(_DISTINCT.split(), Whole(_ALL, copies=2, item=24, is_worst=True)),
    **dict.fromkeys(_OF_TWO.split(), Whole(_ALL, copies=2, item=24)),
    **dict.fromkeys(("nonzero", "argwhere"), Flattened(positions)),
    **dict.fromkeys(("argmax", "argmin"), Flattened(costs.reduction)),
    **dict.fromkeys(("concat", "kron", "repeat", "reshape", "roll"), Reshaped(is_worst=True)),
    "compress": chosen,
    **dict.fromkeys(("convolve", "correlate"), Windows(6, 6)),
    "lexsort": Whole({"keys": "axis"}, like="keys", copies=2, item=8),
    "digitize": Whole({"bins": "all"}, like="x", copies=2, item=8),
    "interp": Whole({"xp": "all", "fp": "all"}, like="x", copies=2, item=8),
    **dict.fromkeys(("update", "select"), Indexed(keeps_chunks, Chunks(3, 6), Whole(_INDEXED))),
}
"""The functions that follow another rule than those of most libraries."""
