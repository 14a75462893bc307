"""Numbers in functions that create arrays: an integer that the dtype cannot hold raises on every library.

Arrays in the place of the numbers go to `xarrayops._core.backends.creation_of_arrays`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from xarrayops._core.backends.creation_of_arrays import PLAIN, is_array, of_arrays
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.candidates import constant_while_tracing
from xarrayops.plugin.dtypes import INTEGER_LIMITS, does_not_fit
from xarrayops.plugin.nested import members

CREATING = ("arange", "asarray", "full", "full_like", "linspace", "fft.fftfreq", "fft.rfftfreq")
"""The functions that make arrays of Python numbers, or of arrays in the place of these."""


def requiring_fit(
    verb: str, function: Callable[..., Array], hooks: Mapping[str, Callable[..., Any]], *, wraps_integers: bool
) -> Callable[..., Array]:
    """The function of a verb of `CREATING`, which raises OverflowError for integers that the dtype cannot hold.

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
        if _FITS_EVERY_DEFAULT[0] <= number <= _FITS_EVERY_DEFAULT[1] and dtype is None:
            return number
        return fitting_name(number, default_integer() if dtype is None else name_of(dtype))

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
                if cls is int and not 0 <= args[i] <= _FITS_ALWAYS:
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
            if steps >= 0:  # the last value has to fit, and the stop need not
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
            return of_sequence(obj, dtype, device, copy)
        if type(obj) is int and not 0 <= obj <= _FITS_ALWAYS:
            obj = fitting(obj, dtype)
        return function(obj, dtype=dtype, device=device, copy=copy)

    def of_sequence(obj: Any, dtype: Any, device: Any, copy: bool | None) -> Array:
        if wraps_integers and dtype is not None and name_of(dtype) in INTEGER_LIMITS:
            require_range(obj, name_of(dtype))
        try:
            result = function(obj, dtype=dtype, device=device, copy=copy)
        except Exception:  # of any class, as NumPy and Dask make arrays of objects
            fixed = represented(obj, dtype)
            if fixed is None:
                raise
            return function(fixed, dtype=dtype, device=device, copy=copy)
        if dtype is None and _first(obj) is int and name_of(result.dtype) in ("uint64", "float64"):
            require_range(obj, default_integer())
        return result

    def require_range(obj: Any, name: str) -> None:
        """Require that all numbers fit, if they are integers."""
        for number in _integer_range(obj):
            fitting_name(number, name)

    def represented(obj: Any, dtype: Any) -> Any:
        """The sequence with integers beyond 64 bits as floating-point numbers; None if that changes nothing.

        Raises if the dtype is an integer's and cannot hold a number.
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
        return _with_large_floats(obj) if any(map(_is_large, numbers)) else None

    special: dict[str, Callable[..., Any]] = {
        "arange": checked_arange,
        "asarray": checked_asarray,
        "fft.fftfreq": checked_frequencies,
        "fft.rfftfreq": checked_frequencies,
    }
    return special.get(verb, checked)


_NUMBERS = {"full": (1,), "full_like": (1,), "linspace": (0, 1)}
"""The positions of the numbers that the array must hold."""
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
    """The least and the greatest number in nested sequences of integers; empty if there are others, or none."""
    classes = set(map(type, obj))
    if classes and classes <= {int, bool}:  # three passes in C are faster than one loop
        return min(obj), max(obj)
    if classes and classes <= {list, tuple}:
        ranges = [_integer_range(member) for member in obj]
        if all(ranges):
            return min(low for low, _ in ranges), max(high for _, high in ranges)
    return ()


def _with_large_floats(obj: Any) -> Any:
    """Nested sequences, with integers beyond 64 bits as floating-point numbers."""
    if isinstance(obj, (list, tuple)):
        return [_with_large_floats(member) for member in obj]
    return float(obj) if _is_large(obj) else obj


def _is_large(number: Any) -> bool:
    """Whether a number is an integer beyond 64 bits."""
    low, high = INTEGER_LIMITS["int64"]
    return type(number) is int and not low <= number <= high
