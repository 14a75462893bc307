"""The arguments of the calls that are checked: those given, and those that are derived from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any

import numpy as np

from xarrayops.plugin.arrays import Record

Array = np.ndarray[Any, Any]


class Sample(Record):
    """The arguments of a call: an array or None for each array parameter, and the options."""

    label: str
    arrays: tuple[Array | None, ...]
    options: dict[str, Any]

    def with_arrays(self, label: str, change: Callable[[Array], Array]) -> Sample:
        """The sample with each array changed."""
        return Sample(f"{self.label}, {label}", tuple(x if x is None else change(x) for x in self.arrays), self.options)


def given(samples: Any, count: int) -> list[Sample]:
    """The samples of the caller: tuples of ``count`` arrays, with a dict of options at the end if there are options."""
    found = []
    for k, each in enumerate(samples):
        arguments = list(each) if isinstance(each, (tuple, list)) else [each]
        options = arguments.pop() if isinstance(arguments[-1], dict) else {}
        if len(arguments) > count:
            raise TypeError(f"sample {k} has {len(arguments)} arrays, but the operation takes {count}")
        arrays = [x if x is None else np.asarray(x) for x in arguments] + [None] * (count - len(arguments))
        found.append(Sample(f"sample {k}", tuple(arrays), dict(options)))
    if not found:
        raise ValueError("check_operation needs at least one sample")
    return found


def derived(sample: Sample, run: Callable[[Sample], Any]) -> Iterator[Sample]:
    """Other arguments that the reference accepts; ``run`` calls the reference on NumPy."""
    for each in (*_other_values(sample), *_other_extents(sample), *_aliased(sample), *_other_options(sample)):
        with suppress(Exception):  # the reference does not accept these arguments
            run(each)
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
