"""Data by function: whether engines serve it, and what its results depend on."""

from __future__ import annotations

from xarrayops._core.backends.integer_inputs import CASTING
from xarrayops._surface import ROLES


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_VIEWS = _set("""
atleast_nd broadcast_arrays broadcast_to conj diag expand_dims flip imag linalg.diagonal matrix_transpose meshgrid
moveaxis permute_dims positive real reshape sliding_window_view split squeeze unstack
""")
OWN_LIBRARY_ONLY = {
    **dict.fromkeys(_VIEWS, "it may return a view, which needs no kernel"),
    **dict.fromkeys(("empty_like", "full_like", "ones_like", "zeros_like"), "it only fills memory"),
    "astype": "it only copies",
    "apply_where": "it calls functions of the user, which expect arrays of the library",
}
"""The functions that engines do not serve, with the reason."""
SPARSE = frozenset(
    (
        *("add", "concat", "count", "from_dense", "maximum", "mean", "multiply", "norm", "sddmm", "subtract", "sum"),
        *("take", "to_dense"),
    )
)
"""The functions of sparse containers that engines serve. The others share the indices of an operand."""
SERVED = (frozenset(ROLES) | {"einsum", "unique"}) - OWN_LIBRARY_ONLY.keys()
"""The functions with a dispatch table that engines serve. They also serve attention and relayout."""
DEFAULT_FLOATS = frozenset(("sparse.mean", "sparse.norm"))
"""Functions that return the library's default floating-point dtype for integers."""
CAST = CASTING
"""Functions whose integer arguments become the default floating-point dtype of the caller's library."""
ELEMENTWISE = _set("""
acos acosh asin asinh atan atanh cbrt cos cosh exp expm1 log log10 log1p log2 reciprocal sin sinh sqrt tan tanh
""")
"""Functions whose result dtype is that for empty arrays: NumPy returns half precision for narrow integers."""
INDICES = _set("""
argmax argmin argpartition argsort bincount count_nonzero digitize histogram intersect1d lexsort linalg.matrix_rank
nonzero searchsorted topk unique unique_all unique_counts unique_inverse
""")
"""Functions that return indices or counts, in the default index dtype of the library."""
SUMS = _set("""
cumulative_prod cumulative_sum linalg.trace nansum polyval prod segment_sum sum trapezoid
""")
"""Functions that return narrow integers in the default integer dtype of the library."""
ERRORS_OF_VALUES = _set("""
bincount clip compress cov delete digitize histogram insert interp linalg.cholesky linalg.cond linalg.eig
linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv linalg.lstsq linalg.matrix_norm linalg.matrix_power
linalg.matrix_rank linalg.norm linalg.pinv linalg.solve linalg.svd linalg.svdvals nanpercentile nanquantile one_hot
percentile pow quantile repeat segment_max segment_mean segment_min segment_sum take take_along_axis
""")
"""Functions that raise for some values, such as a singular matrix. Not every library checks them."""
NOT_PROMOTED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("attention", "bincount", "compress", "where"), (0,)),
    **dict.fromkeys(("repeat", "segment_max", "segment_mean", "segment_min", "segment_sum"), (1,)),
    **dict.fromkeys(("take", "take_along_axis"), (1,)),
}
"""The positions of arguments whose dtypes are not promoted: indices, conditions, and the request of attention."""
