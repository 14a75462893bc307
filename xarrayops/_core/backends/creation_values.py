# Long: every function that makes arrays from numbers or 0-d arrays.
"""Numbers and 0-d arrays as arguments of functions that create arrays.

An integer that the dtype cannot hold raises on every library. The elements and sums of NumPy's arrays are scalars.
Other libraries return 0-d arrays, and then reject them as arguments, read them as Python numbers of the default dtype,
or put them into each element. The functions here serve them on every library, stay lazy and have gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from xarrayops._core.backends.numpy_scalars import is_numpy_scalar
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.candidates import constant_while_tracing
from xarrayops.plugin.dtypes import FLOATING_DTYPES, INTEGER_LIMITS, REAL_OF, does_not_fit
from xarrayops.plugin.indexing import Index
from xarrayops.plugin.nested import fill, members
from xarrayops.plugin.precision import HALVES

CREATING = ("arange", "asarray", "full", "full_like", "linspace", "fft.fftfreq", "fft.rfftfreq")
"""The functions that make arrays from Python numbers or 0-d arrays."""
Hooks = Mapping[str, Callable[..., Any]]
NUMBERS = {
    "arange": ("start", "stop", "step"),
    "fft.fftfreq": ("d",),
    "fft.rfftfreq": ("d",),
    "full": ("fill_value",),
    "full_like": ("fill_value",),
    "geomspace": ("start", "stop"),
    "kaiser": ("beta",),
    "linspace": ("start", "stop"),
    "logspace": ("start", "stop", "base"),
}
"""The parameters that take a number or an array, by function."""


PLAIN = frozenset({bool, int, float, complex, type(None)})
"""The classes of Python's numbers, and of None."""


