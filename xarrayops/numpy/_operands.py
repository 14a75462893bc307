# Long: what every function does with its arguments and its result.
"""Operands: arrays are unchanged; numbers and sequences become arrays of the same library, in NumPy's dtypes.

JAX lacks NumPy's default dtypes while its 64-bit types are off. Numbers and sequences next to its arrays are then
weakly typed (`_weak_dtype`), indices have the library's integer dtype (`indices`), and comparisons need no common dtype
(`_comparison`). What remains is a result in a dtype that the library lacks: the cast to it raises.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from math import prod
from types import FunctionType
from typing import Any, TypeVar

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops._core.backends.dtype_names import name_of
from xarrayops._core.backends.find import SCALARS
from xarrayops._core.backends.foreign import has_buffer
from xarrayops._core.backends.numpy_scalars import as_number, is_numpy_scalar
from xarrayops._core.backends.resolved import is_traced
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._core.dispatch.python_scalars import COMPARISONS, integer
from xarrayops._core.modes.defaults import floating_dtype
from xarrayops.errors import Unsupported
from xarrayops.numpy import _own
from xarrayops.plugin import nested
from xarrayops.plugin.candidates import constant_while_tracing
from xarrayops.plugin.dtypes import STANDARD_DTYPES

NUMBERS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
"""NumPy's default dtypes by class of Python number, the narrowest first."""
DTYPES_OF_NUMPY = frozenset((*STANDARD_DTYPES, "float16"))
"""The names of NumPy's dtypes of numbers."""
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
_is_array_class: dict[type, bool] = {}
_harmonised: dict[Any, tuple[str | None, bool]] = {}


def public(module: dict[str, Any], hidden: Sequence[str] = ()) -> list[str]:
    """The public names that a module defines itself, for its ``__all__``, which type checkers cannot compute.

    The errors of the functions then say which array argument is of a kind that no function takes, and what only NumPy
    has stays NumPy's (`_own.by_numpy`).
    """
    own, prefix = module["__name__"], "np" + module["__name__"].removeprefix("xarrayops.numpy").partition("._")[0]
    names = [n for n, x in module.items() if not n.startswith("_") and getattr(x, "__module__", None) == own]
    names = [name for name in names if name not in hidden]
    made: dict[Any, Any] = {}  # one function has several names
    for name in names:
        function = module[name]
        if isinstance(function, FunctionType):
            module[name] = made.setdefault(function, explaining_arrays(f"{prefix}.{name}", _own.by_numpy)(function))
    return names


def entitled(function: FunctionT, name: str, text: str) -> FunctionT:
    """The function under its public name, with its docstring: for functions made by another one."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


def is_array(x: Any) -> bool:
    """Whether x is an array of a known library; NumPy's scalars count."""
    known = _is_array_class.get(type(x))
    if known is None and is_traced():
        return find.of_class(type(x)) is not None
    if known is None:
        known = _is_array_class[type(x)] = not isinstance(x, (str, list, tuple)) and _has_backend(x)
    return known


def _has_backend(x: Any) -> bool:
    if find.if_array(x) is None and find.refusal(x) is None:
        return False
    xo.backend(x)  # raises for an array that is not supported
    return True


def is_numpys(x: Any) -> bool:
    """Whether x is an array or a scalar of NumPy's own, whose functions give NumPy's warnings."""
    return type(x).__module__ == "numpy"


def first_array(values: Iterable[Any]) -> Any:
    """The array that determines the library: the first one, before any NumPy scalar; None without arrays."""
    scalar = None
    for value in values:
        for x in nested.members(value):
            if is_array(x):
                if not is_numpy_scalar(x):
                    return x
                scalar = x if scalar is None else scalar
    return scalar


