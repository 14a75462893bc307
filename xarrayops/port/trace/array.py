"""Arrays that count what is done with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from xarrayops.port.source.in_place import IN_PLACE_FUNCTIONS, IN_PLACE_METHODS
from xarrayops.port.trace import operations
from xarrayops.port.trace.kinds import flops_of, kind_of, kind_of_ufunc
from xarrayops.port.trace.record import Trace, arrays_in

_OF_METHODS = {
    "reduce": operations.REDUCTION,
    "reduceat": operations.REDUCTION,
    "accumulate": operations.SCAN,
}
_WRITING = ("at", *IN_PLACE_FUNCTIONS, *IN_PLACE_METHODS)
"""The functions and methods that change their first argument."""


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
            given, options, function = plain(inputs), plain(options), getattr(ufunc, method)
            start = perf_counter()
            result = function(*given, **options)
            seconds = perf_counter() - start
            if method == "at":
                trace.add(operations.SCATTER, arrays_in(given), [], seconds, whole=given[0].nbytes)
                _note_write(trace, inputs[0], given[1])
                return None
            kind = _OF_METHODS.get(method) or kind_of_ufunc(ufunc, arrays_in(given), len(given))
            results = arrays_in(wrapped(result, trace))
            flops = flops_of(ufunc.__name__, arrays_in(given), results)
            trace.add(kind, arrays_in(given), results, seconds, flops=flops)
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
            start = perf_counter()
            result = base[key]
            seconds = perf_counter() - start
            is_copy = any(isinstance(part, (np.ndarray, list)) for part in (key if isinstance(key, tuple) else (key,)))
            if _has_mask(key):
                trace.data_dependent[trace.line()] += 1
            if isinstance(result, np.generic):
                result = np.asarray(result)
            moved = [result] if is_copy else []
            operands = [*moved, *arrays_in(key)] if is_copy else []
            kind = _copying(key) if is_copy else _viewing(key, result)
            trace.add(kind, operands, [result], seconds, whole=base.nbytes)
            return wrapped(result, trace)

    def __setitem__(self, index: Any, value: Any) -> None:
        trace = self._counts
        with trace.inside:
            key, new = plain(index), plain(value)
            base = plain(self)
            start = perf_counter()
            base[key] = new
            seconds = perf_counter() - start
            indices = arrays_in(key)
            selected = arrays_in(new) if indices else [base[key]] if isinstance(base[key], np.ndarray) else []
            kind = _assigning(key, new) if indices else operations.ASSIGNMENT
            trace.add(kind, [*selected, *selected, *indices], [], seconds, whole=base.nbytes)
            _note_write(trace, self, key)

    def _number(self, convert: Callable[[Any], Any]) -> Any:
        """A Python number or text of the array."""
        with self._counts.inside:
            self._counts.numbers[self._counts.line()] += 1
            return convert(plain(self))

    def __bool__(self) -> bool:
        return self._number(bool)

    def __float__(self) -> float:
        return self._number(float)

    def __int__(self) -> int:
        return self._number(int)

    def __complex__(self) -> complex:
        return self._number(complex)

    def __index__(self) -> int:
        return self._number(lambda x: x.__index__())

    def __hash__(self) -> int:  # type: ignore[override]
        return self._number(lambda x: hash(x[()]))

    def __round__(self, digits: int | None = None) -> Any:
        return self._number(lambda x: round(x[()], digits) if digits is not None else round(x[()]))

    def __format__(self, specification: str) -> str:
        return self._number(lambda x: format(x, specification))

    def __repr__(self) -> str:
        return self._number(repr)

    def __str__(self) -> str:
        return self._number(lambda x: str(x[()]) if x.ndim == 0 else str(x))

    def __contains__(self, value: Any) -> bool:
        return self._number(lambda x: plain(value) in x)

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


def _of_method(name: str) -> Callable[..., Any]:
    """A method of arrays that counts."""
    method = getattr(np.ndarray, name)

    def traced(self: Traced, /, *args: Any, **kwargs: Any) -> Any:
        if name in ("item", "tolist", "tobytes"):
            return self._number(lambda x: method(x, *plain(args)))
        return call(self._counts, method, (self, *args), kwargs, name=name)

    traced.__name__ = name
    traced.__doc__ = method.__doc__
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
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    setattr(Traced, f"__i{_name}__", _of_update(_name))


def call(trace: Trace, function: Any, args: Any, kwargs: Any, *, name: str = "") -> Any:
    """Call a function of NumPy with plain arrays, and count it."""
    with trace.inside:
        given, options = plain(args), plain(kwargs)
        start = perf_counter()
        result = function(*given, **options)
        seconds = perf_counter() - start
        name = name or getattr(function, "__name__", "")
        operands = arrays_in((list(given), options))
        found = wrapped(result, trace)
        results = plain(arrays_in(found))
        if results or operands:
            kind = kind_of(function, name, operands, results)
            trace.add(kind, operands, results, seconds, flops=flops_of(name, operands, results))
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
        members = [wrapped(member, trace) for member in value]
        return type(value)(*members) if hasattr(value, "_fields") else type(value)(members)
    return value


def _viewing(key: Any, result: Any) -> str:
    """The kind of an index by numbers and slices."""
    if not result.ndim:
        return operations.ELEMENT
    return operations.BLOCK if isinstance(key, tuple) and len(key) > 1 else operations.VIEW


def _copying(key: Any) -> str:
    """The kind of an index that selects by arrays or lists."""
    return operations.MASKED if _has_mask(key) else operations.GATHER


def _assigning(key: Any, new: Any) -> str:
    """The kind of an assignment by arrays."""
    if not _has_mask(key):
        return operations.SCATTER
    return operations.PLACE if isinstance(new, np.ndarray) and new.ndim else operations.FILL


def _has_mask(key: Any) -> bool:
    parts = key if isinstance(key, tuple) else (key,)
    return any(isinstance(part, np.ndarray) and part.dtype == bool for part in parts)


def _note_write(trace: Trace, target: Any, key: Any) -> None:
    """Count a write through a view of a part, and one with an index that names an element twice."""
    if not isinstance(target, np.ndarray):
        return
    owner = target
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if owner.size > target.size:
        trace.views_written[trace.line()] += 1
    parts = key if isinstance(key, tuple) else (key,)
    indices = [np.asarray(part) for part in parts if isinstance(part, (np.ndarray, list))]
    if indices and all(index.dtype.kind in "iu" for index in indices):
        together = np.stack([index.ravel() for index in np.broadcast_arrays(*indices)])
        if np.unique(together, axis=1).shape[1] < together.shape[1]:
            trace.duplicates[trace.line()] += 1