def requiring_fit(
    verb: str, function: Callable[..., Array], hooks: Hooks, *, wraps_integers: bool
) -> Callable[..., Array]:
    """The function of a verb of `CREATING`, which raises OverflowError for numbers that the integer dtype cannot hold.

    Libraries wrap them, make arrays of Python objects or raise various errors. Where the dtype is floating-point,
    integers beyond 64 bits become floating-point numbers first, which some libraries require.
    """
    positions = _NUMBERS.get(verb, ())
    serve_arrays = of_arrays(verb, function, hooks)

    @constant_while_tracing
    def name_of(dtype: Any) -> str:
        name: str | None = hooks["dtype_name"](dtype)
        return name or ""

    def default_integer() -> str:
        """The name of the library's dtype for Python integers; JAX has two, by a switch."""
        return "" if verb == "linspace" else name_of(hooks["asarray"](0).dtype)

    def fitting(number: Any, dtype: Any) -> Any:
        if type(number) is float:
            return number if dtype is None else whole_part_fits(number, name_of(dtype))
        if _FITS_EVERY_DEFAULT[0] <= number <= _FITS_EVERY_DEFAULT[1] and dtype is None:
            return number
        return fitting_name(number, default_integer() if dtype is None else name_of(dtype))

    def whole_part_fits(number: float, name: str) -> float:
        """The number, or its whole part as the value of an integer dtype. Raises if the dtype cannot hold that."""
        if name not in INTEGER_LIMITS:
            return number
        low, high = INTEGER_LIMITS[name]
        if low - 1 < number < high + 1:  # not for NaN
            return number if verb == "linspace" else int(number)  # PyTorch refuses 255.9 as uint8
        raise does_not_fit(verb, number, name, "a number that it can hold, or dtype= with a floating-point dtype")

    def fitting_name(number: Any, name: str) -> Any:
        low, high = INTEGER_LIMITS.get(name, INTEGER_LIMITS["int64"])
        if low <= number <= high:
            return number
        if name in INTEGER_LIMITS:
            raise does_not_fit(verb, number, name, "dtype= with a dtype that can hold it")
        return float(number)

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Array:
        for i in positions:
            if len(args) > i:
                cls = type(args[i])
                if (cls is int or cls is float) and not 0 <= args[i] <= _FITS_ALWAYS:
                    dtype = kwargs.get("dtype")
                    dtype = args[0].dtype if dtype is None and verb == "full_like" else dtype
                    args = (*args[:i], fitting(args[i], dtype), *args[i + 1 :])
                elif cls not in PLAIN and is_array(args[i]):
                    return serve_arrays(*args, **kwargs)
        return function(*args, **kwargs)

    @wraps(function)
    def checked_arange(
        start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
    ) -> Array:
        if type(start) is type(step) is int and (stop is None or type(stop) is int) and step:
            first, end = (0, start) if stop is None else (start, stop)
            steps = (end - first - (1 if step > 0 else -1)) // step
            if steps >= 0:  # the last value must fit; the stop value need not
                for number in (first, first + steps * step):
                    fitting(number, dtype)
        elif is_array(start) or is_array(stop) or is_array(step):
            return of_arrays(verb, checked_arange, hooks)(start, stop, step, dtype=dtype, device=device)
        return function(start, stop, step, dtype=dtype, device=device)

    @wraps(function)
    def checked_frequencies(n: int, /, *, d: Any = 1.0, dtype: Any = None, device: Any = None) -> Array:
        return (serve_arrays if is_array(d) else function)(n, d=d, dtype=dtype, device=device)

    @wraps(function)
    def checked_asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
        if isinstance(obj, (list, tuple)):
            if wraps_integers and dtype is not None and name_of(dtype) in INTEGER_LIMITS:
                require_range(obj, name_of(dtype))
            try:
                result = function(obj, dtype=dtype, device=device, copy=copy)
            except Exception:  # any class: NumPy and Dask make arrays of objects
                fixed = represented(obj, dtype)
                if fixed is None:
                    raise
                return function(fixed, dtype=dtype, device=device, copy=copy)
            # most sequences begin with a float: this check saves the call of _first
            if dtype is not None or not obj or type(obj[0]) is float:
                return result
            if _first(obj) is int and name_of(result.dtype) in ("uint64", "float64"):
                require_range(obj, default_integer())
            return result
        if type(obj) in (int, float) and not 0 <= obj <= _FITS_ALWAYS:
            obj = fitting(obj, dtype)
        return function(obj, dtype=dtype, device=device, copy=copy)

    def require_range(obj: Any, name: str) -> None:
        """Raise if an integer does not fit the dtype."""
        for number in _integer_range(obj):
            fitting_name(number, name)

    def represented(obj: Any, dtype: Any) -> Any:
        """The sequence with integers beyond 64 bits as floating-point numbers; None if there are no such integers.

        Raises if an integer dtype cannot hold a number.
        """
        listed = members(obj)
        numbers = [number for number in listed if type(number) in (bool, int, float)]
        if dtype is not None:
            name = name_of(dtype)
        else:
            name = default_integer() if all(type(member) in (bool, int) for member in listed) else ""
        if name in INTEGER_LIMITS:
            for number in numbers:
                fitting_name(int(number), name)
            return None
        if not any(map(_is_large, numbers)):
            return None
        return fill(obj, lambda number: float(number) if _is_large(number) else number, kept=())

    special: dict[str, Callable[..., Any]] = {
        "arange": checked_arange,
        "asarray": checked_asarray,
        "fft.fftfreq": checked_frequencies,
        "fft.rfftfreq": checked_frequencies,
    }
    return special.get(verb, checked)


_NUMBERS = {"full": (1,), "full_like": (1,), "linspace": (0, 1)}
"""The positions of the arguments whose values the array must hold."""
_FITS_ALWAYS = 127
"""Every dtype can hold the integers from 0 to this one."""
_FITS_EVERY_DEFAULT = INTEGER_LIMITS["int32"]
"""The default integer dtype of every library can hold these."""


def _first(obj: Any) -> type:
    """The class of the first number in nested sequences."""
    while isinstance(obj, (list, tuple)) and obj:
        obj = obj[0]
    return type(obj)


def _integer_range(obj: Any) -> tuple[int, ...]:
    """The least and greatest number in nested sequences of integers; empty if they hold other values or nothing."""
    classes = set(map(type, obj))
    if classes and classes <= {int, bool}:  # three passes in C are faster than one loop
        return min(obj), max(obj)
    if classes and classes <= {list, tuple}:
        ranges = [_integer_range(member) for member in obj]
        if all(ranges):
            return min(low for low, _ in ranges), max(high for _, high in ranges)
    return ()


def _is_large(number: Any) -> bool:
    """Whether a number is an integer beyond 64 bits."""
    low, high = INTEGER_LIMITS["int64"]
    return type(number) is int and not low <= number <= high


def is_array(value: Any) -> bool:
    """Whether the value of such a parameter is an array. NumPy's scalars are numbers."""
    return type(value) not in PLAIN and hasattr(value, "dtype") and not is_numpy_scalar(value)


