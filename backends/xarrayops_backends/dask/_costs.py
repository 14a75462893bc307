"""What the functions of Dask move and hold, where this differs from most libraries."""

from __future__ import annotations

from functools import partial
from typing import Any

from xarrayops.plugin import costs
from xarrayops.plugin.costs import OF_MATRICES, Chunks, Either, Whole
from xarrayops.plugin.sharding import Cost
from xarrayops_backends.dask import _rules as rules

REDUCTION = rules.Bounded(costs.reduction, 4 + 16 * 8)
"""Four chunks, and 16 partial results of eight bytes for each element."""
_OF_CHUNKS = """
atleast_nd diag empty_like expand_dims fft.fftshift fft.ifftshift
flip full_like linalg.diagonal matrix_transpose moveaxis ones_like
permute_dims split squeeze stack tile unstack zeros_like
"""
_VIEWS = "broadcast_arrays broadcast_to meshgrid"
_COMPARED = "allclose array_equal linalg.trace"
_PRODUCTS = "matmul matmul_int32 tensordot vecdot"
_DISTINCT = "unique unique_all unique_counts unique_inverse unique_values union1d"
_OF_TWO = "intersect1d setdiff1d setxor1d"
_ALL = {"x": "all", "x1": "all", "x2": "all"}
_SORTED = dict.fromkeys(("x1", "sorter"), "all")
_INDEXED = dict.fromkeys(("x", "value", "index"), "all")
_MOMENTS = "var std nanvar nanstd"
_REDUCTIONS = "ptp logsumexp linalg.vector_norm"
_SEGMENTS = "segment_sum segment_mean segment_max segment_min"
_QUANTILES = "median nanmedian quantile nanquantile percentile nanpercentile"
_OF_PAIRS = partial(costs.reduction, values=2)
_PADDED = Chunks(4, 4, takes=2, joins=2)
_PADDED_BY_RAMPS = Chunks(32, 32, joins=2)  # in double precision
RULES: dict[str, Any] = {
    **dict.fromkeys(_QUANTILES.split(), rules.Quantiles(Whole({"x": "axis"}, drops=True, copies=3, item=8), 4)),
    **dict.fromkeys(("sort", "partition"), rules.InChunks(Whole({"x": "axis"}, like="x", item=8), 4)),
    **dict.fromkeys(("argsort", "argpartition"), rules.InChunks(Whole({"x": "axis"}, like="x", copies=2, item=8), 8)),
    "topk": Chunks(4, 10, takes=2, joins=7, item=8),  # elements with their places
    **dict.fromkeys(("cbrt", "nan_to_num", "sigmoid", "sign"), rules.Bounded(rules.composed, 3 * (1 + 8))),
    **dict.fromkeys(("tril", "triu"), rules.Bounded(rules.triangle, 3 * (1 + 8))),
    "isclose": rules.composed,  # two small arrays may broadcast to a large one
    **dict.fromkeys(_MOMENTS.split(), Chunks(4, 28, joins=22, item=8)),  # counts, sums and squares of eight chunks
    **dict.fromkeys(_REDUCTIONS.split(), REDUCTION),
    **dict.fromkeys(("mean", "nanargmax", "nanargmin"), REDUCTION._replace(rule=_OF_PAIRS)),
    **dict.fromkeys(("histogram", "bincount", *_SEGMENTS.split()), rules.counting),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), rules.Bounded(rules.cumulative, 6 * 8)),
    **dict.fromkeys(("linalg.qr", "linalg.svdvals"), costs.tall),
    "linalg.svd": rules.with_factors,
    "linalg.pinv": rules.pseudo_inverse,
    "linalg.lstsq": rules.least_squares,
    **dict.fromkeys(("linalg.eig", "linalg.eigvals"), Whole(OF_MATRICES.axes, copies=3, item=16)),
    **dict.fromkeys(("linalg.cond", "linalg.matrix_power"), OF_MATRICES),
    "linalg.cross": Whole({"x1": "axis", "x2": "axis"}, copies=2),
    **dict.fromkeys(("linalg.norm", "linalg.matrix_norm"), rules.Bounded(rules.norm, REDUCTION.bound)),
    **dict.fromkeys(_OF_CHUNKS.split(), Chunks()),
    "one_hot": Chunks(takes=2),
    **dict.fromkeys(_VIEWS.split(), Chunks(is_worst=True)),  # elements that are repeated take no memory
    "sliding_window_view": Chunks(takes=2, is_worst=True),
    **dict.fromkeys(("outer", "linalg.outer"), Chunks(4, 4, item=8)),
    **dict.fromkeys(("gradient", "polyval"), Chunks(4, 4, takes=2, item=8)),
    "trapezoid": Chunks(4, 4, takes=2, joins=4, item=8),
    **dict.fromkeys(_COMPARED.split(), Chunks(4, 4, joins=4, item=8)),
    **dict.fromkeys(("diff", "insert"), Chunks(4, 4, takes=2)),
    "pad": Either(lambda given: given["mode"] != "linear_ramp", _PADDED, _PADDED_BY_RAMPS),
    "average": Chunks(4, 12, joins=15, item=8),  # two sums of eight chunks
    "delete": Either(rules.deletes_few, Chunks(takes=2), Whole({"x": "axis"}, copies=2, item=8)),
    "searchsorted": Either(
        lambda given: given["sorter"] is None, Chunks(4, 6, takes=2, item=8), Whole(_SORTED, like="x2", item=8)
    ),
    **dict.fromkeys(_PRODUCTS.split(), Chunks(2, 6, joins=4, item=8)),  # a tree adds four products at a time
    **dict.fromkeys(("cov", "corrcoef"), Chunks(4, 6, takes=2, joins=4, item=8)),
    "einsum": Either(rules.is_of_two, Chunks(2, 6, takes=2, joins=4, item=8), lambda given: Cost()),
    **dict.fromkeys(_DISTINCT.split(), rules.Distinct(_ALL, copies=2, item=24, is_worst=True)),
    **dict.fromkeys(_OF_TWO.split(), Whole(_ALL, copies=2, item=24)),
    **dict.fromkeys(("nonzero", "argwhere"), rules.Flattened(rules.positions)),
    **dict.fromkeys(("argmax", "argmin"), rules.Flattened(_OF_PAIRS)),
    **dict.fromkeys(("concat", "kron", "repeat", "reshape"), rules.Reshaped(is_worst=True)),
    "roll": rules.Reshaped(takes=2, is_worst=True),
    "fill_diagonal": rules.Reshaped(takes=2),
    "compress": rules.chosen,
    **dict.fromkeys(("convolve", "correlate"), rules.Windows(6, 6)),
    "lexsort": Whole({"keys": "axis"}, like="keys", copies=2, item=8),
    "digitize": rules.LookedUp({"bins": "all"}, 1),
    "interp": rules.LookedUp({"xp": "all", "fp": "all"}, 8),
    "update": rules.Indexed(rules.keeps_chunks, Chunks(3, 6, joins=4), Whole(_INDEXED)),
    "select": rules.Indexed(rules.keeps_chunks, Chunks(3, 6, joins=2), Whole(_INDEXED)),
}
"""The functions that follow another rule than those of most libraries."""
