"""at: an indexed update with one notation for mutable and immutable arrays, and whether it writes x in place."""

from __future__ import annotations

from typing import Any, Generic, NoReturn

from xarrayops._core.backends.find import NON_ARRAY_TYPES
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.arguments import signature
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._core.dispatch.refused import NotGiven, Refused, shows_own_parameters
from xarrayops._ops.explained import explain_call
from xarrayops._ops.explanation import Explanation
from xarrayops._ops.indexing.operands import (
    cast,
    check,
    checked,
    converted,
    is_assigned_by_python,
    one_backend,
    read,
    wrong_copy,
)
from xarrayops.errors import Unsupported, XArrayOpsError
from xarrayops.plugin.arrays import Array, ArrayT, Scalar
from xarrayops.plugin.indexing import BASIC, Index

_OF_NUMPY_AND_JAX = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "minimum": "min",
    "maximum": "max",
    "true_divide": "divide",
    "replace": "set",
    "take": "get",
}
"""Our names for updates in other notations."""


@shows_own_parameters
def at(x: ArrayT, extra: Refused = NotGiven, /, copy: Refused = NotGiven) -> AtIndexer[ArrayT]:
    """Update the elements of x that an index selects: ``xo.at(x)[index].add(value)``.

    The index has NumPy's meaning on every library. x itself does not change unless ``copy=`` allows it.

    Parameters
    ----------
    x : array
        Any array.

    Returns
    -------
    AtIndexer
        Indexing it with integers, slices, None, an ellipsis, lists, and arrays of integers or bools gives an object
        with the methods ``set``, ``add``, ``subtract``, ``multiply``, ``divide``, ``min`` and ``max``, each with the
        signature ``f(value, /, *, copy=True)``, and ``get(*, copy=True)``, which returns the elements.
        ``assign(value, /)`` is NumPy's ``x[index] = value`` followed by the result x: it casts any real value to the
        dtype of x, so that a float in an integer array loses its fraction, takes lists, and reuses the memory of x as
        ``copy=None`` does. Objects that no library has as arrays, such as lists, data frames and NumPy's arrays of
        text, are assigned to by Python.

        ``copy=True``, the default, never changes x, so that the result does not depend on the library. None may reuse
        the memory of x: neither x nor arrays that share its memory may be used afterwards, only the result. False
        writes x in place, and raises if x cannot be written.

    Raises
    ------
    IndexError
        A Python integer is out of bounds, the shape of a mask differs from the axes that it indexes, or x has too few
        axes.
    ValueError
        The value does not broadcast to the shape of the selected elements.
    MixedBackends
        The value or an index is an array of a different library than x.
    TypeError
        The value is None, a list or a tuple, or ``copy`` is not True, False or None.
    OverflowError
        The value is an integer beyond the limits of the dtype of x: a Python number or a NumPy scalar.
    Unsupported
        ``copy=False`` and x cannot be written (JAX, Dask, read-only NumPy); x cannot hold the result, such as a float
        or a quotient in an integer array; or the index holds floats.

    Notes
    -----
    Laws: ``at(x)[i].set(v)`` equals a copy of x after ``x[i] = v`` in NumPy, and ``at(x)[i].add(v)`` equals one after
    ``numpy.add.at(x, i, v)``: duplicate indices accumulate in add, subtract, multiply, divide, min and max in every
    library. Values are cast to the dtype of x first; NumPy's scalars count as Python numbers, as values and as
    indices. Values and indices are read before x is written, also where they share memory with x. If an index repeats
    in ``set``, which value remains is unspecified. The result of an out-of-bounds element of an array of indices is
    unspecified. Products and quotients by duplicate indices may differ from NumPy's by rounding.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.zeros(3)
    >>> xo.at(x)[np.asarray([0, 0, 2])].add(1.0)
    array([2., 0., 1.])
    >>> x
    array([0., 0., 0.])
    >>> xo.at(x)[1:].set(5.0, copy=None) is x
    True
    >>> xo.at(x)[[2, 1, 0]].get()
    array([5., 5., 0.])
    """
    if extra is not NotGiven or copy is not NotGiven:
        option = f", copy={copy!r}" if copy is not NotGiven else ""
        raise TypeError(f"xo.at takes only an array. Instead: xo.at(x)[index].set(value{option})")
    return AtIndexer(x)


class AtIndexer(Generic[ArrayT]):
    """An array to index: ``indexer[index]`` selects the elements to update."""

    __slots__ = ("_x",)

    def __init__(self, x: ArrayT) -> None:
        self._x = x

    def __getitem__(self, index: Any) -> IndexedUpdate[ArrayT]:
        return IndexedUpdate(self._x, index)

    def __getattr__(self, name: str) -> NoReturn:
        place = f"xo.at(x)[index].{name}; the index ... selects all elements"
        fix = f". Instead: {place}" if hasattr(IndexedUpdate, name) else ""
        raise AttributeError(f"xo.at(x) has no {name}{fix}", name=None, obj=None)


