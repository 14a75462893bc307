# Long: one table of NumPy's functions and the rules that it names.
"""What NumPy's functions and the methods of its arrays return: dtype, number of axes, a view or new memory."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from xarrayops._core.numpy_names.renamed import DTYPE_CODES
from xarrayops._surface import CREATION
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.dtypes import REAL_OF
from xarrayops.port.source.names import Names, has_starred, is_none
from xarrayops.port.source.value import (
    ARRAY,
    BOOLEAN,
    DEFAULT_DTYPES,
    INTEGER,
    NOTHING,
    OTHER,
    SCALAR,
    SEQUENCE,
    WEAK,
    Value,
    array,
    common_dtype,
    common_ndim,
    words,
)

VIEWS = words(
    "asanyarray asarray ascontiguousarray asfortranarray atleast_1d atleast_2d atleast_3d broadcast_to diagonal "
    "expand_dims flip fliplr flipud imag matrix_transpose moveaxis permute_dims ravel real require reshape rollaxis "
    "rot90 squeeze swapaxes transpose view lib.stride_tricks.as_strided lib.stride_tricks.sliding_window_view"
)
"""Functions whose result may share the memory of the first argument; methods of these names, too."""
SAME_NDIM = words(
    "abs absolute argsort astype clip copy cumprod cumsum flip fliplr flipud matrix_transpose moveaxis partition "
    "roll rot90 round sort swapaxes transpose tril triu conj conjugate zeros_like ones_like empty_like full_like"
)
REDUCTIONS = words(
    "all amax amin any argmax argmin average count_nonzero max mean median min nanargmax nanargmin nanmax nanmean "
    "nanmedian nanmin nanprod nanstd nansum nanvar prod ptp std sum var"
)
_SAME_DTYPE = SAME_NDIM | REDUCTIONS | words("take tile repeat pad unique flatten outer")
_FLOATING = words(
    "average mean median nanmean nanmedian nanstd nanvar std var linalg.norm linalg.det linalg.inv linalg.solve "
    "linalg.cholesky linalg.pinv quantile percentile nanquantile nanpercentile interp trapezoid cov corrcoef gradient"
)
"""Functions whose result is floating-point for integers."""
_INDICES = words(
    "argmax argmin argsort argpartition searchsorted digitize bincount count_nonzero lexsort nanargmax nanargmin"
)
_FIXED = dict.fromkeys(words("all any isin isclose in1d"), "bool") | dict.fromkeys(_INDICES, "int64")
"""The dtypes of results that do not depend on the arguments."""
_TUPLES = words("nonzero where unravel_index ix_ diag_indices tril_indices triu_indices mgrid ogrid meshgrid")
_SEQUENCES = words("split array_split hsplit vsplit dsplit broadcast_arrays unstack")
_SCALARS = {
    **dict.fromkeys(
        words(
            "allclose array_equal array_equiv can_cast iscomplexobj isdtype isfortran isrealobj isscalar "
            "issubdtype iterable may_share_memory shares_memory"
        ),
        BOOLEAN,
    ),
    **dict.fromkeys(("ndim", "size"), INTEGER),
    "shape": Value(SEQUENCE, element=INTEGER),
}
_NO_ARRAYS = words(
    "dtype finfo iinfo result_type promote_types errstate seterr printoptions set_printoptions "
    "broadcast_shapes vectorize ndenumerate ndindex nditer savez save savetxt s_ index_exp r_ c_ poly1d testing ma"
)
ARRAY_ATTRIBUTES = {"T", "mT", "real", "imag", "flat"}
_WIDE = dict.fromkeys(("bool", "int8", "int16", "int32"), "int64")
_WIDE |= dict.fromkeys(("uint8", "uint16", "uint32"), "uint64")
"""The dtypes of sums of small integers."""
_COMPLEX = words("fft.fft fft.ifft fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.rfft fft.rfft2 fft.rfftn")
_FLOATING_DRAWS = words(
    "rand random random_sample uniform normal randn standard_normal exponential standard_exponential lognormal beta "
    "gamma"
)
_INTEGER_DRAWS = words("randint integers poisson binomial permutation")
_DRAWN = dict.fromkeys(_FLOATING_DRAWS, "float64") | dict.fromkeys(_INTEGER_DRAWS, "int64")
_NOT_NUMBERS = {"object": object, "str": str, "bytes": bytes}
CREATED = CREATION | words("array copy identity zeros_like ones_like empty_like full_like")
"""Functions that make arrays, never scalars."""


def is_elementwise(name: str) -> bool:
    """Whether this is an elementwise function, which also accepts numbers alone."""
    function = getattr(np, name, None) if "." not in name else None
    return isinstance(function, np.ufunc) and function.signature is None


def elementwise(names: Names, node: ast.expr, leaf: Callable[[ast.expr], ast.expr | None]) -> ast.expr | None:
    """An expression with other leaves, which works element by element; None if a part does not, or has no leaf."""

    def of(each: ast.expr) -> ast.expr | None:
        return elementwise(names, each, leaf)

    if (new := leaf(node)) is not None:
        return new
    match node:
        case ast.UnaryOp(op=op, operand=operand):
            new = of(operand)
            return None if new is None else ast.UnaryOp(op, new)
        case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
            first, second = of(left), of(right)
            return None if first is None or second is None else ast.BinOp(first, op, second)
        case ast.Call(func=function, args=args, keywords=[]) if is_elementwise(function_of(names, node) or "."):
            given = [new for each in args if (new := of(each)) is not None]
            return ast.Call(function, given, []) if len(given) == len(args) else None
    return None


def function_of(names: Names, node: ast.Call) -> str | None:
    """NumPy's name of a function that is called; ``abs`` is one."""
    is_abs = names.resolve(node.func) == "builtins.abs"
    return "abs" if is_abs else names.numpy_name(node.func)