def new_array(obj: Any, *, dtype: Any = None, like: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """An array of anything that NumPy makes arrays of, with its default dtype unless `xarrayops.use` names another."""
    listed = nested.members(obj)
    if not SCALARS.issuperset(map(type, listed)) and not is_array(obj):
        if _own.is_followed(obj) and (_own.is_default() if like is None else is_numpys(like)):
            raise _own.OnlyNumPy(f"NumPy's functions decide what they return for {type(obj).__name__}")
        obj, is_foreign = _as_values(obj)
        listed = nested.members(obj)
        if is_foreign and like is None:  # xo.asarray would leave the values with NumPy
            like = xo.zeros(0, dtype="uint8", device=device)
    if dtype is None and (type(obj) in NUMBERS or isinstance(obj, (list, tuple))):
        dtype = _default_of(listed)
    like = reference(None) if like is None and not is_array(obj) else like
    return xo.asarray(obj, dtype=dtype, like=like, device=device, copy=copy)


def numpy_array(numbers: Any) -> Any:
    """A Python number, or a sequence of them, as NumPy's array."""
    return xo.asarray(numbers, dtype=_default_of(nested.members(numbers)), backend="numpy")


def numpy_numbers(*values: Any) -> Sequence[Any]:
    """The values, as NumPy's arrays if all are numbers, whatever the default library."""
    is_alone = SCALARS.issuperset(map(type, values)) and not is_traced()
    return [numpy_array(each) for each in values] if is_alone else values


def operand(x: Any, *others: Any) -> Any:
    """x as an array of the library of all arrays; if all are numbers, NumPy's, whatever the default library."""
    is_number = SCALARS.issuperset(type(each) for each in (x, *others) if each is not None)
    return numpy_array(x) if is_number and not is_traced() else arrays(first_array((x, *others)), x)[1]


def reduced_array(x: Any, axis: Any) -> Any:
    """The operand of a reduction; numbers that are reduced to one number stay NumPy's, whatever the default library."""
    if is_array(x):
        return x
    is_one = axis is None and SCALARS.issuperset(map(type, nested.members(x)))
    return numpy_array(x) if is_one and not is_traced() else arrays(x)[0]


def _as_values(obj: Any) -> tuple[Any, bool]:
    """Any sequence as a list, objects with ``__array__`` as NumPy's arrays; then whether the latter are all arrays."""
    if isinstance(obj, (list, tuple)):
        classes = {*map(type, nested.members(obj))} - nested.VALUES
        if not any(hasattr(cls, "__array__") for cls in classes):
            return obj, False
        filled = nested.fill(obj, lambda x: x if is_array(x) else _as_values(x)[0])
        if first_array((obj,)) is not None:
            return filled, False
        import numpy

        return numpy.asarray(filled), True
    if hasattr(type(obj), "__array__"):
        import numpy

        return numpy.asarray(obj), True
    is_text = isinstance(obj, (str, bytes))
    return (list(obj) if isinstance(obj, Sequence) and not is_text and not has_buffer(obj) else obj), False


def _class_of(listed: list[Any]) -> type | None:
    """The widest class of Python numbers; None if there are other objects, such as arrays."""
    classes = {type(member) for member in listed}
    return max(classes, key=list(NUMBERS).index, default=float) if SCALARS.issuperset(classes) else None


def _default_of(listed: list[Any]) -> str | None:
    """NumPy's default dtype of Python numbers, or uint64 for large integers; None if there are other objects."""
    widest = _class_of(listed)
    if widest is int and any(type(member) is int and member >= 2**63 for member in listed):
        return "uint64"
    return None if widest is None else name_of_default(widest)


def name_of_default(cls: type) -> str | None:
    """The dtype of new arrays of Python numbers; None for the library's default integers and booleans.

    It is NumPy's default, unless `xarrayops.use` or `xarrayops.set_default` has a floating-point dtype.
    """
    name = floating_dtype()
    if name is None:
        return NUMBERS[cls]
    if cls is complex:
        return "complex128" if name == "float64" else "complex64"
    return name if cls is float else None


def arrays(*values: Any) -> list[Any]:
    """The values as arrays of one library; None stays None."""
    like = first_array(values)
    return [value if value is None else _as_array(value, like, values) for value in values]


def _as_array(value: Any, like: Any, values: Sequence[Any]) -> Any:
    if not is_array(value):
        return new_array(value, dtype=_weak_dtype(value, like, values), like=like)
    if is_numpy_scalar(value) and not is_numpy_scalar(like):
        return xo.asarray(value, dtype=_weak_dtype(value, like, values), like=like)
    return value


def _weak_dtype(value: Any, like: Any, values: Sequence[Any]) -> Any:
    """The dtype of numbers next to arrays of a library that lacks their default dtype; else None, for the default."""
    if like is None or is_numpy_scalar(like) or not lacks(like, "float64"):
        return None
    widest = _class_of(_numbers_in(value))
    default = name_of_default(widest) if widest is not None else None
    if widest is None or default is None or not lacks(like, default):
        return None
    strong = [x for x in values if is_array(x) and not is_numpy_scalar(x)]
    return xo.result_type(*(strong or [like]), widest())


def lacks(like: Any, dtype: str) -> bool:
    """Whether the library of an array has no dtype of that name: JAX's 64-bit types may be off."""
    return _class_lacks(type(like), dtype)


@constant_while_tracing
def _class_lacks(cls: type, dtype: str) -> bool:
    backend = find.of_class(cls)
    return backend is not None and backend.functions["import_refusal"](dtype) is not None


def _numbers_in(value: Any) -> list[Any]:
    """The members of a sequence, NumPy's scalars as Python numbers."""
    return [*map(as_number, nested.members(value if is_array(value) else _as_values(value)[0]))]


def in_library_of(like: Any, value: Any) -> Any:
    """The value as an array, by default of the library of another array, in its default dtype."""
    return new_array(value, like=like) if first_array((value,)) is None else array(value)


def indices(value: Any, like: Any = None) -> Any:
    """The value as an array; numbers that are not in an array have the library's default dtype of their class."""
    if is_array(value) and (like is None or not is_numpy_scalar(value)):
        return value
    return new_array(value, dtype=_class_of(_numbers_in(value)), like=like)


def in_dtype_of(x: Any, value: Any) -> Any:
    """The value as an array in the dtype of x."""
    is_given = is_array(value) and not is_numpy_scalar(value)
    return xo.astype(value, x.dtype) if is_given else cast_new(value, x.dtype, like=x)


def cast_new(value: Any, dtype: Any, *, like: Any, device: Any = None) -> Any:
    """A new array with the values, cast to the dtype. OverflowError for Python integers that it cannot hold."""
    is_whole = {*map(type, nested.members(value))} == {int} and xo.isdtype(dtype, "integral")
    is_weak = is_whole or _weak_dtype(value, like, (like,)) is not None
    return xo.astype(new_array(value, dtype=dtype if is_weak else None, like=like, device=device), dtype)


def array(value: Any) -> Any:
    """The value as an array."""
    return value if is_array(value) else arrays(value)[0]


def scalar(x: Any) -> Any:
    """An array of no dimensions as a scalar, if the library has scalars."""
    return x if x.ndim else x[()]


def together(*values: Any) -> list[Any]:
    """The values as arrays of one library, in NumPy's common dtype."""
    return harmonised(*arrays(*values))


def operands(*values: Any) -> list[Any]:
    """The values as arrays; Python numbers are unchanged if there is an array."""
    found = with_numbers(*values)
    try:
        return harmonised(*found)
    except Unsupported:  # perhaps because NumPy's scalars are not weakly typed
        if not any(map(is_numpy_scalar, found)):
            raise
    return harmonised(*map(as_number, found))


def with_numbers(*values: Any) -> list[Any]:
    """The values as arrays, each in its own dtype; Python numbers are unchanged if there is an array."""
    like = first_array(values)
    if like is None:
        return arrays(*values)
    return [x if type(x) in NUMBERS or is_array(x) else _as_array(x, like, values) for x in values]


def alike(*values: Any) -> list[Any]:
    """The values as arrays of one dtype, in which Python numbers are weakly typed."""
    values = tuple(operands(*values))
    like = first_array(values)
    if lacks(like, "float64"):
        values = tuple(map(as_number, values))
    dtype = xo.result_type(*values)
    return [xo.astype(x, dtype) if is_array(x) else xo.asarray(x, dtype=dtype, like=like) for x in values]


def harmonised(*values: Any) -> list[Any]:
    """The values in NumPy's common dtype, if the library promotes to another dtype."""
    dtype = _common_dtype(values)
    if dtype is None or floating_dtype() is not None:
        return list(values)
    return [xo.astype(x, dtype) if hasattr(x, "dtype") and not is_numpy_scalar(x) else x for x in values]


def _common_dtype(values: Sequence[Any]) -> str | None:
    """The dtype to which NumPy promotes; None if the library agrees, or if NumPy has no such dtypes."""
    key = tuple([(type(x), x.dtype) if hasattr(x, "dtype") else type(x) for x in values])
    found = _known_promotion(key)
    dtype, is_agreed = _keep_promotion(key, *_promotion(values)) if found is None else found
    if dtype is None or not is_agreed:
        return dtype
    # JAX agrees only while it has the dtype.
    return dtype if [x for x in values if _class_lacks(type(x), dtype)] else None


@constant_while_tracing  # torch.compile would compile again whenever the dict grows
def _known_promotion(key: tuple[Any, ...]) -> tuple[str | None, bool] | None:
    return _harmonised.get(key)


@constant_while_tracing
def _keep_promotion(key: tuple[Any, ...], dtype: str | None, is_agreed: bool) -> tuple[str | None, bool]:
    _harmonised[key] = dtype, is_agreed
    return dtype, is_agreed


def missing_dtype(*values: Any) -> str | None:
    """NumPy's common dtype if the library of the values lacks it; else None."""
    dtype, like = _common_dtype(values), first_array(values)
    return dtype if dtype is not None and floating_dtype() is None and lacks(like, dtype) else None


def _promotion(values: Sequence[Any]) -> tuple[str | None, bool]:
    """The dtype to which NumPy promotes, and whether the library agrees; None if nothing has to be cast."""
    native = [x for x in values if hasattr(x, "dtype")]
    numbers = [x for x in values if type(x) in NUMBERS]
    wanted = promoted([name_of(x.dtype) for x in native], [type(x) for x in numbers])
    if wanted is None or all(name_of(x.dtype) == wanted for x in native):
        return None, True
    try:
        found = name_of(xo.result_type(*native, *numbers))
    except (TypeError, xo.Unsupported):
        found = None
    return wanted, found == wanted and not _follows_default(native, numbers)


@constant_while_tracing
def promoted(names: Sequence[str | None], numbers: Sequence[type]) -> str | None:
    """NumPy's common dtype of arrays with these dtypes and of Python numbers; None for dtypes that NumPy lacks."""
    import numpy

    if not names or not {*names} <= DTYPES_OF_NUMPY:
        return None
    return numpy.result_type(*names, *(cls() for cls in numbers)).name


@constant_while_tracing
def casts(source: str | None, target: str | None, casting: Any) -> bool:
    """Whether ``casting`` allows the cast; dtypes that NumPy lacks may be cast."""
    import numpy

    names: tuple[Any, Any] = (source, target) if {source, target} <= DTYPES_OF_NUMPY else ("bool", "bool")
    return numpy.can_cast(*names, "same_kind" if casting == "same_value" else casting)


def _follows_default(native: Sequence[Any], numbers: Sequence[Any]) -> bool:
    """Whether the library promotes integers with a number to its default dtype, which programs can change."""
    is_floating = any(type(x) in (float, complex) for x in numbers)
    return is_floating and all(map(is_integer, native)) and any(xo.backend(x).name != "numpy" for x in native)


def floating(x: Any) -> Any:
    """x, or integers in NumPy's default floating-point dtype if the library has another default."""
    return x if floating_dtype() is not None or not is_integer(x) else harmonised(x, 0.5)[0]


def inexact(x: Any) -> Any:
    """x, or integers in NumPy's default floating-point dtype: for steps that the library takes in the dtype of x."""
    x = floating(x)
    return xo.astype(x, float) if is_integer(x) else x


def doubles(*values: Any) -> list[Any]:
    """The values as arrays in NumPy's common dtype with float64, in which NumPy takes some steps."""
    found = harmonised(*arrays(*values))
    dtype = "complex128" if any(map(is_complex, found)) else "float64"
    if floating_dtype() is not None or lacks(found[0], dtype):
        return floats(*found)
    return [xo.astype(x, dtype) for x in found]


def floats(*values: Any) -> list[Any]:
    """The values as arrays of one library, as floating-point numbers in NumPy's common dtype."""
    return harmonised(*map(floating, arrays(*values)))


def is_integer(x: Any) -> bool:
    """Whether an array holds integers or booleans."""
    return xo.isdtype(x.dtype, ("integral", "bool"))


def is_complex(x: Any) -> bool:
    """Whether an array holds complex numbers."""
    return xo.isdtype(x.dtype, "complex floating")


def size_of(x: Any) -> int:
    """The number of elements."""
    return prod(x.shape)


def integers(values: Any) -> tuple[int, ...]:
    """One integer, or those of a sequence or a vector, as Python's."""
    return tuple(map(integer, values)) if is_several(values) else (integer(values),)


def whole(value: Any) -> int:
    """An integer, also one in floating point, where NumPy does not ask for ``operator.index``."""
    number = plain_number(value)
    return int(number) if isinstance(number, float) and number.is_integer() else operator.index(number)


def axis_or_axes(values: Any) -> Any:
    """One integer, or a tuple of those of a sequence, as Python's: an axis or axes, a size or a shape; None stays."""
    if values is None or type(values) is int:
        return values
    return integers(values) if is_several(values) else integer(values)


def is_several(values: Any) -> bool:
    """Whether it is a sequence or an array of at least one dimension, and not one value."""
    return isinstance(values, Iterable) and getattr(values, "ndim", 1) > 0


def axes_of(x: Any, axis: Any) -> tuple[int, ...]:
    """The axes as a tuple of non-negative integers."""
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(one_axis(a, x.ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))


def axis_of_scalar(x: Any, axis: Any) -> Any:
    """The axis of a reduction; none for a 0-d array and the axes 0 and -1, which NumPy accepts."""
    return () if x.ndim == 0 and axis in (0, -1) else axis


def one_axis(axis: Any, ndim: int) -> int:
    """The axis as a non-negative integer; NumPy's AxisError if it is out of bounds."""
    index = operator.index(axis)
    if not -ndim <= index < ndim:
        from numpy.exceptions import AxisError

        raise AxisError(f"axis {index} is out of bounds for array of dimension {ndim}")
    return index % ndim if ndim else index


def raveled(x: Any) -> Any:
    """The elements as a vector, in C order."""
    return x if x.ndim == 1 else xo.reshape(x, (-1,) if size_of(x) else (0,))


def is_fortran(x: Any) -> bool:
    """Whether x is in Fortran order and not in C order; arrays without a known layout are not."""
    try:
        return x.ndim > 1 and xo.layout_of(x).order == "F"
    except (xo.Unsupported, xo.LayoutError):
        return False


def reference(like: Any) -> Any:
    """The reference array of ``like=``: an array, or one in a sequence. Numbers, None and objects have no library.

    It is a tensor if torch.compile traces and there is none.
    """
    if like is not None and is_array(like) and not is_numpy_scalar(like):
        return like
    if isinstance(like, type) or (hasattr(like, "itemsize") and not is_numpy_scalar(like)):
        raise TypeError("The `like` argument must be an array-like that implements the `__array_function__` protocol.")
    found = first_array((like,)) if isinstance(like, (list, tuple)) else None
    if found is None and is_traced():  # new arrays are tensors then: it cannot combine arrays of NumPy with tensors
        return xo.empty(0, dtype="float64", backend="torch")
    return found


def plain_number(value: Any) -> Any:
    """A Python number, also from a 0-d array."""
    value = as_number(value)
    if getattr(value, "ndim", 0):
        raise TypeError("only 0-dimensional arrays can be converted to Python numbers")
    return value.item() if hasattr(value, "item") else value


def refuse(function: str, instead: str, **options: bool) -> None:
    """Raise `Unsupported` for options without the supported value."""
    for name, is_refused in options.items():
        if is_refused:
            raise Unsupported(f"np.{function}: {name}= is not supported. Instead: {instead}")


def truth(function: str, x: Any, instead: str) -> bool:
    """The truth value of x; raises in a function that JAX traces, where values are unknown."""
    try:
        return bool(x)
    except TypeError as error:
        if type(error).__name__ != "TracerBoolConversionError":
            raise
        raise _values_unknown(function, instead) from error


def require_between(x: Any, low: int, high: int, error: Exception) -> None:
    """Raise unless all integers are from low to below high, where they are known. PyTorch on CUDA fails later."""
    if not xo.is_lazy(x) and size_of(x):
        is_within = xo.all(xo.logical_and(x >= low, x < high))
        xo.backend(x).functions["require"](is_within, error)


def require_values(function: str, instead: str) -> None:
    """Raise in a function that torch.compile traces: the shape or the dtype of the result depends on values."""
    if is_traced():
        raise _values_unknown(function, instead)


def _values_unknown(function: str, instead: str) -> Unsupported:
    why = "the result depends on values, which are unknown while a function is traced or compiled"
    return Unsupported(f"np.{function}: {why}. Instead: {instead}")


def no_subclass(function: str, subok: Any, default: bool = False) -> None:
    """Raise unless ``subok`` is the default: arrays of subclasses are refused anyway."""
    refuse(function, f"leave it at {default}; results have the library's own class", subok=subok not in (default, None))


def only_of(out: Any) -> Any:
    """The array of ``out=``, which may be a tuple of one array."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        out = out[0]
    if out is not None and not is_array(out):
        raise TypeError("return arrays must be of ArrayType")
    return out


def wider_for(out: Any, x: Any) -> str | None:
    """The wider dtype in which NumPy reduces x into ``out``, that to which both promote; None if there is none."""
    out = only_of(out)
    if out is None or not is_array(out):
        return None
    own = name_of(x.dtype)
    found = promoted([own, name_of(out.dtype)], [])
    return None if found == own else found


def widened_for(name: str, out: Any, x: Any, dtype: Any) -> Any:
    """x in the dtype of `wider_for`, unless ``dtype`` is given; comparisons have no wider loop."""
    wider = wider_for(out, x) if dtype is None and name not in COMPARISONS else None
    # PyTorch does not compute with its wide unsigned integers
    return x if wider is None or wider.startswith("uint") else xo.astype(x, wider)


def written(function: str, result: Any, out: Any, casting: str = "same_kind") -> Any:
    """The result, or ``out`` with the result in it. The result is computed before anything is written."""
    if out is None:
        return result
    out = only_of(out)
    if out is None:
        return result
    if xo.is_lazy(out):
        overwritten(function, out, ..., out, f"out = np.{function}(...), without out=")
    require_cast(function, result, out, casting)
    if tuple(xo.broadcast_shapes(result.shape, out.shape)) != tuple(out.shape):
        raise ValueError(
            f"np.{function}: the result of shape {tuple(result.shape)} cannot be broadcast to the shape of "
            f"out, {tuple(out.shape)}"
        )
    return overwritten(function, out, ..., xo.astype(result, out.dtype), f"out = np.{function}(...), without out=")


def require_cast(function: str, result: Any, out: Any, casting: str) -> None:
    """Raise unless ``casting`` allows the cast of a result to the dtype of out."""
    source, target = name_of(result.dtype), name_of(out.dtype)
    if not casts(source, target, casting):
        raise TypeError(
            f"np.{function}: cannot cast the result from {source} to {target}, the dtype of out, "
            f"with casting={casting!r}. Instead: out= of {source}"
        )


def overwritten(function: str, x: Any, index: Any, value: Any, instead: str) -> Any:
    """x, with the selected elements set to the value in place."""
    try:
        return xo.at(x)[index].set(value, copy=False)
    except Unsupported as error:
        raise Unsupported(
            f"np.{function} writes into an array, and this array cannot be written. Instead: {instead}"
        ) from error


def kept(function: str, result: Any, out: Any, where: Any, casting: str) -> Any:
    """The result where the mask is true, and the elements of out elsewhere."""
    out = only_of(out)
    if out is None:
        raise Unsupported(
            f"np.{function}: where= without out= leaves elements undefined. "
            f"Instead: np.where(where, np.{function}(...), other)"
        )
    require_cast(function, result, out, casting)
    mask = arrays(out, where)[1]
    return xo.where(mask, xo.astype(result, out.dtype), out)


def ordered(function: str, result: Any, order: Any) -> Any:
    """The result in NumPy's ``order=``: F changes the memory order; K, A and C keep the library's order."""
    if order in ("K", "A", None) or result.ndim < 2:
        return result
    if order not in ("C", "F"):
        raise ValueError(f"np.{function}: order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return xo.contiguous(result, order=order)
