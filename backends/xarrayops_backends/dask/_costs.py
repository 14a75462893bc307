"""What the functions of Dask move and hold, where this differs from most libraries."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from xarrayops.plugin.arrays import Record
from xarrayops.plugin.sharding import OF_MATRICES, RULES as _OF_MOST, Cost, Rule, Sharding, Whole, tall
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
    """Each task counts a chunk. A tree adds the counts, 16 in a task."""
    x: Sharding = given["x"]
    bins = given.get("bins", given.get("length"))
    if bins is None:  # `bincount` finds it in the values
        return Cost(None, None, "one chunk")
    count = bins + 1 if isinstance(bins, int) else prod(bins.shape) if isinstance(bins, Sharding) else len(bins)
    counts = 8 * count
    return Cost(16 * counts, 4 * (x.shard_bytes or 0) + 20 * counts, "one chunk")


_ORDER = Whole({"x": "axis"}, like="x", item=8)
_QUANTILES = "median nanmedian quantile nanquantile percentile nanpercentile"
RULES: dict[str, Any] = {
    **{verb: InChunks(_OF_MOST[verb], 4) for verb in _QUANTILES.split()},
    **dict.fromkeys(("sort", "partition"), InChunks(_ORDER, 4)),
    **dict.fromkeys(("argsort", "argpartition"), InChunks(_ORDER, 8)),
    "topk": InChunks(_OF_MOST["topk"], 4),
    **dict.fromkeys(("histogram", "bincount"), counting),
    **dict.fromkeys(("linalg.qr", "linalg.svd", "linalg.svdvals"), tall),
    **dict.fromkeys(("linalg.eig", "linalg.eigvals"), Whole(OF_MATRICES.axes, copies=3, item=16)),
}
"""The functions that follow another rule than those of most libraries."""