class IndexedUpdate(Generic[ArrayT]):
    """The elements of an array that an index selects, with methods to update them."""

    __slots__ = ("_index", "_x")

    def __init__(self, x: ArrayT, index: Any) -> None:
        self._x = x
        self._index = index

    def __getattr__(self, name: str) -> NoReturn:
        ours = _OF_NUMPY_AND_JAX.get(name)
        listed = ", ".join(method for method in vars(IndexedUpdate) if not method.startswith("_"))
        fix = f". Instead: xo.at(x)[index].{ours}" if ours else f": it has {listed}"
        raise AttributeError(f"xo.at(x)[index] has no {name}{fix}", name=None, obj=None)

    def get(self, *, copy: bool | None = True) -> ArrayT:
        """The selected elements: a new array, or with ``copy=None`` a view of x if the library returns one."""
        return _selected(self._x, self._index, copy)

    def assign(self, value: Any, /) -> ArrayT:
        """x after NumPy's ``x[index] = value``, which casts the value to the dtype of x."""
        return _assigned(self._x, self._index, value)

    def set(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with the selected elements set to the value."""
        return _updated(self._x, self._index, "set", value, copy)

    def add(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with the value added to the selected elements."""
        return _updated(self._x, self._index, "add", value, copy)

    def subtract(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with the value subtracted from the selected elements."""
        return _updated(self._x, self._index, "subtract", value, copy)

    def multiply(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with the selected elements multiplied by the value."""
        return _updated(self._x, self._index, "multiply", value, copy)

    def divide(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with the selected elements divided by the value; x must hold floating point."""
        return _updated(self._x, self._index, "divide", value, copy)

    def min(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with each selected element replaced by the minimum of it and the value."""
        return _updated(self._x, self._index, "min", value, copy)

    def max(self, value: Array | Scalar, /, *, copy: bool | None = True) -> ArrayT:
        """x with each selected element replaced by the maximum of it and the value."""
        return _updated(self._x, self._index, "max", value, copy)


@explaining_arrays("at")
def _updated(x: Array, index: Any, op: str, value: Any, copy: bool | None) -> Array:
    if copy is not None and type(copy) is not bool:
        raise wrong_copy(op, copy)
    cls = type(value)
    try:
        backend, conversion = checked[op, type(x), x.dtype, cls, None if cls in NON_ARRAY_TYPES else value.dtype]
    except (KeyError, AttributeError, TypeError):
        backend, conversion = check(x, index, op, value)
    if conversion is not None:
        value = converted(value, conversion, x, op)
    if type(index) in BASIC:
        selected = Index((index,), backend.functions, is_basic=True)
    else:
        selected = read(backend, x, index, op)
    try:
        result: Array = backend.functions["update"](x, selected, op, value, copy=copy)
    except (IndexError, ValueError, TypeError, RuntimeError) as error:
        _explain(error, x, selected, op, value)
        raise
    return result


@explaining_arrays("at")
def _assigned(x: Any, index: Any, value: Any) -> Any:
    if is_assigned_by_python(x):
        x[index] = value
        return x
    return _updated(x, index, "set", cast(x, value), None)


@explaining_arrays("at")
def _selected(x: Array, index: Any, copy: bool | None) -> Array:
    if copy is not None and type(copy) is not bool:
        raise wrong_copy("get", copy)
    backend = one_backend(x, index)
    selected = read(backend, x, index, "get")
    try:
        result: Array = backend.functions["select"](x, selected, copy=copy)
    except (IndexError, ValueError, TypeError, RuntimeError) as error:
        _explain(error, x, selected, "get")
        raise
    return result


def _explain(error: Exception, x: Array, index: Index, op: str, value: Any = None) -> None:
    """Raise our own error if the index or the value is invalid. The caller re-raises other errors unchanged."""
    if isinstance(error, XArrayOpsError):
        return
    reason = error
    try:
        index.counted(index.selection(x.shape)).padded(getattr(value, "shape", ()))
    except (IndexError, ValueError) as found:
        reason = found
    if isinstance(reason, (IndexError, ValueError)):
        cls = IndexError if isinstance(reason, IndexError) else ValueError
        raise cls(f"xo.at(x)[index].{op}: {reason}") from error


def explain_at(verb: str, /, *args: Any, copy: bool | None = True, **kwargs: Any) -> Explanation:
    """Explain an update of x. The arguments are x, the index, the operation and the value."""
    x, index, op, value = signature("update").bind(*args, copy=copy, **kwargs).args
    backend = check(x, index, op, value)[0]
    call = x, read(backend, x, index, op), op, value
    if copy is not None and type(copy) is not bool:
        raise wrong_copy(op, copy)
    served = explain_call(verb, *call, copy=copy)
    obstacle = "copy=True" if copy else _obstacle(backend, x, op, value, copy)
    if served.chosen is None or (obstacle is not None and copy is False):
        reason = served.candidates[0].reason if served.chosen is None else obstacle
        refused = tuple(c._replace(ok=False, reason=reason or "") for c in served.candidates)
        return Explanation(verb, f"{backend.name} cannot serve this call", refused, None, "refuse", None, reason)
    action, reason = ("zero-copy", "x is updated in place") if obstacle is None else ("copy", obstacle)
    nbytes = 0 if obstacle is None else _nbytes(backend, x)
    copies = ("copies x" if nbytes is None else f"copies {nbytes} bytes",) if nbytes != 0 else ()
    listed = tuple(c._replace(reason=f"{c.reason}; {reason}", copies=copies) for c in served.candidates)
    return Explanation(verb, f"{action}: {reason}", listed, served.chosen, action, nbytes, reason)


def _obstacle(backend: Backend, x: Array, op: str, value: Any, copy: bool | None) -> str | None:
    """Why an update cannot or, under ``copy=None``, would not write x: a dry run updates no element."""
    f = backend.functions
    nothing = (slice(0, 0),) if x.ndim else (f["asarray"](False, device=f["device"](x)),)
    index = Index(nothing, f, is_basic=x.ndim > 0)
    if hasattr(value, "dtype"):
        value = f["reshape"](value, (-1,))[0:1]
    try:
        f["update"](x, index, op, value, copy=False)
    except Unsupported as error:
        return str(error) if copy is False else str(error).partition(". Instead:")[0]
    kept = copy is False or f["update"](x, index, op, value, copy=None) is x
    return None if kept else "the library does not write x in place here"


def _nbytes(backend: Backend, x: Array) -> int | None:
    memory = backend.functions["memory"](x)
    return None if memory is None else int(memory.nbytes)