def number_like(name: str | None) -> complex:
    """A Python number of the same kind as the named dtype."""
    if name in REAL_OF:
        return 0j
    return 0.0 if name in FLOATING_DTYPES else 0


def of_arrays(verb: str, function: Callable[..., Array], hooks: Hooks) -> Callable[..., Array]:
    """The function of a verb of `NUMBERS` for calls with arrays. ``function`` is the library's, for numbers.

    ``dtype=None`` means the dtype of the arrays, or the default floating-point dtype where integers become fractions.
    """

    def filled(shape: Any, fill_value: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
        value = hooks["asarray"](fill_value, dtype=dtype, device=device)
        return assigned(hooks["empty"](shape, dtype=value.dtype, device=device), value)

    def filled_like(x: Array, fill_value: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
        new = hooks["empty_like"](x, dtype=dtype, device=device)
        return assigned(new, hooks["asarray"](fill_value, dtype=new.dtype, device=device))

    def assigned(new: Array, value: Array) -> Array:
        shape, target = tuple(value.shape), tuple(new.shape)
        if shape and _broadcast(shape, target) != target:
            raise ValueError(f"xo.{verb}: fill_value of shape {shape} does not broadcast to the shape {target}")
        return hooks["update"](new, Index((...,), hooks, is_basic=True), "set", value, copy=None)

    def spaced(
        start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
    ) -> Array:
        _require_0d(verb, start=start, stop=stop)
        made = hooks["result_type"](start, stop, 1.0)
        work = hooks["as_dtype"]("float32") if hooks["dtype_name"](made) in HALVES else made
        start, stop = (hooks["asarray"](end, dtype=work, device=device) for end in (start, stop))
        intervals = num - 1 if endpoint else num
        numbers = hooks["arange"](num, device=device)
        extent, places = stop - start, hooks["astype"](numbers, work)
        halved = 2 * (start / 2 + places * ((stop / 2 - start / 2) / (intervals or 1)))  # the extent may overflow
        values = hooks["where"](hooks["isfinite"](extent), start + places * (extent / (intervals or 1)), halved)
        values = hooks["where"](numbers == intervals, stop, values) if endpoint and num > 1 else values
        if dtype is None:
            return values if work is made else hooks["astype"](values, made)
        is_integer = type(number_like(hooks["dtype_name"](dtype))) is int
        return hooks["astype"](hooks["floor"](values) if is_integer else values, dtype)

    def counted(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Array:
        given = {"start": start, "stop": stop, "step": step}
        _require_0d(verb, **given)
        floating = [x for x in given.values() if is_array(x) and hooks["dtype_name"](x.dtype) in FLOATING_DTYPES]
        dtype = hooks["result_type"](*floating) if floating and dtype is None else dtype
        numbers = (number(name, x) if is_array(x) else x for name, x in given.items())
        return function(*numbers, dtype=dtype, device=device)

    def number(name: str, x: Array) -> float:
        kind = type(number_like(hooks["dtype_name"](x.dtype)))
        if kind is complex:
            raise TypeError(f"xo.{verb}: {name} must be a real number, not an array of {x.dtype}")
        if hooks["is_lazy"](x):
            raise Unsupported(
                f"xo.{verb}: the length of the result depends on the value of {name}, which is not computed yet. "
                f"Instead: {kind.__name__}({name}), outside of compiled functions"
            )
        return int(x) if kind is int else float(x)

    def frequencies(n: int, /, *, d: Any, dtype: Any = None, device: Any = None) -> Array:
        _require_0d(verb, d=d)
        work = hooks["result_type"](d, 1.0)
        values: Array = function(n, dtype=work, device=device) / hooks["asarray"](d, dtype=work, device=device)
        return values if dtype is None else hooks["astype"](values, dtype)

    special: dict[str, Callable[..., Array]] = {
        "arange": counted,
        "full": filled,
        "full_like": filled_like,
        "linspace": spaced,
    }
    return special.get(verb, frequencies)


def _broadcast(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The target if the shape broadcasts to it, else another tuple."""
    padded = (1,) * (len(target) - len(shape)) + shape
    return tuple(want if have in (1, want) else have for have, want in zip(padded, target, strict=False))


def _require_0d(verb: str, **given: Any) -> None:
    """Raise if an array is not 0-d."""
    for name, value in given.items():
        if is_array(value) and value.ndim:
            shape = tuple(value.shape)
            raise ValueError(f"xo.{verb}: {name} must be a number or a 0-d array, not an array of shape {shape}")
