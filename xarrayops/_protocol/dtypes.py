"""The names of dtypes, and the limits of integers."""

from __future__ import annotations

STANDARD_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
EXTRA_DTYPES = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
DTYPE_NAMES = (*STANDARD_DTYPES, *EXTRA_DTYPES)
FLOATING_DTYPES = ("float16", "bfloat16", "float32", "float64")
"""The real floating-point dtypes for arithmetic; those of 8 bits are for storage."""
REAL_OF = {"complex64": "float32", "complex128": "float64"}
COMPLEX_OF = {"float16": "complex64", "bfloat16": "complex64", "float32": "complex64", "float64": "complex128"}
INTEGER_LIMITS = {
    **{f"int{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}
"""The least and the greatest value of each integer dtype."""
FLOATING_REDUCTIONS = ("mean", "std", "var")
"""Functions that sum: integers are summed in float64, so that nothing is lost where the default is narrower."""
FLOATING_PAIRS = ("atan2", "copysign", "divide", "hypot", "logaddexp")
"""Functions of two operands whose result is floating-point although both are integers."""
FLOATING_LINALG = (
    *("linalg.cholesky", "linalg.det", "linalg.eig", "linalg.eigh", "linalg.eigvals", "linalg.eigvalsh", "linalg.inv"),
    *("linalg.matrix_norm", "linalg.matrix_rank", "linalg.pinv", "linalg.qr", "linalg.slogdet", "linalg.solve"),
    *("linalg.svd", "linalg.svdvals", "linalg.vector_norm"),
)
"""Functions of linear algebra that compute floating-point numbers although all arguments are integers."""
FLOATING_RESULTS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1"),
    *("log", "log10", "log1p", "log2", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh"),
    *FLOATING_PAIRS,
    *FLOATING_REDUCTIONS,
    *FLOATING_LINALG,
    *("fft.fft", "fft.fftn", "fft.hfft", "fft.ifft", "fft.ifftn", "fft.ihfft", "fft.irfft", "fft.irfftn", "fft.rfft"),
    "fft.rfftn",
)
"""The functions of the standard that compute floating-point numbers although all arguments are integers."""
FLOATING_EXTRA = (
    *("average", "cbrt", "corrcoef", "cov", "gradient", "interp", "linalg.cond", "linalg.lstsq", "linalg.norm"),
    *("logsumexp", "median", "nanmean", "nanmedian", "nanpercentile", "nanquantile", "nanstd", "nanvar", "percentile"),
    *("quantile", "segment_mean", "softmax", "trapezoid"),
)
"""Those of the functions under NumPy's names beyond the standard."""
FLOATING_EXCEPT_CHOSEN = ("nanpercentile", "nanquantile", "percentile", "quantile")
"""Functions whose result has the dtype of x, also of integers, by a method that chooses an element."""
FLOATING_ARGUMENTS: dict[str, tuple[int | str, ...]] = {
    "bincount": (1,),
    "cov": (0, 1, "aweights"),
    "histogram": (0, "weights"),
    **dict.fromkeys(FLOATING_EXCEPT_CHOSEN, (0,)),
    "segment_mean": (0,),
}
"""The arguments whose integers give floating-point results, by position or keyword; others are indices or counts."""
FLOATING_BY_DTYPE = ("one_hot",)
"""Functions of integers whose ``dtype=`` is the default floating-point dtype if it is not given."""


def does_not_fit(verb: str, number: int, dtype: str, instead: str) -> OverflowError:
    """The error for a Python integer that a dtype cannot hold. ``dtype`` may say whose it is."""
    return OverflowError(f"xo.{verb}: the Python integer {number} does not fit into {dtype}. Instead: {instead}")
