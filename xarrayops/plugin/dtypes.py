"""The names and kinds of dtypes, the limits of integers, and the functions with floating-point results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops.errors import Unsupported

STANDARD_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
EXTRA_DTYPES = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
DTYPE_NAMES = (*STANDARD_DTYPES, *EXTRA_DTYPES)
FLOATING_DTYPES = ("float16", "bfloat16", "float32", "float64")
"""The real floating-point dtypes for arithmetic; 8-bit floats are for storage."""
REAL_OF = {"complex64": "float32", "complex128": "float64"}
COMPLEX_OF = {"float16": "complex64", "bfloat16": "complex64", "float32": "complex64", "float64": "complex128"}
INTEGER_LIMITS = {
    **{f"int{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}
"""The least and the greatest value of each integer dtype."""
FLOATING_REDUCTIONS = ("mean", "std", "var")
"""Functions that sum: integers are summed in float64, which is exact where a narrower default would not be."""
FLOATING_PAIRS = ("atan2", "copysign", "divide", "hypot", "logaddexp")
"""Functions of two operands whose result is floating-point although both are integers."""
FLOATING_LINALG = (
    *("linalg.cholesky", "linalg.det", "linalg.eig", "linalg.eigh", "linalg.eigvals", "linalg.eigvalsh", "linalg.inv"),
    *("linalg.matrix_norm", "linalg.matrix_rank", "linalg.pinv", "linalg.qr", "linalg.slogdet", "linalg.solve"),
    *("linalg.svd", "linalg.svdvals", "linalg.vector_norm"),
)
"""Linear algebra functions whose result is floating-point although all arguments are integers."""
FLOATING_RESULTS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1"),
    *("log", "log10", "log1p", "log2", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh"),
    *FLOATING_PAIRS,
    *FLOATING_REDUCTIONS,
    *FLOATING_LINALG,
    *("fft.fft", "fft.fftn", "fft.hfft", "fft.ifft", "fft.ifftn", "fft.ihfft", "fft.irfft", "fft.irfftn", "fft.rfft"),
    "fft.rfftn",
)
"""The functions of the standard whose result is floating-point although all arguments are integers."""
FLOATING_EXTRA = (
    *("average", "cbrt", "corrcoef", "cov", "gradient", "interp", "linalg.cond", "linalg.lstsq", "linalg.norm"),
    *("logsumexp", "median", "nanmean", "nanmedian", "nanpercentile", "nanquantile", "nanstd", "nanvar", "percentile"),
    *("erf", "log_softmax", "quantile", "segment_mean", "sigmoid", "softmax", "trapezoid"),
)
"""The same for the functions with NumPy's names that are not in the standard."""
FLOATING_EXCEPT_CHOSEN = ("nanpercentile", "nanquantile", "percentile", "quantile")
"""Functions whose result has the dtype of x, also for integers, if the method returns an element."""
FLOATING_ARGUMENTS: dict[str, tuple[int | str, ...]] = {
    "bincount": (1,),
    "cov": (0, 1, "aweights"),
    "histogram": (0, "weights"),
    **dict.fromkeys(FLOATING_EXCEPT_CHOSEN, (0,)),
    "segment_mean": (0,),
}
"""The arguments for which integers give floating-point results, by position or keyword; others are indices or
counts."""
FLOATING_BY_DTYPE = ("one_hot",)
"""Functions of integers whose ``dtype=`` defaults to the default floating-point dtype."""


def does_not_fit(verb: str, number: float, dtype: str, instead: str) -> OverflowError:
    """The error for a Python number that an integer dtype cannot hold. ``dtype`` may name the array it belongs to."""
    kind = "float" if isinstance(number, float) else "integer"
    return OverflowError(f"xo.{verb}: the Python {kind} {number} does not fit into {dtype}. Instead: {instead}")


KINDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric")
"""The kinds of the standard."""
_NAMES_OF_PYTHON = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
"""The dtypes of Python's number classes, as in NumPy."""
_KINDS_OF_NUMPY = {
    "number": '"numeric"',
    "integer": '"integral"',
    "signedinteger": '"signed integer"',
    "unsignedinteger": '"unsigned integer"',
    "inexact": '("real floating", "complex floating")',
    "floating": '"real floating"',
    "complexfloating": '"complex floating"',
}
"""The equivalents of NumPy's abstract classes."""
_EXAMPLE = 'a kind such as "real floating"'


def checked_kind(kind: Any) -> Any:
    """A kind of the standard, a dtype, or its name; for a Python number class, the name of its dtype.

    Raises
    ------
    ValueError
        No kind or dtype has the name.
    TypeError
        The kind is not a name, a dtype, or a class of Python's numbers.
    """
    if isinstance(kind, str):
        if kind in KINDS or kind in DTYPE_NAMES:
            return kind
        raise ValueError(f"xo.isdtype: {str(kind)!r} is neither a kind nor a dtype. The kinds are {', '.join(KINDS)}")
    cls = kind if isinstance(kind, type) else type(kind)
    if cls is kind and kind in _NAMES_OF_PYTHON:
        return _NAMES_OF_PYTHON[kind]
    instead = _KINDS_OF_NUMPY.get(cls.__name__) if cls is kind and cls.__module__ == "numpy" else None
    if instead is not None or cls.__module__ == "builtins":
        raise TypeError(
            f"xo.isdtype: the kind must be a dtype or a string, or a tuple of these, not {kind!r}. "
            f"Instead: {instead or _EXAMPLE}"
        )
    return kind


def dtype_refusal(library: str, as_dtype: Callable[[str], Any], dtype: str, /) -> str | None:
    """The hook ``import_refusal`` for a library that imports every dtype of its ``as_dtype``."""
    try:
        as_dtype(dtype)
    except ValueError as error:
        return f"{library} has no dtype {dtype}: {error}. Instead: xo.astype(x, 'float32'), or another of these"
    except Unsupported as error:
        return str(error)
    return None
