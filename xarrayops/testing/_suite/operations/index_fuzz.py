"""Random index expressions, and NumPy's results for them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo
from xarrayops.plugin.nested import fill
from xarrayops.testing._suite.samples import Host
from xarrayops.testing._suite.variant import Variant

UFUNCS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}
OPERATIONS = ("get", "set", *UFUNCS)
DTYPES = {
    "subtract": ("float64", "float32", "int64", "int8", "uint8", "complex128"),
    "divide": ("float64", "float32", "complex128"),
    "min": ("float64", "float32", "int64", "int8", "uint8", "bool"),
    "max": ("float64", "float32", "int64", "int8", "uint8", "bool"),
}
ANY_DTYPE = ("float64", "float32", "int64", "int8", "uint8", "bool", "complex128")


class Case(NamedTuple):
    """One expression ``at(x)[index].op(value)``; ``want`` is its result, or None if NumPy refuses the index."""

    x: Host
    index: Any
    op: str
    value: Any
    want: Host | None

    def __str__(self) -> str:
        value = self.value if np.ndim(self.value) == 0 else f"{self.value.dtype}{list(self.value.shape)}"
        return " ".join(f"at({self.x.dtype}{list(self.x.shape)})[{self.index!r}].{self.op}({value!r})".split())


def variant_of(library: str, seed: int) -> Variant:
    """A library's variant; Dask's arrays have chunks of random extents."""
    variant = Variant(library)
    if library == "dask":
        random, make = np.random.default_rng(seed), variant.make
        variant.lay = lambda _, a: make(a).rechunk(tuple(int(random.integers(1, n + 2)) for n in a.shape))
    return variant


def fault(variant: Variant, case: Case, copy: bool | None) -> str | None:
    """What is wrong with a library's result; None if it equals NumPy's."""
    x, indexer = variant.array(case.x), None
    try:
        index, value = fill((case.index, case.value), lambda a: variant.array(a) if isinstance(a, np.ndarray) else a)
        indexer = xo.at(x)[index]
        result = indexer.get(copy=copy) if case.op == "get" else getattr(indexer, case.op)(value, copy=copy)
        got = variant.values(result)
    except IndexError as error:
        of_ours = str(error).startswith("xo.at(x)[index].") or xo.is_lazy(x)  # masks are checked when Dask computes
        return None if case.want is None and of_ours else f"IndexError: {error}"
    except Exception as error:  # of the library: it is reported with its case
        return f"{type(error).__name__}: {error}"
    if case.want is None:
        return "no IndexError"
    if (got.shape, got.dtype) != (case.want.shape, case.want.dtype):
        return f"{got.dtype}{list(got.shape)}, expected {case.want.dtype}{list(case.want.shape)}"
    if not np.allclose(got, case.want, rtol=1e-5):
        return f"{got.tolist()}, expected {case.want.tolist()}"
    return "x has changed" if copy and not np.array_equal(variant.values(x), case.x) else None


def cases(seed: int, count: int, dtypes: frozenset[str]) -> list[Case]:
    """Seeded random cases with dtypes that a library supports."""
    random = np.random.default_rng(seed)
    return [_case(random, dtypes) for _ in range(count)]


def _case(random: np.random.Generator, dtypes: frozenset[str]) -> Case:
    op = str(random.choice(OPERATIONS))
    dtype = random.choice([d for d in DTYPES.get(op, ANY_DTYPE) if d in dtypes])
    shape = tuple(int(n) for n in random.choice([0, 1, 2, 3, 4, 5], size=random.integers(0, 5), p=_EXTENTS))
    x = random.integers(0, 5, shape).astype(dtype)
    index = _index(random, shape)
    try:
        places = np.arange(x.size).reshape(shape)[index]
    except IndexError as error:
        if "out of bounds" in str(error) and not _has(index, 9):
            return _case(random, dtypes)  # an element of an array, which is unspecified
        return Case(x, index, op, True, None)
    if op == "get":
        return Case(x, index, op, None, np.asarray(x[index]))
    repeats = op == "set" and len(np.unique(places)) < places.size
    value = _value(random, np.shape(places), x.dtype, single=repeats or random.random() < 0.3)
    return Case(x, index, op, value, _updated(x, places, op, value))


def _has(index: Any, number: int) -> bool:
    return any(type(entry) is int and entry == number for entry in (index if isinstance(index, tuple) else (index,)))


_EXTENTS = [0.04, 0.12, 0.24, 0.3, 0.2, 0.1]


def _updated(x: Host, places: Host, op: str, value: Any) -> Host:
    """The expected result: ``numpy.ufunc.at`` at the flat positions that NumPy's indexing selects."""
    flat = x.reshape(-1).copy()
    values = np.asarray(value, dtype=x.dtype)
    values = np.broadcast_to(values.reshape(values.shape[max(values.ndim - np.ndim(places), 0) :]), np.shape(places))
    if op == "set":
        flat[np.ravel(places)] = values.reshape(-1)
    else:
        UFUNCS[op].at(flat, np.ravel(places), values.reshape(-1))
    return flat.reshape(x.shape)


