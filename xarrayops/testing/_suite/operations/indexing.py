"""Sorting, searching, selecting, and indexed updates."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.operations.index_fuzz import cases as index_cases, fault as index_fault
from xarrayops.testing._suite.samples import ALL, COMPLEX, INEXACT, NUMERIC, REAL, sample, shuffled, unordered_parts
from xarrayops.testing._suite.table import Row, call, row, rows_test, without_warnings
from xarrayops.testing._suite.variant import Variant, depends_on

ORDERS: list[dict[str, Any]] = [{}, {"axis": 0}, {"descending": True}, {"axis": 0, "descending": True, "stable": False}]
TIED = np.asarray([3, 1, 3, 1, 2], dtype="int32")
EDGES = np.asarray([1.0, 2.0, 2.0, 5.0])
INDICES = np.asarray([2, 0, -1, 2], dtype="int64")
EVERY = [sample(d, (5,), low=0, high=2) for d in ALL if d != "complex64"]
OF_COMPLEX = [each for d in COMPLEX for each in (sample(d, (9,)), unordered_parts(d))]
SHUFFLED = [call(shuffled(d), **options) for options in ({}, {"descending": True}) for d in REAL]


def _sort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return np.flip(np.sort(x, axis=axis), axis=axis) if descending else np.sort(x, axis=axis)


def _argsort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    if not descending:
        return np.argsort(x, axis=axis, stable=True)
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape).astype("int64")
    return np.argsort(-ranks, axis=axis, stable=True)


def _take_along_axis(x: Any, indices: Any, *, axis: int = -1) -> Any:
    return np.take_along_axis(x, indices, axis=axis)


ROWS = [
    row(
        "argsort",
        _argsort,
        call(np.asarray([0.0, -0.0, 1.0, -0.0, 0.0])),
        *(call(shuffled("float32"), **order) for order in ORDERS),
        call(TIED),
        call(TIED, descending=True),
        call(sample("float32", (0, 3))),
        *SHUFFLED,
        *(call(x) for x in OF_COMPLEX),
        dtype="indexing",
    ),
    row("nonzero", np.nonzero, call(sample("bool")), *(call(x) for x in EVERY), dtype="indexing"),
    row(
        "searchsorted",
        np.searchsorted,
        call(EDGES, sample("float64", (2, 3), low=0, high=6)),
        call(EDGES, np.asarray([2.0, 5.0, 9.0]), side="right"),
        call(EDGES[::-1].copy(), EDGES, sorter=np.asarray([3, 2, 1, 0])),
        call(EDGES, 2.0),
        call(sample("float32", (0,)), sample("float32", (3,))),
        *(call(np.sort(shuffled(d, (6,))), shuffled(d, (3,))) for d in REAL),
        *(call(np.sort(x)[::3], x[:4], side=side) for x in OF_COMPLEX for side in ("left", "right")),
        dtype="indexing",
    ),
    row(
        "sort",
        _sort,
        *(call(shuffled("float32"), **order) for order in ORDERS),
        call(sample("float32", (0, 3))),
        call(TIED, descending=True),
        *SHUFFLED,
        *(call(x, descending=descending) for x in OF_COMPLEX for descending in (False, True)),
    ),
    row(
        "take",
        np.take,
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
]


def update(op: str, ufunc: Callable[..., None], numbers: tuple[str, ...]) -> list[Row]:
    """Rows for one operation of ``at``. ``set`` has no case with duplicate indices, where any of the values may win."""

    def public(x: Any, index: Any, value: Any) -> Any:
        return getattr(xo.at(x)[index], op)(value)

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
    return [row("at", oracle, *plain, label=op, **options), row("at", oracle, *whole, label=f"{op} rows", **options)]


SHIFTS: list[tuple[Any, Any]] = [
    ((slice(1, None), ...), (slice(None, -1), ...)),
    ((slice(None, -1), ...), (slice(1, None), ...)),
    ((slice(None), slice(1, None)), (slice(None), slice(None, -1))),
    ((slice(None), slice(None, None, 2)), (slice(None), slice(1, None, 2))),
    ((slice(0, 4), slice(1, 6)), (slice(1, 5), slice(0, 5))),
]
"""Views of one array of shape (5, 6) that overlap: where to write, and what to read."""
UPDATES = [
    *update("set", lambda x, i, v: x.__setitem__(i, v), ALL),
    *update("add", np.add.at, NUMERIC),
    *update("subtract", np.subtract.at, NUMERIC),
    *update("multiply", np.multiply.at, NUMERIC),
    *update("divide", np.divide.at, INEXACT),
    *update("min", np.minimum.at, REAL),
    *update("max", np.maximum.at, REAL),
]


@depends_on("memory")
class IndexingSuite:
    """Sorting, searching, selecting, and indexed updates."""

    # Class, dtype, device, shape and values match the oracle.
    test_indexing = depends_on("run", "memory")(rows_test(ROWS))

    # ``at(x)[i].add(v)`` equals ``numpy.add.at(x, i, v)``, and x does not change.
    test_at = depends_on("run", "memory")(rows_test(UPDATES))

    def test_at_of_random_indices(self, variant: Variant) -> None:
        """Seeded random indices of all kinds select the elements that NumPy selects, or raise IndexError."""
        count = 300 if variant.calls is None else 6 * variant.calls
        failures = []
        for case in index_cases(17, count, variant.dtypes):
            with without_warnings():
                found = [index_fault(variant, case, copy) for copy in (True, None)]
            failures += [f"  {case}: {fault}" for fault in found if fault]
        assert not failures, f"xo.at on {variant}:\n" + "\n".join(failures)

    def test_at_of_memory_that_it_reads(self, variant: Variant) -> None:
        """A value is read before x is written, also if both share memory."""
        host = sample("float32", (5, 6))
        for copy in (True, None):
            for place, of in SHIFTS:
                x = variant.array(host)
                got = xo.at(x)[place].set(x[of], copy=copy)
                want = host.copy()
                want[place] = host[of]
                check_array(variant, got, want, dtype="float32")

    def test_at_of_an_index_that_shares_memory(self, variant: Variant) -> None:
        """An index is read before x is written, also if it is x itself or a view of x."""
        dtype = variant.defaults["indexing"]
        host, value = np.asarray([2, 0, 1], dtype=dtype), np.asarray([7, 8, 9], dtype=dtype)
        for copy, op, of in product((True, None), ("set", "add", "max"), (slice(None), slice(None, None, -1))):
            x = variant.array(host)
            got = getattr(xo.at(x)[xo.at(x)[of].get(copy=None)], op)(variant.array(value), copy=copy)
            want = host.copy()
            if op == "set":
                want[host[of]] = value
            else:
                {"add": np.add, "max": np.maximum}[op].at(want, host[of], value)
            check_array(variant, got, want, dtype=dtype)

    def test_at_of_products(self, variant: Variant) -> None:
        """Products with index arrays are the library's own, and quotients stay in range if an index repeats."""
        if "complex64" in variant.dtypes:
            host = np.asarray([1, 1 + 2j, 3 - 1j], dtype="complex64")
            for index, numbers in (([0, 1], [np.inf, 3 - 4j]), ([1, 2, 1, 1], [2j, 1 - 1j, 3 + 1j, -2])):
                value = np.asarray(numbers, dtype="complex64")
                want = host.copy()
                with without_warnings():
                    np.multiply.at(want, index, value)
                    got = variant.values(xo.at(variant.array(host))[index].multiply(variant.array(value)))
                assert np.array_equal(got, want, equal_nan=True), (index, got, want)
        x = variant.array(np.asarray([1e38, 7.0], dtype="float32"))
        got = xo.at(x)[[0, 1, 0]].divide(variant.array(np.asarray([1e20, 49.0, 1e20], dtype="float32")))
        check_array(variant, got, np.asarray([1e-2, 1 / 7], dtype="float32"), dtype="float32")

    def test_at_does_not_write_by_default(self, variant: Variant) -> None:
        """``copy=True`` is the default, for views and for elements that are returned."""
        host = sample("float32", (5,))
        x = variant.array(host)
        xo.at(x)[1:3].set(0.0)
        got = xo.at(x)[1:3].get()
        xo.at(got)[...].set(7.0, copy=None)
        check_array(variant, x, host, dtype="float32")

    @depends_on()
    def test_at_refuses_what_does_not_fit(self, variant: Variant) -> None:
        """Indices out of bounds, masks and values of other shapes, and unknown modes raise our errors."""
        x, mask = variant.make(sample("float32", (2, 3))), variant.make(np.asarray([True, False, True]))
        for index in (2, (0, -4), (0, 0, 0), (..., ...), mask, (0, mask, 0)):
            with pytest.raises(IndexError, match=r"^xo\.at\(x\)\[index\]\.set: "):
                xo.at(x)[index].set(1.0)
        value = variant.make(sample("float32", (2,)))
        for op in ("set", "add", "max"):
            with pytest.raises(ValueError, match=r"^xo\.at\(x\).*shape \(2,\) .*\(2, 3\)"):
                getattr(xo.at(x)[...], op)(value)
        with pytest.raises(TypeError, match="copy must be True, False or None"):
            xo.at(x)[0].set(1.0, copy="invalid")  # type: ignore[arg-type]
        whole = variant.make(sample("int32", (2, 3)))
        with pytest.raises(xo.Unsupported, match=r"divide does not support arrays of .* Instead"):
            xo.at(whole)[0].divide(2)

    def test_at_without_a_copy(self, variant: Variant) -> None:
        """``copy=False`` updates x itself or raises; None may update x or a copy."""
        host = sample("float32", (5,))
        want = host.copy()
        want[1:3] += 2
        got = xo.at(variant.array(host))[1:3].add(2.0, copy=None)
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

    @depends_on()
    def test_at_refuses_values_of_other_types(self, variant: Variant) -> None:
        """A value must be an array, or a Python number that the dtype of x can represent."""
        x = variant.make(sample("int8", (4,)))
        for value in ([1, 2], (1, 2)):
            with pytest.raises(TypeError, match="an array or a Python number, not a"):
                xo.at(x)[1:3].set(value)
        for op in ("set", "add"):
            with pytest.raises(OverflowError, match="does not fit"):
                getattr(xo.at(x)[0], op)(300)

    def test_at_of_numpy_scalars(self, variant: Variant) -> None:
        """NumPy's scalars count as Python numbers, as values and in an index."""
        x = variant.array(np.asarray([1.0, 2.0, 3.0], dtype="float32"))
        one = np.int64(1)
        places: list[Any] = [one, np.uint8(1), [one], (np.int32(1), ...), slice(one, np.int64(2))]
        for value, place in product((np.float64(5), np.float32(5), np.int64(5), np.uint8(5)), places):
            got = xo.at(x)[place].set(value)
            check_array(variant, got, np.asarray([1, 5, 3], dtype="float32"), dtype="float32")
        check_array(variant, xo.at(x)[np.int64(-1)].get(), np.asarray(3, dtype="float32"), dtype="float32")
        check_array(variant, xo.at(x)[np.False_].add(1), variant.values(x), dtype="float32")
        whole = variant.array(np.asarray([1, 2], dtype="int8"))
        for index in (0, [0]):
            with pytest.raises(OverflowError, match="the Python integer 300 does not fit"):
                xo.at(whole)[index].set(np.int64(300))
            with pytest.raises(xo.Unsupported, match="a scalar of float64 does not fit into an array of"):
                xo.at(whole)[index].set(np.float64(3))
        with pytest.raises(xo.Unsupported, match="must hold integers or bools, not a Python float"):
            xo.at(x)[np.float64(1)].get()

    def test_at_of_large_numbers(self, variant: Variant) -> None:
        """Integers beyond 64 bits become floats; numbers beyond the limits of floating point become infinite."""
        host = np.asarray([1.0, 2.0], dtype="float32")
        for number, want in ((2**70, 2.0**70), (-(2**100), -(2.0**100)), (10**39, np.inf), (1e39, np.inf)):
            for index, op in product((0, [0]), ("set", "max" if number > 0 else "min")):
                with without_warnings():
                    got = getattr(xo.at(variant.array(host))[index], op)(number)
                    check_array(variant, got, np.asarray([want, 2.0], dtype="float32"), dtype="float32")
        with pytest.raises(OverflowError, match=r"^xo\.at\(x\)\[index\]\.set: int too large to convert to float"):
            xo.at(variant.array(host))[0].set(10**400)

    @depends_on()
    def test_at_refuses_unknown_operations(self, variant: Variant) -> None:
        """An unknown operation raises AttributeError."""
        with pytest.raises(AttributeError):
            getattr(xo.at(variant.make(sample("float32")))[0], "power")  # noqa: B009 - the type checker would reject the attribute
