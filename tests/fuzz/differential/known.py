"""What legitimately still differs from NumPy: a row for each reason, with a call that must still differ."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy

from tests.fuzz.differential.values import Operand

if TYPE_CHECKING:
    from tests.fuzz.differential.calls import Call
    from tests.fuzz.differential.outcomes import Outcome

ALL = ("numpy", "torch", "jax", "jax-32", "dask")
NOT_NUMPY = ALL[1:]


@dataclass(frozen=True)
class Row:
    """A difference from NumPy, its reason, and a call that shows it on the first of its libraries."""

    what: str
    reason: str
    kinds: tuple[str, ...]
    names: str
    """A regular expression for the whole name of the function."""
    example: str
    operands: dict[str, Operand] = field(default_factory=dict)
    libraries: tuple[str, ...] = ALL
    detail: str = ""
    """A regular expression for what differs."""
    code: str = ""
    """A regular expression for the call."""

    def lists(self, call: Call, library: str, outcome: Outcome) -> bool:
        """Whether the row lists a difference."""
        return (
            outcome.kind in self.kinds
            and library in self.libraries
            and re.fullmatch(self.names, call.name) is not None
            and re.search(self.detail, outcome.detail) is not None
            and re.search(self.code, call.code) is not None
        )


def _of(values: object, dtype: str) -> dict[str, Operand]:
    return {"x": Operand(numpy.array(values, dtype))}


ROWS = (
    Row(
        "`reduce` and `reduceat` of functions that are not associative, such as `arctan2` and `power`",
        "NumPy's vector loops apply the function to other operands (numpy 2.4); here it is applied from left to right",
        ("values",),
        r"(atan2|arctan2|pow|power|float_power|divide|true_divide|fmod|nextafter|copysign|heaviside)"
        r"\.(reduce|reduceat|accumulate)",
        "np.arctan2.reduce(x)",
        _of([3, -1, -1, -3], "int64"),
    ),
    Row(
        "`reciprocal` of the integer 0",
        "NumPy does not define it; here it is 0",
        ("values",),
        "reciprocal",
        "np.reciprocal(x)",
        _of([0, 1], "int64"),
        detail="^0 at",
    ),
    Row(
        "`floor_divide` and `divmod` of an infinity",
        "infinity as in the array API standard; NumPy gives NaN",
        ("values",),
        r"(floor_divide|divmod)(\..*)?",
        "np.floor_divide(x, 1)",
        _of([numpy.inf], "float32"),
        detail="inf at .*nan",
    ),
    Row(
        "the parts of complex results that are infinite or NaN",
        "libraries multiply complex numbers in other steps",
        ("values",),
        ".*",
        "np.square(x)",
        _of([complex(-1.7e308, 1.5)], "complex128"),
        libraries=ALL,
        detail=r"\(?.*(inf|nan).*j.*NumPy|NumPy.*(inf|nan).*j",
    ),
    Row(
        "steps of `accumulate` and `ptp` with `out=` of a wider dtype",
        "NumPy takes the steps in the dtype of out; here the result is cast",
        ("values", "operands"),
        r"ptp|.*\.(accumulate|reduce|reduceat)",
        "np.ptp(x, out=out)",
        {**_of([-6.2940001, 3.7530000, 0.1], "float32"), "out": Operand(numpy.zeros(()))},
        code="out=",
    ),
    Row(
        "`polyfit` of samples in single precision",
        "NumPy rounds some steps to single precision; here all are in double precision",
        ("values",),
        "polyfit",
        "np.polyfit(x, y, 0, w=[0.7, 1.3, 1.1])",
        {**_of([1.1, 2.3, 3.4], "float32"), "y": Operand(numpy.array([0.1, 0.7, -0.3], "float32"))},
    ),
    Row(
        "`out=` of `hfft`, `irfft2` and `irfftn`",
        "NumPy does not always write it (numpy 2.4); here it is always written",
        ("operands", "values"),
        r"fft\.(hfft|irfft2|irfftn)",
        "np.fft.hfft(x, out=out)",
        {**_of([1.0, 2, 3], "float64"), "out": Operand(numpy.zeros(4))},
        code="out=",
    ),
    Row(
        "`out=` of transforms with `s=`",
        "NumPy needs one that fits every step; here it must fit the result",
        ("NumPy raises",),
        r"fft\..*",
        "np.fft.fft2(x, s=(2, 2), out=out)",
        {**_of(numpy.ones((3, 4)), "float64"), "out": Operand(numpy.zeros((2, 2), "complex128"))},
        detail="remapped shapes",
    ),
    Row(
        "the signs of zeros",
        "libraries keep them differently, above all in remainders, extrema and sums",
        ("signs of zeros",),
        ".*",
        "np.remainder(x, -1.0)",
        _of([1.0], "float64"),
        libraries=("torch", "numpy", "jax", "jax-32", "dask"),
    ),
)
"""The rows, at most 40."""


def row_of(call: Call, library: str, outcome: Outcome) -> Row | None:
    """The row that lists a difference."""
    return next((row for row in ROWS if row.lists(call, library, outcome)), None)
