"""Sorting, searching, selecting, sets, and indexed updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._compare import check_array
from xarrayops.testing._samples import ALL, INTEGERS, NUMERIC, REAL, sample, shuffled
from xarrayops.testing._table import Row, call, cases, check_row, row
from xarrayops.testing._variant import Variant

ORDERS: list[dict[str, Any]] = [{}, {"axis": 0}, {"descending": True}, {"axis": 0, "descending": True, "stable": False}]
TIED = np.asarray([3, 1, 3, 1, 2], dtype="int32")
EDGES = np.asarray([1.0, 2.0, 2.0, 5.0])
INDICES = np.asarray([2, 0, -1, 2], dtype="int64")
EVERY = [sample(d, (5,), low=0, high=2) for d in ALL if d != "complex64"]


def _sort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return np.flip(np.sort(x, axis=axis), axis=axis) if descending else np.sort(x, axis=axis)


def _argsort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    if not descending:
        return np.argsort(x, axis=axis, stable=True)
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape).astype("int64")
    return np.argsort(-ranks, axis=axis, stable=True)


def _unique_all(x: Any, values: Any, indices: Any, inverse: Any, counts: Any) -> Any:
    want = np.unique(x, return_counts=True)
    yield np.sort(values), want[0]
    yield x.ravel()[indices], values
    yield values[inverse], x
    yield counts[np.argsort(values)], want[1]


def _unique_counts(x: Any, values: Any, counts: Any) -> Any:
    want = np.unique(x, return_counts=True)
    yield np.sort(values), want[0]
    yield counts[np.argsort(values)], want[1]


def _unique_inverse(x: Any, values: Any, inverse: Any) -> Any:
    yield np.sort(values), np.unique(x)
    yield values[inverse], x


def _unique_values(x: Any, values: Any) -> Any:
    yield np.sort(values), np.unique(x)


def _take(x: Any, indices: Any, *, axis: int | None = None) -> Any:
    return np.take(x, indices, axis=0 if axis is None else axis)


def _take_along_axis(x: Any, indices: Any, *, axis: int = -1) -> Any:
    return np.take_along_axis(x, indices, axis=axis)


def _searchsorted(x1: Any, x2: Any, *, side: Any = "left", sorter: Any = None) -> Any:
    return np.searchsorted(x1, x2, side=side, sorter=sorter)


ROWS = [
    row(
        "argsort",
        _argsort,
        *(call(shuffled("float32"), **order) for order in ORDERS),
        call(TIED),
        call(TIED, descending=True),
        call(sample("float32", (0, 3))),
        *(call(shuffled(d)) for d in REAL),
        *(call(shuffled(d), descending=True) for d in REAL),
        dtype="indexing",
    ),
    row(
        "isin",
        lambda x1, x2, invert=False: np.isin(x1, x2, invert=invert),
        call(shuffled("int64"), np.asarray([1, 3, 9])),
        call(shuffled("int64"), np.asarray([1, 3, 9]), invert=True),
        call(shuffled("int64"), sample("int64", (0,))),
        call(shuffled("int8"), 3),
        call(shuffled("int8"), 300),
        call(shuffled("uint8"), -255, invert=True),
        *(call(shuffled(d), np.asarray([1, 3, 9], dtype=d)) for d in INTEGERS),
        dtype="bool",
    ),
    row("nonzero", np.nonzero, call(sample("bool")), *(call(x) for x in EVERY), dtype="indexing"),
    row(
        "searchsorted",
        _searchsorted,
        call(EDGES, sample("float64", (2, 3), low=0, high=6)),
        call(EDGES, np.asarray([2.0, 5.0, 9.0]), side="right"),
        call(EDGES[::-1].copy(), EDGES, sorter=np.asarray([3, 2, 1, 0])),
        call(EDGES, 2.0),
        call(sample("float32", (0,)), sample("float32", (3,))),
        *(call(np.sort(shuffled(d, (6,))), shuffled(d, (3,))) for d in REAL),
        dtype="indexing",
    ),
    row(
        "sort",
        _sort,
        *(call(shuffled("float32"), **order) for order in ORDERS),
        call(sample("float32", (0, 3))),
        call(TIED, descending=True),
        *(call(shuffled(d)) for d in REAL),
        *(call(shuffled(d), descending=True) for d in REAL),
    ),
    row(
        "take",
        _take,
        call(sample("float32", (3, 4)), INDICES, axis=1),
        call(sample("float32", (5,)), INDICES),
        call(sample("float32", (3, 4)), np.asarray([], dtype="int64"), axis=0),
        call(sample("float32", (3, 4)), np.asarray([1, 0], dtype="int32"), axis=-1),
        *(call(sample(d, (3, 4)), INDICES, axis=0) for d in ALL),
        dtype="first",
    ),
    row(
        "take_along_axis",
        _take_along_axis,
        call(sample("float32", (3, 4)), np.asarray([[0, 1], [3, 2], [-1, 0]])),
        call(sample("float32", (3, 4)), np.asarray([[0, 1, 2, 0]]), axis=0),
        call(sample("int8", (3, 4)), np.argsort(sample("int8", (3, 4)), axis=1), axis=1),
        *(call(sample(d, (3, 4)), np.asarray([[0, 1, 2, 0]]), axis=0) for d in ALL),
        dtype="first",
    ),
    row(
        "unique_all",
        None,
        call(TIED),
        *(call(x) for x in EVERY),
        law=_unique_all,
        dtype=("first", "indexing", "indexing", "indexing"),
        fields=("values", "indices", "inverse_indices", "counts"),
    ),
    row(
        "unique_counts",
        None,
        call(TIED),
        *(call(x) for x in EVERY),
        law=_unique_counts,
        dtype=("first", "indexing"),
        fields=("values", "counts"),
    ),
    row(
        "unique_inverse",
        None,
        call(TIED),
        call(sample("int64", (2, 3), high=0)),
        *(call(x) for x in EVERY),
        law=_unique_inverse,
        dtype=("first", "indexing"),
        fields=("values", "inverse_indices"),
    ),
    row("unique_values", None, call(TIED), *(call(x) for x in EVERY), law=_unique_values),
]


def update(op: str, ufunc: Callable[..., None], numbers: tuple[str, ...]) -> list[Row]:
    """Rows for one operation of ``at``. ``set`` has no case with duplicate indices, where any of the values may win."""

    def public(x: Any, index: Any, value: Any) -> Any:
        return getattr(xo.at(x)[index], op)(value, copy=True)

    def oracle(x: Any, index: Any, value: Any) -> Any:
        x = x.copy()
        ufunc(x, index, value)
        return x

    x, line = sample("float32", (4, 3)), sample("float32", (4,), seed=1)
    plain = [call(x, (slice(1, 3), ...), sample("float32", (2, 3), seed=1)), call(line, np.asarray([0, 2]), 2.5)]
    plain += [call(x, (slice(None), 1), line), call(x, (2, ...), 1.0), call(x, (1, -1), 1.5), call(x, ..., 2.0)]
    plain += [call(x, sample("bool", (4, 3)), 2.0), call(line, slice(None, None, -2), 1.0)]
    plain += [call(line, np.asarray([0, 0, 3, 0]), line), call(line, np.asarray([1, 1]), 2.5)] * (op != "set")
    plain += [call(sample(d, (4,)), np.asarray([1, 3]), sample(d, (2,), seed=1)) for d in numbers]
    whole = [call(x, np.asarray([0, 2]), 2.5), call(x, np.asarray([3, 1]), sample("float32", (2, 3), seed=1))]
    whole += [call(x, np.asarray([0, 0, 3, 0]), sample("float32", (4, 3), seed=1))] * (op != "set")
    options: dict[str, Any] = {"dtype": "first", "function": public, "hook": "update"}
    return [
        row("at", oracle, *plain, label=op, **options),
        row("at", oracle, *whole, label=f"{op} rows", **options),
    ]


UPDATES = [
    *update("set", lambda x, i, v: x.__setitem__(i, v), ALL),
    *update("add", np.add.at, NUMERIC),
    *update("multiply", np.multiply.at, NUMERIC),
    *update("min", np.minimum.at, REAL),
    *update("max", np.maximum.at, REAL),
]


class IndexingSuite:
    """Sorting, searching, selecting and sets."""

    @cases(ROWS)
    def test_indexing(self, variant: Variant, row: Row) -> None:
        """Class, dtype, device, shape and values match the oracle; results of any order are sorted first."""
        check_row(variant, row)


class AtSuite:
    """Indexed updates."""

    @cases(UPDATES)
    def test_at(self, variant: Variant, row: Row) -> None:
        """``at(x)[i].add(v, copy=True)`` equals ``numpy.add.at(x, i, v)``, and x does not change."""
        check_row(variant, row)

    def test_at_without_a_copy(self, variant: Variant) -> None:
        """``copy=False`` updates x itself or raises; the default may update x or a copy."""
        host = sample("float32", (5,))
        want = host.copy()
        want[1:3] += 2
        got = xo.at(variant.array(host))[1:3].add(2.0)
        check_array(variant, got, want, dtype="float32")
        x = variant.array(host)
        try:
            got = xo.at(x)[1:3].add(2.0, copy=False)
        except xo.Unsupported as error:
            assert "Instead" in str(error)  # noqa: PT017 - both outcomes are allowed
            check_array(variant, x, host, dtype="float32")
        else:
            check_array(variant, x, want, dtype="float32")
            assert got is x or xo.shares_memory(got, x)

    def test_at_refuses_values_of_other_types(self, variant: Variant) -> None:
        """A value must be an array, or a Python number that the dtype of x can represent."""
        x = variant.array(sample("int8", (4,)))
        for value in ([1, 2], (1, 2)):
            with pytest.raises(TypeError, match="an array or a Python number, not a"):
                xo.at(x)[1:3].set(value)
        for op in ("set", "add"):
            with pytest.raises(OverflowError, match="does not fit"):
                getattr(xo.at(x)[0], op)(300)

    def test_at_refuses_unknown_operations(self, variant: Variant) -> None:
        """An unknown operation raises AttributeError."""
        with pytest.raises(AttributeError):
            getattr(xo.at(variant.array(sample("float32")))[0], "power")  # noqa: B009 - the type checker would reject the attribute
