"""Operands: arrays are unchanged; numbers and sequences become arrays of the same library, in NumPy's dtypes.

JAX lacks NumPy's default dtypes while its 64-bit types are off. Numbers and sequences next to its arrays are then
weakly typed (`_weak_dtype`), indices have the library's integer dtype (`indices`), and comparisons need no common dtype
(`_comparison`). What remains is a result in a dtype that the library lacks: the cast to it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any, TypeVar

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops._core.backends.find import SCALARS
from xarrayops._core.backends.foreign import has_buffer
from xarrayops._core.backends.numpy_scalars import as_number, is_numpy_scalar
from xarrayops._core.backends.resolved import is_traced
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._core.modes.defaults import floating_dtype
from xarrayops.numpy import _own
from xarrayops.plugin import nested
from xarrayops.plugin.candidates import constant_while_tracing

NUMBERS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
"""NumPy's default dtypes by class of Python number, the narrowest first."""
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
_is_array_class: dict[type, bool] = {}


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


def with_numbers(*values: Any) -> list[Any]:
    """The values as arrays, each in its own dtype; Python numbers are unchanged if there is an array."""
    like = first_array(values)
    if like is None:
        return arrays(*values)
    return [x if type(x) in NUMBERS or is_array(x) else _as_array(x, like, values) for x in values]


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
