"""Arrays in the place of numbers in functions that create arrays: ``full(shape, x[0])``, ``linspace(x[0], x[1], n)``.

The elements and sums of NumPy's arrays are scalars; those of other libraries are 0-d arrays. Libraries refuse these,
read them as Python numbers of the default dtype, or put them into each element. The functions here serve every library,
stay lazy and have gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xarrayops._core.backends.numpy_scalars import is_numpy_scalar
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.dtypes import FLOATING_DTYPES, REAL_OF
from xarrayops.plugin.indexing import Index

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
"""The parameters that take a number or an array, of each function that has some."""


PLAIN = frozenset({bool, int, float, complex, type(None)})
"""The classes of Python's numbers, and of None."""


def is_array(value: Any) -> bool:
    """Whether the value of such a parameter is an array. NumPy's scalars are numbers."""
    return type(value) not in PLAIN and hasattr(value, "dtype") and not is_numpy_scalar(value)


def number_like(name: str | None) -> complex:
    """A Python number of the kind of a dtype, by the dtype's name."""
    if name in REAL_OF:
        return 0j
    return 0.0 if name in FLOATING_DTYPES else 0


def of_arrays(verb: str, function: Callable[..., Array], hooks: Hooks) -> Callable[..., Array]:
    """The function of a verb of `NUMBERS` for calls with arrays. ``function`` is the library's, for numbers.

    ``dtype=None`` is the dtype of the arrays; the default floating-point dtype where integers become fractions.
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
        result: Array = hooks["update"](new, Index((...,), hooks, is_basic=True), "set", value, copy=None)
        return result

    def spaced(
        start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
    ) -> Array:
        _require_0d(verb, start=start, stop=stop)
        work = hooks["result_type"](start, stop, 1.0)
        start, stop = (hooks["asarray"](end, dtype=work, device=device) for end in (start, stop))
        intervals = num - 1 if endpoint else num
        numbers = hooks["arange"](num, device=device)
        values = start + hooks["astype"](numbers, work) * ((stop - start) / (intervals or 1))  # as in NumPy
        values = hooks["where"](numbers == intervals, stop, values) if endpoint and num > 1 else values
        if dtype is None:
            return values
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
        value: float = int(x) if kind is int else float(x)
        return value

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
    """Require that the arrays have no axes."""
    for name, value in given.items():
        if is_array(value) and value.ndim:
            shape = tuple(value.shape)
            raise ValueError(f"xo.{verb}: {name} must be a number or a 0-d array, not an array of shape {shape}")
