"""Python numbers as operands: they work with every library and do not change the dtype of an array."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._surface import SURFACE
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.standard import elementwise
from xarrayops.testing._suite.variant import Variant, depends_on


@depends_on()
class ScalarSuite:
    """Python numbers with arrays. The tables compare the values of each function with a scalar on either side."""

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
