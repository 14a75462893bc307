"""Keywords of NumPy and PyTorch for which the functions of the tables raise an error that says what to write instead.

A generated function has them as parameters that take None only. Each costs a call 2 to 4 ns; a ``**unknown`` would cost
10 to 14, because Python makes a dict for it in each call. So only the functions in which NumPy's users need ``where``
most have it: functions that are not defined everywhere, and reductions.
"""

from collections.abc import Container

ELEMENTWISE = ("out",)
"""Keywords of the elementwise functions."""
PARTIAL = ("divide", "floor_divide", "log", "log10", "log1p", "log2", "pow", "reciprocal", "remainder", "sqrt")
"""The elementwise functions that are not defined everywhere."""
ANSWERED = {
    **dict.fromkeys(PARTIAL, ("out", "where")),
    **dict.fromkeys(("all", "any", "mean"), ("out", "where")),
    **dict.fromkeys(("max", "min", "prod", "sum"), ("out", "initial", "where")),
    **dict.fromkeys(("std", "var"), ("ddof", "out", "where")),
    **dict.fromkeys(("argmax", "argmin", "cumulative_prod", "cumulative_sum", "matmul"), ("out",)),
    **dict.fromkeys(("concat", "stack"), ("out", "dtype")),
    **dict.fromkeys(("empty", "full", "ones", "zeros", "eye"), ("order",)),
    **dict.fromkeys(("empty_like", "full_like", "ones_like", "zeros_like"), ("order",)),
    **dict.fromkeys(("argpartition", "argsort", "partition", "sort"), ("kind",)),
    "cov": ("ddof", "bias"),
    **dict.fromkeys(("median", "nanmedian"), ("overwrite_input",)),
    **dict.fromkeys(("nanstd", "nanvar"), ("ddof",)),
    **dict.fromkeys(("nanpercentile", "nanquantile", "percentile", "quantile"), ("interpolation", "overwrite_input")),
    "astype": ("order", "casting"),
    "clip": ("out", "a_min", "a_max"),
    "isin": ("assume_unique",),
    "linalg.cross": ("axisa",),
    "linalg.matrix_rank": ("tol",),
    **dict.fromkeys(("linalg.lstsq", "linalg.pinv"), ("rcond",)),
    "linalg.svd": ("compute_uv",),
    "linspace": ("retstep",),
    **dict.fromkeys(("imag", "real"), ()),
    "meshgrid": ("copy", "sparse"),
    "reshape": ("order",),
    "round": ("decimals", "out"),
    "take": ("out", "mode"),
}
"""Keywords of other functions, and of elementwise functions that differ."""
TORCH_DIMS = ("flip", "roll", "tensordot")
"""The functions whose axes are ``dims`` in PyTorch; elsewhere they are ``dim``."""
TORCH_UNBIASED = ("std", "var")
"""The functions that divide by n - 1 in PyTorch with ``unbiased=True``, its default."""
NOT_REQUIRED = {"squeeze": ("axis",), "where": ("x1", "x2")}
"""The required parameters of our functions that NumPy's do not require."""


def answered(verb: str, row_file: str) -> tuple[str, ...]:
    """The keywords for which a function raises such an error."""
    return ANSWERED.get(verb, ELEMENTWISE if row_file == "standard/elementwise.py" else ())


def answered_of_torch(verb: str, options: Container[str]) -> tuple[str, ...]:
    """PyTorch's names of the options of a function."""
    return (
        *(("dim",) if "axis" in options or "axes" in options else ()),
        *(("dims",) if verb in TORCH_DIMS else ()),
        *(("keepdim",) if "keepdims" in options else ()),
        *(("unbiased",) if verb in TORCH_UNBIASED else ()),
    )
