"""Operands: Python numbers, arrays of several libraries, and what is not an array."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._surface import SURFACE
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.foreign import ForeignArray, check_mixed, foreign_arrays
from xarrayops.testing._suite.operations import indexing
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.standard import creation, elementwise, linalg, manipulation, reductions
from xarrayops.testing._suite.table import Case, Row, check_raises
from xarrayops.testing._suite.variant import Variant, depends_on

TABLES = (creation, elementwise, indexing, linalg, manipulation, reductions)
CALLS_WITH_SEVERAL_ARRAYS = {
    r.verb: (r, c)
    for t in TABLES
    for r in t.ROWS
    for c in reversed(r.calls)
    if r.function is None and "like" not in c.kwargs and len(c.arrays) > 1
}
"""The first call with several arrays, for each verb that has one."""
COMPARISONS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
BINARY = {row.verb for row in elementwise.ROWS if SURFACE[row.verb] == "(x1, x2, /)"}
"""The elementwise functions of two arrays; either argument may be a Python number."""
MASKED: np.ma.MaskedArray[Any, Any] = np.ma.masked_array([1.0, 2.0], mask=[True, False])


@depends_on()
class MixedSuite:
    """Python numbers with arrays, arrays of several libraries, and arguments that are not arrays."""

    def test_every_binary_function_takes_scalars(self) -> None:
        """The tables have a call with a scalar on each side, for all functions of two arrays."""
        for row in elementwise.ROWS:
            sides = {i for c in row.calls for i, a in enumerate(c.args[:2]) if not isinstance(a, np.ndarray)}
            assert sides == {0, 1} or row.verb not in BINARY, row.verb

    def test_scalars_are_weak(self, variant: Variant) -> None:
        """An array keeps its dtype with a Python number of the same kind or a lower kind."""
        for dtype, number in (("float32", 2), ("float32", 0.5), ("int8", 1), ("complex64", 0.5), ("bool", True)):
            x = variant.make(sample(dtype))
            function = xo.logical_and if dtype == "bool" else xo.multiply
            want = sample(dtype) & True if dtype == "bool" else sample(dtype) * np.asarray(number).astype(dtype)
            check_array(variant, function(x, number), want, dtype=dtype)
            check_array(variant, function(number, x), want, dtype=dtype)

    def test_scalars_are_weak_with_0d_arrays(self, variant: Variant) -> None:
        """A 0-d array takes part in promotion like any array; a Python scalar does not."""
        zero_d = variant.make(sample("float32", ()))
        check_array(variant, xo.add(zero_d, 1.5), sample("float32", ()) + np.float32(1.5), dtype="float32")
        wide = xo.add(variant.make(sample("float32")), variant.make(sample("float64", ())))
        check_array(variant, wide, sample("float32") + sample("float64", ()), dtype="float64")

    @pytest.mark.parametrize(("dtype", "number"), [("int8", 300), ("int8", -129), ("uint8", -1), ("int64", 2**63)])
    def test_integers_beyond_the_dtype(self, variant: Variant, dtype: str, number: int) -> None:
        """A Python integer out of the range of an integer dtype never wraps: it raises, or compares by its value."""
        host = np.asarray([1, 2, 3], dtype=dtype)
        x = variant.make(host)
        for verb in ("add", "subtract", "multiply", "maximum", "remainder", "bitwise_xor"):
            for pair in ((x, number), (number, x)):
                with pytest.raises(OverflowError):
                    getattr(xo, verb)(*pair)
        for verb, compare in COMPARISONS.items():
            for pair, want in (
                ((x, number), [compare(int(a), number) for a in host]),
                ((number, x), [compare(number, int(a)) for a in host]),
            ):
                try:
                    got = getattr(xo, verb)(*pair)
                except OverflowError:  # libraries without a backend may raise
                    continue
                check_array(variant, got, np.asarray(want), dtype="bool")

    def test_bounds_beyond_the_dtype(self, variant: Variant) -> None:
        """A bound of ``clip`` out of the range of an integer dtype acts as the nearest limit, or raises.

        The standard does not specify this case, so libraries without a backend are not tested.
        """
        if not variant.backend.has_entry_point:
            return
        host = np.asarray([-3, 0, 5], dtype="int8")
        x = variant.make(host)
        for bounds, want in (((-1000, 1000), host), ((1000, None), [127] * 3), ((None, -1000), [-128] * 3)):
            try:
                got = xo.clip(x, *bounds)
            except OverflowError:
                continue
            check_array(variant, got, np.asarray(want, dtype="int8"), dtype="int8")

    @pytest.mark.parametrize("verb", CALLS_WITH_SEVERAL_ARRAYS)
    def test_mixed_libraries(self, variant: Variant, verb: str) -> None:
        """An array of another library, as any argument or item of a sequence, raises and says what to do instead."""
        row, case = CALLS_WITH_SEVERAL_ARRAYS[verb]
        for position in range(len(case.arrays)):
            try:
                check_mixed(variant, verb, partial(_call_with_foreign_array, variant, row, case, position))
            except (AssertionError, pytest.fail.Exception) as error:
                raise AssertionError(f"{case}, array {position} is foreign: {error}") from error

    def test_numpy_scalars_are_numbers(self, variant: Variant) -> None:
        """``np.float64(1)`` with an array of another library is the Python number 1.0; a 0-d array is an array."""
        host = sample("float32")
        x = variant.make(host)
        if "numpy" not in foreign_arrays(variant):
            return
        for result in (xo.add(x, np.float64(1)), xo.add(np.float64(1), x)):
            check_array(variant, result, host + np.float32(1), dtype="float32")
        with pytest.raises(xo.MixedBackends, match="numpy"):
            xo.add(x, np.asarray(1.0))

    def test_array_namespace_of_several_libraries(self, variant: Variant) -> None:
        """``array_namespace`` raises for arrays of several libraries; it ignores scalars and None."""
        x = variant.make(sample("float32"))
        assert xo.array_namespace(x, 1.0, None, x) is variant.backend.namespace
        with pytest.raises(xo.MixedBackends, match=r"arrays\[1\]"):
            xo.array_namespace(x, ForeignArray())

    NOT_ARRAYS = ([1.0, 2.0], "text", {"a": 1}, object(), range(3))

    @pytest.mark.parametrize("bad", NOT_ARRAYS, ids=lambda bad: type(bad).__name__)
    def test_arguments_of_other_types(self, variant: Variant, bad: Any) -> None:
        """An argument that is not an array raises an error that says so, alone and with an array."""
        x = variant.make(sample("float32", (2,)))
        match = "which is not an array|must be an array|asarray"
        uses = (lambda: xo.add(x, bad), lambda: xo.add(bad, x), lambda: xo.sum(bad), lambda: xo.stack([x, bad]))
        check_raises(xo.BackendNotFound, match, *uses)

    @pytest.mark.parametrize("bad", [MASKED, np.asarray([{}, None])], ids=["masked", "objects"])
    def test_unsupported_numpy_arrays(self, variant: Variant, bad: Any) -> None:
        """Masked arrays and object arrays raise, and the message says what to do instead."""
        x = variant.make(sample("float64", (2,)))
        uses = (lambda: xo.concat([x, bad]), lambda: xo.sum(bad), lambda: xo.convert(bad, variant.library))
        check_raises((xo.Unsupported, xo.ExchangeError), "Instead", *uses)

    def test_numbers_as_array_arguments(self, variant: Variant) -> None:
        """A Python number as an argument that must be an array raises an error that names the argument."""
        x = variant.make(sample("float32", (2, 2)))
        uses: dict[str, Callable[[], Any]] = {
            "x": lambda: xo.sum(2.0),
            "x1": lambda: xo.matmul(2.0, x),
            "x2": lambda: xo.linalg.solve(x, 2.0),
            "condition": lambda: xo.where(True, x, x),
            "indices": lambda: xo.take(x, 1, axis=0),
            "arrays[1]": lambda: xo.concat([x, 1.0]),
            "operands[1]": lambda: xo.einsum("ij,->ij", x, 2.0),
        }
        for name, use in uses.items():
            check_raises(xo.BackendNotFound, rf"argument {re.escape(name)} is .*, but it must be an array", use)

    def test_calls_without_an_array(self) -> None:
        """Scalars alone do not determine a library, so the call raises."""
        check_raises(
            xo.BackendNotFound, "array", lambda: xo.add(1, 2.0), lambda: xo.concat([]), lambda: xo.where(True, 1, 2)
        )


def _call_with_foreign_array(variant: Variant, row: Row, case: Case, position: int, foreign: Any) -> None:
    """Make the call with the foreign array instead of the array at a position."""
    positions = count()
    mixed = case.filled(
        lambda a: foreign if next(positions) == position else variant.make(a), variant.backend.native_dtype
    )
    row.public(*mixed.args, **mixed.kwargs)
