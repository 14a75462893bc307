"""Compiled functions, and branches and loops in them, against the same steps in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import gap_of
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.table import called, exercises
from xarrayops.testing._suite.variant import Variant, depends_on

X = sample("float32", (3, 4), low=1, high=2)


class CompilationSuite:
    """Compiled functions, and the traceable replacements of Python's branches and loops."""

    @exercises("cond")
    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_branch(self, variant: Variant, sign: float) -> None:
        """One of two functions, by a value; results may be nested."""
        x = variant.array(X * np.float32(sign))

        def chosen(x: Any) -> Any:
            positive = xo.greater(xo.sum(x), 0.0)
            return xo.cond(positive, lambda x: (xo.multiply(x, 2.0), x), lambda x: (xo.subtract(x, 1.0), x), x)

        first, second = called(variant, "cond", chosen, x)
        check_array(variant, first, X * 2 if sign > 0 else -X - 1, dtype="float32")
        check_array(variant, second, X * np.float32(sign), dtype="float32")

    @exercises("while_loop")
    def test_loop_by_a_value(self, variant: Variant) -> None:
        """Double the values until their sum is 1000; the number of steps depends on values."""
        x = variant.array(X)

        def grown(x: Any) -> Any:
            return xo.while_loop(
                lambda values: xo.less(xo.sum(values[1]), 1000.0),
                lambda values: (xo.add(values[0], 1), xo.multiply(values[1], 2.0)),
                (0, x),
            )

        steps, found = called(variant, "while_loop", grown, x)
        expected = int(np.ceil(np.log2(1000 / X.astype("float64").sum())))
        check_array(variant, steps, np.asarray(expected), dtype=None)
        check_array(variant, found, X * np.float32(2**expected), dtype="float32")

    @exercises("scan")
    @pytest.mark.parametrize("reverse", [False, True])
    def test_loop_over_items(self, variant: Variant, reverse: bool) -> None:
        """Running sums of rows, from the first or from the last one."""
        x = variant.array(X)

        def sums(x: Any) -> Any:
            start = xo.zeros_like(x[0, ...])
            return xo.scan(lambda total, row: (xo.add(total, row),) * 2, start, x, reverse=reverse)

        last, rows = called(variant, "scan", sums, x)
        order = slice(None, None, -1 if reverse else 1)
        check_array(
            variant, rows, np.cumsum(X[order].astype("float64"), axis=0)[order].astype("float32"), dtype="float32"
        )
        check_array(variant, last, X.astype("float64").sum(axis=0).astype("float32"), dtype="float32")

    @depends_on()
    @exercises("jit")
    def test_compiled(self, variant: Variant) -> None:
        """The results are equal to the function's; a library without a compiler runs it eagerly."""
        x = variant.make(X)
        function = xo.jit(lambda x, factor: xo.multiply(xo.exp(x), factor))
        for factor in (2.0, 3.0, 2.0):
            for _ in range(2):
                check_array(variant, function(x, factor), np.exp(X.astype("float64")) * factor, dtype="float32")
        compiles = gap_of(variant.backend.functions["compiled"]) is None
        assert all(bool(each.engine) == compiles for each in function.ledger)