def dtype_of(node: ast.expr | None, numpy_name: Callable[[ast.AST], str | None]) -> str | None:
    """The name of the dtype that an expression such as ``np.float32``, ``"f4"`` or ``float`` means; None if unknown."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        code: object = DTYPE_CODES.get(node.value.lstrip("<>=|"), node.value)
    elif isinstance(node, ast.Name) and numpy_name(node) is None:
        code = DEFAULT_DTYPES.get(node.id, _NOT_NUMBERS.get(node.id))
    else:
        name = None if node is None else numpy_name(node)
        code = None if name is None else getattr(np, name, None)
    try:
        return None if code is None else np.dtype(np.dtype(code).name).name  # type: ignore[call-overload]
    except TypeError:
        return None


class Call(Record):
    """A call of a function of NumPy or of a method: the values of its arguments, and the nodes of its keywords.

    For a method, the array is the first argument, and ``nodes`` are those of the other positional arguments.
    """

    name: str
    nodes: Sequence[ast.expr]
    values: Sequence[Value]
    keywords: dict[str, ast.expr]
    numpy_name: Callable[[ast.AST], str | None]

    @property
    def first(self) -> Value:
        """The first argument."""
        return self.values[0] if self.values else NOTHING

    def argument(self, keyword: str, position: int | None = None) -> ast.expr | None:
        """An argument by its keyword or position; None if it is not given, or given as None."""
        is_placed = position is not None and position < len(self.nodes)
        node = self.keywords.get(keyword, self.nodes[position or 0] if is_placed else None)
        return None if is_none(node) else node

    def dtype(self, default: str | None, position: int | None = None) -> str | None:
        """The dtype that the call names, or a default."""
        node = self.argument("dtype", position)
        return default if node is None else dtype_of(node, self.numpy_name)


def result(call: Call) -> Value:
    """What a call of a function of NumPy, or of a method of the same name, returns."""
    name = call.name
    if name in _SCALARS:
        return _SCALARS[name]
    if name.partition(".")[0] in _NO_ARRAYS:
        return Value(OTHER)
    if name.startswith("random."):
        return _drawn(call, name.rpartition(".")[2])
    if name in VIEWS:
        return _view(call)
    if isinstance(getattr(np, name, None), type) and issubclass(getattr(np, name), np.generic):
        return array(np.dtype(getattr(np, name)).name, 0 if call.first.kind == SCALAR else call.first.ndim)
    if name in REDUCTIONS:
        return array(_dtype(call), _reduced_ndim(call))
    if is_elementwise(name):
        return _elementwise(call)
    if name in _TUPLES and not (name == "where" and len(call.values) > 1):
        each = array("int64" if name != "meshgrid" else None, 1 if name in ("nonzero", "where") else None)
        return Value(SEQUENCE, element=each)
    if name in _SEQUENCES:
        element = Value(ARRAY, call.first.dtype, call.first.ndim, call.first.views, is_view=True)
        return Value(SEQUENCE, views=element.views, element=element)
    if name in CREATED:
        return _created(call)
    if name in ("concatenate", "stack", "hstack", "vstack", "column_stack", "where", "einsum", "dot", "matmul"):
        return _combined(call)
    if call.argument("out") is not None:
        return NOTHING
    return array(_dtype(call), call.first.ndim if name in SAME_NDIM else None)


def _elementwise(call: Call) -> Value:
    operands = list(call.values[: getattr(np, call.name).nin])
    dtype = ufunc_dtype(call.name, operands)
    if operands and all(value.kind == SCALAR for value in operands):
        return array(dtype, 0, certain=False)
    arrays = [value for value in operands if value.is_array]
    if not arrays:
        return NOTHING._replace(fresh=True)
    return array(call.dtype(dtype), common_ndim(*operands), certain=all(value.certain for value in arrays))


def ufunc_dtype(name: str, operands: Sequence[Value]) -> str | None:
    """The dtype of the result of an elementwise function."""
    ufunc = getattr(np, name)
    if any(value.dtype is None for value in operands):
        is_test = all(each.endswith("->?") for each in ufunc.types if "O" not in each)
        return "bool" if is_test else None
    weak = {**WEAK, "bool": np.dtype(bool)}
    given = [weak[v.dtype] if v.kind == SCALAR and v.dtype in weak else np.dtype(v.dtype) for v in operands]
    try:
        return str(ufunc.resolve_dtypes((*given, *(None,) * ufunc.nout))[ufunc.nin].name)
    except (TypeError, ValueError):
        return None


def _view(call: Call) -> Value:
    first = call.first
    ndim = first.ndim
    if call.name == "reshape":
        shape = call.nodes[1:] if len(call.nodes) == len(call.values) else call.nodes
        ndim = _length(shape)
    elif call.name == "ravel":
        ndim = 1
    elif call.name in ("atleast_2d", "atleast_3d"):
        ndim = None if ndim is None else max(ndim, int(call.name[-2]))
    elif call.name in ("squeeze", "diagonal", "broadcast_to", "view", "expand_dims") or "." in call.name:
        ndim = ndim + 1 if call.name == "expand_dims" and ndim is not None else None
    dtype = call.dtype(first.dtype, 1) if call.name.startswith("as") else None if call.name == "view" else first.dtype
    if call.name in ("real", "imag"):
        dtype = REAL_OF.get(first.dtype or "", first.dtype)
    if first.kind in (SEQUENCE, SCALAR):
        return array(call.dtype(_sequence_dtype(first), 1), _depth(first))
    is_view = not call.name.startswith(("as", "require"))
    return Value(ARRAY, dtype, ndim, first.views, first.fresh, is_view=is_view and not first.fresh)


def _depth(value: Value) -> int | None:
    """The number of axes of the array that a nested sequence makes."""
    if value.kind in (SCALAR, ARRAY):
        return value.ndim if value.is_array else 0
    inner = value.items[0] if value.items else value.element
    depth = None if inner is None else _depth(inner)
    return None if depth is None else depth + 1


def _length(shape: Sequence[ast.expr]) -> int | None:
    """The number of axes that a shape names, given as one tuple or as several numbers."""
    if len(shape) == 1:
        if isinstance(shape[0], ast.Tuple | ast.List):
            shape = shape[0].elts
        elif not isinstance(shape[0], ast.Constant | ast.UnaryOp):
            return None
    return None if not shape or has_starred(shape) else len(shape)


def _created(call: Call) -> Value:
    name, first = call.name, call.first
    if name.endswith("_like"):
        return array(call.dtype(first.dtype, 2 if name == "full_like" else 1), first.ndim)
    if name in ("array", "copy"):
        dtype = call.dtype(_sequence_dtype(first), 1 if name == "array" else None)
        return array(dtype, _depth(first) if first.kind != ARRAY else first.ndim)
    if name == "arange":
        default = common_dtype(*call.values[:3])
        return array(call.dtype(DEFAULT_DTYPES.get(default or "", default), 3), 1)
    if name == "full":
        value = call.values[1] if len(call.values) > 1 else NOTHING
        default = DEFAULT_DTYPES.get(value.dtype or "", value.dtype)
        return array(call.dtype(default, 2), _shape_ndim(call))
    position = {"zeros": 1, "ones": 1, "empty": 1, "eye": 3, "identity": 1, "linspace": 5, "tri": 3}.get(name)
    ndim = _shape_ndim(call) if name in ("zeros", "ones", "empty") else 2 if name in ("eye", "identity", "tri") else 1
    return array(call.dtype("float64", position), ndim)


def _shape_ndim(call: Call) -> int | None:
    if call.first.kind == SCALAR:
        return 1
    if call.first.items is not None:
        return len(call.first.items)
    return _length(call.nodes[:1])


def _sequence_dtype(value: Value) -> str | None:
    """The dtype of the array that a nested sequence makes."""
    if value.kind == SEQUENCE and value.items:
        dtypes = {_sequence_dtype(item) for item in value.items}
        if None in dtypes:
            return None
        return str(np.result_type(*(dtype for dtype in dtypes if dtype is not None)).name)
    if value.kind == SEQUENCE:
        return None if value.element is None else _sequence_dtype(value.element)
    return DEFAULT_DTYPES.get(value.dtype or "", value.dtype)


def _combined(call: Call) -> Value:
    """A function of several arrays that are given one by one or as one sequence."""
    name, operands = call.name, call.values
    if name in ("concatenate", "stack", "hstack", "vstack", "column_stack"):
        operands = call.first.items or ([call.first.element] if call.first.element else [])
    elif name in ("where", "einsum"):
        operands = operands[1:3] if name == "where" else operands[1:]
    ndim = common_ndim(*operands)
    if name in ("einsum", "hstack", "vstack", "column_stack"):
        ndim = None
    elif name in ("dot", "matmul"):
        ndim = product_ndim(*operands[:2]) if len(operands) > 1 else None
    elif name == "stack":
        ndim = None if ndim is None else ndim + 1
    return array(common_dtype(*operands), ndim)


def product_ndim(a: Value, b: Value) -> int | None:
    """The number of axes of a matrix product."""
    if a.ndim is None or b.ndim is None:
        return None
    return max(a.ndim, b.ndim) if a.ndim > 1 and b.ndim > 1 else max(a.ndim + b.ndim - 2, 0)


def _drawn(call: Call, name: str) -> Value:
    if name in ("default_rng", "RandomState", "Generator", "seed", "SeedSequence", "shuffle"):
        return Value(OTHER)
    dtype = _DRAWN.get(name)
    if not call.values and not call.keywords:
        return Value(SCALAR, "float" if dtype == "float64" else "int")
    has_extents = name in ("rand", "randn")
    ndim = len(call.values) if has_extents else None
    return array(dtype, ndim, certain=has_extents or "size" in call.keywords)


def _dtype(call: Call) -> str | None:
    """The dtype of the result of any other function."""
    name, first = call.name, call.first
    if name in _FIXED:
        return _FIXED[name]
    if name == "astype":
        return dtype_of(call.keywords.get("dtype", call.nodes[-1] if call.nodes else None), call.numpy_name)
    if name in _COMPLEX:
        return "complex64" if first.dtype in ("float32", "complex64") else "complex128" if first.dtype else None
    if name in _FLOATING:
        return _floating(first.dtype)
    if name in ("sum", "prod", "cumsum", "cumprod", "nansum", "nanprod"):
        return call.dtype(_WIDE.get(first.dtype or "", first.dtype))
    return first.dtype if name in _SAME_DTYPE and first.is_array else None


def _floating(dtype: str | None) -> str | None:
    found = np.dtype(dtype) if dtype is not None else np.dtype(object)
    return "float64" if found.kind in "biu" else found.name if found.kind == "f" else None


def _reduced_ndim(call: Call) -> int | None:
    """The number of axes after a reduction: 0 without an axis."""
    axis = call.argument("axis", 0 if len(call.nodes) < len(call.values) else 1)
    if "keepdims" in call.keywords:
        return call.first.ndim
    if axis is None:
        return 0
    count = len(axis.elts) if isinstance(axis, ast.Tuple) else 1
    return None if call.first.ndim is None else max(call.first.ndim - count, 0)
