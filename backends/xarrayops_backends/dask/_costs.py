"""What the functions of Dask move and hold, where this differs from most libraries."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from xarrayops.plugin import sharding
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.sharding import RULES as _OF_MOST, Cost, Rule, Sharding, Whole, shardings
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

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost of the whole rows, or of the chunks if that is less."""
        x: Sharding = given["x"]
        cost, size = self.whole(given), x.shard_bytes or 0
        most = int(self.chunks * max(size, SMALL))
        if cost.holds is None or cost.holds <= most or size > 8 * prod(x.shard_shape):
            return cost
        return cost._replace(moves=min(cost.moves or 0, most), holds=most)


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
    return Cost(16 * counts, holds, sharding.described("dask", (None, *(x.spec or ())[1:]) if columns else ()))


def composed(given: Mapping[str, Any]) -> Cost:
    """The tasks of elementwise functions that choose between two arrays."""
    cost = sharding.elementwise(given)
    return cost._replace(holds=2 * (cost.holds or 0))


def cumulative(given: Mapping[str, Any]) -> Cost:
    """Each chunk is summed, and the total of the chunks before it is added."""
    x: Sharding = given["x"]
    holds = 4 * max(x.shard_bytes or 0, 8 * prod(x.shard_shape))
    return Cost(sharding.reduction(given).moves, holds, sharding.described("dask", x.spec or ()))


def pseudo_inverse(given: Mapping[str, Any]) -> Cost:
    """A tall matrix is factorised, and of a wide one its transpose."""
    x: Sharding = given["x"]
    is_wide = len(x.shape) == 2 and x.shape[0] < x.shape[1]
    if is_wide:
        x = x._replace(spec=(x.spec or ())[::-1], shape=x.shape[::-1], shard_shape=x.shard_shape[::-1])
    if not sharding.is_tall(x):
        return sharding.OF_MATRICES(given)
    spec = ("axis0", None) if is_wide else (None, "axis1")
    return sharding.tall({"x": x})._replace(sharding=sharding.described("dask", spec))


def least_squares(given: Mapping[str, Any]) -> Cost:
    """A tall matrix is factorised together with the columns of the right side."""
    x1: Sharding = given["x1"]
    x2: Sharding = given["x2"]
    if len(x1.shape) != 2:
        return sharding.OF_MATRICES(given)
    columns = x1.shape[1] + prod(x2.shape[1:])
    size = max((x.shard_bytes or 0) // max(prod(x.shard_shape), 1) for x in (x1, x2))
    both = x1._replace(
        shape=(x1.shape[0], columns),
        shard_shape=(x1.shard_shape[0], columns),
        shard_bytes=x1.shard_shape[0] * columns * size,
    )
    if x1.counts[1] > 1 or not sharding.is_tall(both):
        return sharding.OF_MATRICES(given)
    cost = sharding.tall({"x": both})
    return cost._replace(holds=(cost.holds or 0) + (x2.shard_bytes or 0), sharding="one chunk")


_ORDER = Whole({"x": "axis"}, like="x", item=8)
_REDUCTIONS = "var std nanvar nanstd nanargmax nanargmin ptp logsumexp linalg.vector_norm"
_SEGMENTS = "segment_sum segment_mean segment_max segment_min"
_QUANTILES = "median nanmedian quantile nanquantile percentile nanpercentile"
RULES: dict[str, Any] = {
    **{verb: InChunks(_OF_MOST[verb], 4) for verb in _QUANTILES.split()},
    **dict.fromkeys(("sort", "partition"), InChunks(_ORDER, 4)),
    **dict.fromkeys(("argsort", "argpartition"), InChunks(_ORDER, 8)),
    "topk": InChunks(Whole({"x": "axis"}, copies=2, item=8), 4),
    **dict.fromkeys(("cbrt", "nan_to_num", "sigmoid", "tril", "triu"), composed),
    **dict.fromkeys(_REDUCTIONS.split(), sharding.reduction),
    "isclose": sharding.elementwise,
    **dict.fromkeys(("histogram", "bincount", *_SEGMENTS.split()), counting),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), cumulative),
    **dict.fromkeys(("linalg.qr", "linalg.svd", "linalg.svdvals"), sharding.tall),
    "linalg.pinv": pseudo_inverse,
    "linalg.lstsq": least_squares,
    **dict.fromkeys(("linalg.eig", "linalg.eigvals"), Whole(sharding.OF_MATRICES.axes, copies=3, item=16)),
}
"""The functions that follow another rule than those of most libraries."""
