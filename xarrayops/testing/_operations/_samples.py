"""The arguments of the calls that are checked: those given, those derived from them, and their layouts in memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.lib.stride_tricks import as_strided

from xarrayops._core.backends.registry import Backend
from xarrayops._system.texts import counted
from xarrayops.plugin.arrays import Record

Array = np.ndarray[Any, Any]
Placement = Callable[[Array], tuple[Array, Array]]
"""Maps an array to an equal array in other memory, and returns the memory around it."""
BORDER = 64
"""The minimum number of elements before and after an array. It is the size of the array if that is larger, so that a
kernel that ignores strides stays within the memory."""


class Sample(Record):
    """The arguments of a call: an array or None for each array parameter, and the options."""

    label: str
    arrays: tuple[Array | None, ...]
    options: dict[str, Any]

    def with_arrays(self, label: str, change: Callable[[Array], Array]) -> Sample:
        """The sample with each array changed."""
        return Sample(f"{self.label}, {label}", tuple(x if x is None else change(x) for x in self.arrays), self.options)

    def call(self, function: Callable[..., Any]) -> Any:
        """The result of a function for these arguments."""
        return quietly(function, *self.arrays, **self.options)


def quietly(function: Callable[..., Any], *arrays: Any, **options: Any) -> Any:
    """A call without warnings about overflow and invalid values, which samples have on purpose."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*arrays, **options)


def given(samples: Any, count: int) -> list[Sample]:
    """The samples of the caller: tuples of ``count`` arrays, with a dict of options at the end if there are options."""
    found = []
    for k, each in enumerate(samples):
        arguments = list(each) if isinstance(each, (tuple, list)) else [each]
        options = arguments.pop() if isinstance(arguments[-1], dict) else {}
        if len(arguments) > count:
            raise TypeError(f"sample {k} has {counted(len(arguments), 'array')}, but the operation takes {count}")
        arrays = [x if x is None else np.asarray(x) for x in arguments] + [None] * (count - len(arguments))
        found.append(Sample(f"sample {k}", tuple(arrays), dict(options)))
    if not found:
        raise ValueError("check_operation needs at least one sample")
    return found


def derived(sample: Sample, reference: Callable[..., Any]) -> Iterator[Sample]:
    """Other arguments that the reference accepts."""
    for each in (*_other_values(sample), *_other_extents(sample), *_aliased(sample), *_other_options(sample)):
        with suppress(Exception):  # the reference does not accept these arguments
            each.call(reference)
            yield each


def _other_values(sample: Sample) -> Iterator[Sample]:
    yield sample.with_arrays("values reversed", lambda x: np.flip(x).copy())
    rng = np.random.default_rng(0)

    def with_special_values(x: Array) -> Array:
        changed = x.copy()
        if x.dtype.kind in "fc" and x.size:
            places = rng.permutation(x.size)[:3]
            changed.reshape(-1)[places] = np.asarray([np.nan, np.inf, -np.inf])[: places.size]
        return changed

    if any(x is not None and x.dtype.kind in "fc" for x in sample.arrays):
        yield sample.with_arrays("NaN and infinities", with_special_values)


def _other_extents(sample: Sample) -> Iterator[Sample]:
    """Every axis of one extent is shortened, to 0, to 1 and by one."""
    extents = sorted({extent for x in sample.arrays if x is not None for extent in x.shape if extent > 1})
    for extent in extents:
        for shorter in dict.fromkeys((0, 1, extent - 1)):

            def shortened(x: Array, extent: int = extent, shorter: int = shorter) -> Array:
                return x[tuple(slice(shorter) if n == extent else slice(None) for n in x.shape)].copy()

            yield sample.with_arrays(f"extent {extent} shortened to {shorter}", shortened)


def _aliased(sample: Sample) -> Iterator[Sample]:
    """The same array as two arguments."""
    for i, j in combinations(range(len(sample.arrays)), 2):
        x, y = sample.arrays[i], sample.arrays[j]
        if x is not None and y is not None and (x.shape, x.dtype) == (y.shape, y.dtype):
            arrays = tuple(x if k == j else each for k, each in enumerate(sample.arrays))
            yield Sample(f"{sample.label}, arrays {i} and {j} are the same", arrays, sample.options)


def _other_options(sample: Sample) -> Iterator[Sample]:
    for name, value in sample.options.items():
        other: Any = None
        if isinstance(value, bool):
            other = not value
        elif isinstance(value, int):
            other = value + 1
        elif isinstance(value, float):
            other = 2 * value + 0.25
        if other is not None:
            yield Sample(f"{sample.label}, {name}={other}", sample.arrays, sample.options | {name: other})


def poison(dtype: np.dtype[Any]) -> Any:
    """A value that no correct result contains."""
    if dtype.kind in "fc":
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).max


def _placed(
    x: Array, strides: tuple[int, ...], *, first: int = 0, before: int = 0, skipped: int = 0
) -> tuple[Array, Array]:
    """An array with these strides between poison; ``skipped`` bytes after the beginning of the memory.

    ``first`` is the number of elements of the array before its first one, and ``before`` of those before the border.
    """
    border = max(BORDER, x.size)
    length = before + 2 * border + (2 * x.size if strides else 1)
    memory = np.zeros(length * x.itemsize + skipped, np.uint8)
    whole = memory[skipped:].view(x.dtype)
    whole[...] = poison(x.dtype)
    inner = as_strided(whole[before + border + first :], x.shape, strides)
    inner[...] = x
    return inner, memory


def _strides(x: Array, order: Literal["C", "F"] = "C") -> tuple[int, ...]:
    return np.empty_like(x, order=order).strides


def between_poison(x: Array) -> tuple[Array, Array]:
    """A C-contiguous copy of an array between poison, and the memory of both."""
    return _placed(x, _strides(x))


def _readonly(x: Array) -> tuple[Array, Array]:
    inner, memory = between_poison(x)
    inner.flags.writeable = False
    return inner, memory


PLACEMENTS: dict[str, Placement] = {
    "contiguous, between other values": between_poison,
    "contiguous, at an odd element": lambda x: _placed(x, _strides(x), before=1),
    "unaligned": lambda x: _placed(x, _strides(x), skipped=1),
    "with strides": lambda x: _placed(x, tuple(2 * step for step in _strides(x))),
    "with negative strides": lambda x: _placed(x, tuple(-step for step in _strides(x)), first=max(x.size - 1, 0)),
    "in Fortran order": lambda x: _placed(x, _strides(x, "F")),
    "read-only": _readonly,
}
"""The layouts in memory that kernels may get."""


def placements(backend: Backend) -> dict[str, Placement]:
    """The placements that a library can have; one for a library without strides."""
    first = next(iter(PLACEMENTS))
    return PLACEMENTS if backend.no_strides is None else {first: PLACEMENTS[first]}