def _value(random: np.random.Generator, shape: tuple[int, ...], dtype: Any, *, single: bool) -> Any:
    """A Python number, or an array that broadcasts to the shape, sometimes with leading axes of extent 1."""
    numbers = np.asarray([1, 2, 4, 1]).astype(dtype)  # quotients are exact
    if single:
        return numbers[0].item() if dtype == np.bool_ else random.choice(numbers).item()
    extents = [1 if random.random() < 0.2 else n for n in shape]
    kept = extents[int(random.integers(0, len(extents) + 1)) if extents and random.random() < 0.3 else 0 :]
    front = [1] * int(random.integers(1, 3)) if len(kept) == len(shape) and random.random() < 0.1 else []
    return random.choice(numbers, size=(*front, *kept))


def _index(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Entries of all kinds, which usually fit the shape; the library must refuse the others."""
    entries: list[Any] = []
    batch = tuple(int(n) for n in random.choice([0, 1, 2, 3], size=random.integers(1, 3), p=[0.05, 0.15, 0.4, 0.4]))
    axis = 0
    has_ellipsis = False
    while axis < len(shape) or random.random() < 0.2:
        kind = random.random()
        if axis >= len(shape):
            kind = 0.8 + 0.2 * kind  # entries that need no axis
        elif random.random() < 0.12:
            break
        extent = shape[axis] if axis < len(shape) else 0
        if kind < 0.3:
            entries.append(_slice(random, extent))
            axis += 1
        elif kind < 0.45 and extent:
            entries.append(int(random.integers(-extent, extent)))
            axis += 1
        elif kind < 0.67 and extent:
            entries.append(_integers(random, extent, batch))
            axis += 1
        elif kind < 0.76:
            count = int(random.integers(1, len(shape) - axis + 1))
            mask = random.random(shape[axis : axis + count]) < 0.5
            if not mask.size and has_ellipsis:  # NumPy does not compare extents of 0
                continue
            entries.append(mask.tolist() if random.random() < 0.2 and mask.size else mask)
            axis += count
        elif kind < 0.8 and extent:
            entries.append(np.asarray(random.integers(-extent, extent)))
            axis += 1
        elif kind < 0.87:
            entries.append(None)
        elif kind < 0.97 and not has_ellipsis:
            has_ellipsis = True
            entries.append(...)
            axis += int(random.integers(0, max(len(shape) - axis, 0) + 1))
        elif kind > 0.985:
            entries.append(bool(random.random() < 0.7) if random.random() < 0.5 else np.asarray(random.random() < 0.7))
    if random.random() < 0.02:
        entries.insert(int(random.integers(0, len(entries) + 1)), 9)  # out of bounds, or one axis too many
    return entries[0] if len(entries) == 1 and random.random() < 0.5 else tuple(entries)


def _slice(random: np.random.Generator, extent: int) -> slice:
    def bound() -> int | None:
        return None if random.random() < 0.35 else int(random.integers(-extent - 3, extent + 4))

    step = random.choice([1, 1, 2, 3, -1, -1, -2, -3])
    return slice(bound(), bound(), None if random.random() < 0.4 else int(step))


def _integers(random: np.random.Generator, extent: int, batch: tuple[int, ...]) -> Any:
    """Integers within bounds, whose shape broadcasts with the others; sometimes as a list."""
    shape = [1 if random.random() < 0.15 else n for n in batch][int(random.random() < 0.3) :]
    dtype = random.choice(["int64", "int64", "int32", "uint8", "int8"])
    low = 0 if dtype == "uint8" else -extent
    found = random.integers(low, extent, shape).astype(dtype)
    return found.tolist() if random.random() < 0.25 and found.size else found
