"""NumPy's functions and constants that have another name here."""

_NAMES = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "abs": "absolute fabs",
    "all": "alltrue",
    "max": "amax",
    "min": "amin",
    "round": "around rint round_",
    "asarray": "array asanyarray",
    "contiguous": "ascontiguousarray",
    "bitwise_invert": "bitwise_not invert",
    "result_type": "common_type promote_types",
    "concat": "concatenate",
    "conj": "conjugate",
    "linalg.cross": "cross",
    "cumulative_prod": "cumprod cumproduct",
    "cumulative_sum": "cumsum",
    "linalg.diagonal": "diagonal",
    "trunc": "fix",
    "isin": "in1d",
    "bitwise_left_shift": "left_shift",
    "shares_memory": "may_share_memory",
    "remainder": "mod",
    "trapezoid": "trapz",
    "pow": "power",
    "prod": "product",
    "bitwise_right_shift": "right_shift",
    "any": "sometrue",
    "linalg.trace": "trace",
    "divide": "true_divide",
    # constants
    "inf": "Inf Infinity infty",
    "nan": "NaN",
    # dtypes
    "bool": "bool8 bool_",
    "int8": "byte",
    "complex128": "cdouble cfloat complex complex_",
    "complex64": "csingle singlecomplex",
    "float64": "double float float_",
    "float16": "half",
    "int64": "int int_ intp long longlong",
    "int32": "intc",
    "int16": "short",
    "float32": "single",
    "uint8": "ubyte",
    "uint64": "uint uintp ulong ulonglong",
    "uint32": "uintc",
    "uint16": "ushort",
}
"""NumPy's names, by ours."""
RENAMED = {theirs: ours for ours, names in _NAMES.items() for theirs in names.split()}
"""By NumPy's name."""

METHODS = {
    "T": "matrix_transpose(x), or xo.permute_dims(x, axes)",
    "device": "device(x)",
    "fill": "full_like(x, value)",
    "flat": "reshape(x, (-1,))",
    "flatten": "reshape(x, (-1,))",
    "item": 'convert(x, "numpy").item()',
    "itemsize": "layout_of(x).itemsize",
    "mT": "matrix_transpose(x)",
    "nbytes": "layout_of(x).itemsize * math.prod(x.shape)",
    "strides": "layout_of(x).strides, in elements",
    "to_device": "to_device(x, device)",
    "tobytes": 'convert(x, "numpy").tobytes()',
    "tolist": 'convert(x, "numpy").tolist()',
}
"""Our name, without ``xo.``, by the name of a method or an attribute of NumPy's arrays."""

DTYPE_CODES = {
    **{f"{kind}{size}": f"{name}{8 * size}" for kind, name in (("i", "int"), ("u", "uint")) for size in (1, 2, 4, 8)},
    **{f"f{size}": f"float{8 * size}" for size in (2, 4, 8)},
    **{f"c{size}": f"complex{8 * size}" for size in (8, 16)},
    "?": "bool",
    "b1": "bool",
    "e": "float16",
    "f": "float32",
    "d": "float64",
    "F": "complex64",
    "D": "complex128",
    "b": "int8",
    "B": "uint8",
    "h": "int16",
    "H": "uint16",
    "i": "int32",
    "I": "uint32",
    **dict.fromkeys("lnpq", "int64"),
    **dict.fromkeys("LNPQ", "uint64"),
}
"""The names of dtypes by NumPy's codes."""

STRINGS = {
    ("histogram", "bins"): "a number, or the edges by NumPy's rule: "
    'xo.asarray(np.histogram_bin_edges(xo.convert(x, "numpy"), {value!r}), like=x)',
}
"""The equivalent of a string that NumPy accepts instead of an array, by function and parameter."""

REMARKS = {
    "array": "it copies only with copy=True",
    "ascontiguousarray": "the result is in C order",
    "common_type": "integers stay integers",
    "cross": "one axis for both arrays",
    "cumprod": "an array of several axes needs axis=",
    "cumproduct": "an array of several axes needs axis=",
    "cumsum": "an array of several axes needs axis=",
    "diagonal": "of the last two axes; NumPy takes the first two",
    "fabs": "it keeps the dtype",
    "fix": "it keeps the dtype",
    "may_share_memory": "the answer is exact",
    "trace": "over the last two axes; NumPy takes the first two",
}
"""What differs, by NumPy's name without ``numpy.``."""
