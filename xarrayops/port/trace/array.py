"""Arrays that count what is done with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from operator import getitem, setitem
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.plugin.nested import fill
from xarrayops.port.source.interface import IN_PLACE_METHODS
from xarrayops.port.source.names import IN_PLACE_FUNCTIONS
from xarrayops.port.trace import operations
from xarrayops.port.trace.kinds import flops_of, kind_of, kind_of_ufunc
from xarrayops.port.trace.record import Trace, arrays_in, timed_call

_OF_METHODS = {**dict.fromkeys(("reduce", "reduceat"), operations.REDUCTION), "accumulate": operations.SCAN}
_WRITING = ("at", *IN_PLACE_FUNCTIONS, *IN_PLACE_METHODS)
"""The functions and methods that change their first argument."""
_CONVERSIONS = (
    *("__bool__", "__complex__", "__contains__", "__float__", "__format__", "__index__", "__int__", "__repr__"),
    *("item", "tobytes", "tolist"),
)
"""The methods that make Python objects."""


class Traced(np.ndarray):
    """A NumPy array that counts in a `Trace`.

    Reductions and elements are 0-d arrays, as in other libraries, but hash, round and format as NumPy scalars.
    """

    _counts: Trace

    def __array_finalize__(self, source: Any) -> None:
        if source is not None:
            self._counts = getattr(source, "_counts", None)  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        trace = self._counts
        with trace.inside:
            if out is not None:
                options["out"] = plain(out)
            given = plain(inputs)
            result, seconds = timed_call(getattr(ufunc, method), *given, **plain(options))
            operands = arrays_in(given)
            if method == "at":
                trace.add(operations.SCATTER, operands, [], seconds, whole=given[0].nbytes)
                _note_write(trace, inputs[0], given[1])
                return None
            kind = _OF_METHODS.get(method) or kind_of_ufunc(ufunc, operands, len(given))
            results = arrays_in(wrapped(result, trace))
            trace.add(
                kind, operands, results, seconds, flops=flops_of(ufunc.__name__, operands, results), name=ufunc.__name__
            )
            if out is None:
                return wrapped(result, trace)
            if trace.line() not in trace.augmented_items:  # x[i] += v assigns to x afterwards, which counts
                _note_write(trace, out[0], None)
            return out[0] if len(out) == 1 else out

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call(self._counts, func, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        trace = self._counts
        with trace.inside:
            key, base = plain(index), plain(self)
            result, seconds = timed_call(getitem, base, key)
            if isinstance(result, np.generic):
                result = np.asarray(result)
            if _has_mask(key):
                trace.data_dependent[trace.line()] += 1
            operands = []
            if any(isinstance(part, (np.ndarray, list)) for part in _parts(key)):
                operands = [result, *arrays_in(key)]
                kind = operations.MASKED if _has_mask(key) else operations.GATHER
            elif result.ndim:
                kind = operations.BLOCK if len(_parts(key)) > 1 else operations.VIEW
            else:
                kind = operations.ELEMENT
            trace.add(kind, operands, [result], seconds, whole=base.nbytes)
            return wrapped(result, trace)

    def __setitem__(self, index: Any, value: Any) -> None:
        trace = self._counts
        with trace.inside:
            key, new, base = plain(index), plain(value), plain(self)
            _, seconds = timed_call(setitem, base, key, new)
            _add_assignment(trace, base, key, new, seconds)
            _note_write(trace, self, key)

    def _number(self, convert: Callable[[Any], Any]) -> Any:
        """A Python number or text of the array."""
        with self._counts.inside:
            self._counts.numbers[self._counts.line()] += 1
            return convert(plain(self))

    def __hash__(self) -> int:  # type: ignore[override]
        return self._number(lambda x: hash(x[()]))

    def __round__(self, digits: int | None = None) -> Any:
        return self._number(lambda x: round(x[()], digits))

    def __str__(self) -> str:
        return self._number(lambda x: str(x[()]) if x.ndim == 0 else str(x))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __reduce__(self) -> Any:
        return plain(self).__reduce__()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __getattr__(self, name: str) -> Any:
        """Attributes that only NumPy scalars have, such as ``is_integer``."""
        if name.startswith("__") or name == "_counts" or self.ndim:
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        return getattr(plain(self)[()], name)


class At:
    """``xo.at(x)`` and ``xo.at(x)[index]`` of a counting array: the updates count as assignments to elements."""

    def __init__(self, trace: Trace, x: Any, index: Any = None) -> None:
        self._trace, self._x, self._index = trace, x, index

    def __getitem__(self, index: Any) -> At:
        return At(self._trace, self._x, index)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        trace, base, key = self._trace, plain(self._x), plain(self._index)
        update = getattr(xo.at(base)[key], name)

        def updated(*values: Any, **options: Any) -> Any:
            with trace.inside:
                given = plain(values)
                result, seconds = timed_call(update, *given, **options)
                _add_assignment(trace, base, key, given[0] if given else None, seconds)
                return wrapped(result, trace)

        return updated


def _add_assignment(trace: Trace, base: Any, key: Any, new: Any, seconds: float) -> None:
    """Count an assignment to elements of an array."""
    indices = arrays_in(key)
    selected = arrays_in(new) if indices else [base[key]] if isinstance(base[key], np.ndarray) else []
    kind = _assigning(key, new) if indices else operations.ASSIGNMENT
    trace.add(kind, [*selected, *selected, *indices], [], seconds, whole=base.nbytes)


def _of_method(name: str) -> Callable[..., Any]:
    """A method of arrays that counts."""
    method = getattr(np.ndarray, name)

    @wraps(method)
    def traced(self: Traced, /, *args: Any, **kwargs: Any) -> Any:
        return call(self._counts, method, (self, *args), kwargs, name=name)

    return traced


def _of_conversion(name: str) -> Callable[..., Any]:
    """A method that makes a Python object of the array."""
    method = getattr(np.ndarray, name)

    @wraps(method)
    def traced(self: Traced, /, *args: Any, **kwargs: Any) -> Any:
        return self._number(lambda x: method(x, *plain(args), **kwargs))

    return traced


def _of_update(name: str) -> Callable[..., Any]:
    """An augmented assignment, which rebinds numbers and changes arrays."""
    in_place = getattr(np.ndarray, f"__i{name}__")
    operator = getattr(np.ndarray, f"__{name}__")

    def traced(self: Traced, other: Any) -> Any:
        return in_place(self, other) if self.ndim else operator(self, other)

    return traced


for _name in dir(np.ndarray):
    if not _name.startswith("_") and callable(getattr(np.ndarray, _name)):
        setattr(Traced, _name, _of_method(_name))
for _name in _CONVERSIONS:
    setattr(Traced, _name, _of_conversion(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    setattr(Traced, f"__i{_name}__", _of_update(_name))


def call(trace: Trace, function: Any, args: Any, kwargs: Any, *, name: str = "") -> Any:
    """Call a function of NumPy with plain arrays, and count it."""
    with trace.inside:
        given, options = plain(args), plain(kwargs)
        result, seconds = timed_call(function, *given, **options)
        name = name or getattr(function, "__name__", "")
        operands = arrays_in((list(given), {key: each for key, each in options.items() if key != "like"}))
        found = wrapped(result, trace)
        results = plain(arrays_in(found))
        if results or operands:
            kind = kind_of(function, name, operands, results)
            trace.add(kind, operands, results, seconds, flops=flops_of(name, operands, results), name=name)
            if name in _WRITING and args:
                _note_write(trace, args[0], given[1] if name in ("at", "put") else None)
            if name in DATA_DEPENDENT or (name == "where" and len(given) == 1):
                trace.data_dependent[trace.line()] += 1
        out = kwargs.get("out")
        return out if isinstance(out, Traced) else found


DATA_DEPENDENT = ("nonzero", "argwhere", "flatnonzero", "unique", "extract", "compress")


def plain(value: Any) -> Any:
    """The value with plain NumPy arrays."""
    if isinstance(value, Traced):
        return np.ndarray.view(value, np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(plain(member) for member in value)
    if type(value) is dict:
        return {name: plain(member) for name, member in value.items()}
    return value


def wrapped(value: Any, trace: Trace) -> Any:
    """The result with counting arrays for its arrays and NumPy scalars; dtypes that only NumPy has stay unchanged."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        value = np.asarray(value)
    if type(value) is np.ndarray and value.dtype.kind in "biufc":
        value = value.view(Traced)
        value._counts = trace
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(member, (np.ndarray, np.generic)) for member in value):
        return fill(value, lambda member: wrapped(member, trace))
    return value


def _assigning(key: Any, new: Any) -> str:
    """The kind of an assignment by arrays."""
    if not _has_mask(key):
        return operations.SCATTER
    return operations.PLACE if isinstance(new, np.ndarray) and new.ndim else operations.FILL


def _has_mask(key: Any) -> bool:
    return any(isinstance(part, np.ndarray) and part.dtype == bool for part in _parts(key))


def _parts(key: Any) -> tuple[Any, ...]:
    """The parts of an index."""
    return key if isinstance(key, tuple) else (key,)


def _note_write(trace: Trace, target: Any, key: Any) -> None:
    """Count a write through a view of a part, and one with an index that names an element twice."""
    if not isinstance(target, np.ndarray):
        return
    owner = target
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if owner.size > target.size:
        trace.views_written[trace.line()] += 1
    indices = [np.asarray(part) for part in _parts(key) if isinstance(part, (np.ndarray, list))]
    if indices and all(index.dtype.kind in "iu" for index in indices):
        together = np.stack([index.ravel() for index in np.broadcast_arrays(*indices)])
        if np.unique(together, axis=1).shape[1] < together.shape[1]:
            trace.duplicates[trace.line()] += 1
