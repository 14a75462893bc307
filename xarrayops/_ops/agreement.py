"""Compare a compiled or exported function with the function itself, and detect draws from global generators.

`xarrayops._host.compare` defines the allowed difference. Its spread is measured by rounding the arguments at random in
their last place, and only if the results differ by more than the rounding of the largest element.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.registry import Backend
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.nested import arrays_in, fill, is_array, leaves

if TYPE_CHECKING:
    from xarrayops._host.compare import Value


LARGE = 2**22
"""Arrays with more elements are compared on their device, in blocks of this size; others byte by byte on the host."""
_SAMPLES = 4


def copied(arguments: Any) -> Any:
    """The arguments, with writable arrays replaced by copies."""
    return fill(arguments, lambda x: _copy(x) if is_array(x) else x)


def _copy(x: Array) -> Array:
    own = find.of(x)
    return x if own.immutable else own.functions["asarray"](x, copy=True)


def first_written(before: Any, after: Any) -> str | None:
    """The name of the first array whose values a call changed, or None."""
    for (name, x), (_, y) in zip(arrays_in(before), arrays_in(after), strict=True):
        if x is not y and is_changed(x, y):
            return name
    return None


def is_changed(x: Array, y: Array) -> bool:
    """Whether the values of two arrays of one library, shape and dtype differ; NaN equals NaN."""
    size = math.prod(x.shape)
    if size <= LARGE:
        return host(x).tobytes() != host(y).tobytes()
    rows = max(1, LARGE * x.shape[0] // size)
    return any(_differ(x[i : i + rows], y[i : i + rows]) for i in range(0, x.shape[0], rows))


def _differ(x: Array, y: Array) -> bool:
    """Whether values differ, compared on the device that holds both."""
    functions = find.of(x).functions
    x, y = comparable(x), comparable(y)
    both_nan = functions["logical_and"](functions["not_equal"](x, x), functions["not_equal"](y, y))
    return not bool(functions["all"](functions["logical_or"](functions["equal"](x, y), both_nan)))


def comparable(x: Array) -> Array:
    """The array; narrow floating-point numbers become float32."""
    from xarrayops._host.compare import NARROW

    functions = find.of(x).functions
    is_narrow = functions["dtype_name"](x.dtype) in NARROW
    return functions["astype"](x, functions["as_dtype"]("float32")) if is_narrow else x


def value(x: Array) -> Value:
    """A snapshot of the values of an array; narrow floating-point numbers become float32."""
    from xarrayops._host import compare

    own = find.of(x)
    dtype = own.functions["dtype_name"](x.dtype) or str(x.dtype)
    return compare.Value(dtype, tuple(map(int, x.shape)), own.functions["to_numpy"](comparable(x)), own.name)


def host(x: Array) -> Any:
    """The values in host memory; narrow floating-point numbers become float32."""
    return value(x).data


def difference(
    want: Any, got: Any, repeated: Callable[[Any], Any] | None = None, arguments: Any = None, *, of_each: bool = False
) -> str | None:
    """How results differ from the results of the function; None if they agree.

    ``repeated(arguments)`` gives the results of the function for other arguments; without it no spread is measured.
    With ``of_each``, each element has its own budget instead of that of the largest one.
    """
    from xarrayops._host import compare

    expected, found = list(leaves(want)), list(leaves(got))
    if len(expected) != len(found):
        return f"it returns {len(found)} values instead of {len(expected)}"
    # A sum of n elements rounds in each of log2(n) steps, also where the arguments are integers, which do not move.
    sizes = [math.prod(x.shape) for x in (*expected, *leaves(arguments)) if is_array(x)]
    factor = compare.FACTOR if of_each else 2 * compare.FACTOR + 4 * math.log2(max(sizes, default=1) + 1)
    far: dict[int, tuple[Any, Any]] = {}
    for i, (x, y) in enumerate(zip(expected, found, strict=True)):
        if not is_array(x) or not is_array(y):
            if is_array(x) or is_array(y) or not is_same(x, y):
                return f"result {i} is {_shown(y)} instead of {_shown(x)}"
            continue
        if _is_large_and_same(x, y):
            continue
        pair = value(x), value(y)
        different = compare.difference(*pair, of_largest=not of_each, factor=factor)
        if different is not None:
            if different.what != "values" or repeated is None:
                return f"result {i}: {different.text}"
            far[i] = pair
    spreads = _spreads({i: x for i, (x, _) in far.items()}, repeated, arguments) if far and repeated else {}
    for i, pair in far.items():
        different = compare.difference(*pair, spreads[i], factor=factor)
        if different is not None:
            return f"result {i}: {different.text}"
    return None


def _is_large_and_same(x: Array, y: Array) -> bool:
    """Whether two large arrays agree in everything, which needs no copy to the host."""
    is_alike = type(x) is type(y) and (x.shape, x.dtype) == (y.shape, y.dtype) and math.prod(x.shape) > LARGE
    functions = find.of(x).functions
    return is_alike and functions["device"](x) == functions["device"](y) and not is_changed(x, y)


def is_same(x: Any, y: Any) -> bool:
    """Whether two constants have the same class and are equal, or both are NaN."""
    return type(x) is type(y) and bool(x == y or (x != x and y != y))


def _shown(value: Any) -> str:
    return f"an array of shape {tuple(value.shape)}" if is_array(value) else repr(value)


def _spreads(expected: dict[int, Any], repeated: Callable[[Any], Any], arguments: Any) -> dict[int, Any]:
    """The largest difference of the results if the arguments are rounded at random in their last place."""
    import numpy as np

    from xarrayops._host.compare import spread_of

    random = np.random.default_rng(0)

    def rounded(x: Any) -> Any:
        if not is_array(x):
            return x
        own, given = find.of(x), value(x)
        if not given.eps:
            return copied(x)
        values = given.data
        moved = np.asarray(values * (1 + given.eps * random.choice([-1.0, 0.0, 1.0], values.shape)))
        moved = moved.astype(values.dtype)
        return own.functions["astype"](own.functions["from_numpy"](moved, own.functions["device"](x)), x.dtype)

    samples = [list(leaves(repeated(fill(arguments, rounded)))) for _ in range(_SAMPLES)]
    return {i: spread_of(want, [value(sample[i]) for sample in samples]) for i, want in expected.items()}


class Draws:
    """The libraries whose global generators a call used: the numbers would be constants of compiled code."""

    def __init__(self) -> None:
        self.backends: list[Backend] = []
        self.is_python = False

    @property
    def is_any(self) -> bool:
        """Whether a generator was used."""
        return self.is_python or bool(self.backends)

    def foreign_to(self, engine: Backend | None) -> bool:
        """Whether a generator was used that does not belong to the compiling library."""
        return self.is_python or any(backend is not engine for backend in self.backends)

    def names(self) -> str:
        """The owners of the generators."""
        return ", ".join([*(backend.name for backend in self.backends), *(["Python"] if self.is_python else [])])


@contextmanager
def draws_watched() -> Iterator[Draws]:
    """Record which generators the block uses, and reset them, so that it does not change later numbers."""
    found = Draws()
    before: list[tuple[Backend, Any, Callable[[], None]]] = []
    for backend in dict.fromkeys(registry.by_module.values()):
        state = backend.functions["random_state"]()
        if state is not None:
            before.append((backend, *state))
    python = random.getstate()
    try:
        yield found
    finally:
        if random.getstate() != python:
            found.is_python = True
            random.setstate(python)
        for backend, state, restore in before:
            if backend.functions["random_state"]()[0] != state:
                found.backends.append(backend)
                restore()
