"""A row of the table of differences from NumPy, and what operands may be."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy

from tests.fuzz.differential.values import Operand

if TYPE_CHECKING:
    from tests.fuzz.differential.draw import Call
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
    of: Callable[[numpy.ndarray], bool] | None = None
    """What at least one operand must be, if there are operands."""
    within: float | None = None
    """How near values must be to those of NumPy, relative to them."""

    def lists(self, call: Call, library: str, outcome: Outcome) -> bool:
        """Whether the row lists a difference."""
        return (
            outcome.kind in self.kinds
            and library in self.libraries
            and re.fullmatch(self.names, call.name) is not None
            and re.search(self.detail, outcome.detail) is not None
            and re.search(self.code, call.code) is not None
            and (self.of is None or not call.operands or any(self.of(x.base) for x in call.operands.values()))
            and (self.within is None or outcome.kind != "values" or _is_near(outcome.detail, self.within))
        )


def _is_near(detail: str, within: float) -> bool:
    """Whether the two numbers of a difference of values are near each other."""
    numbers = re.fullmatch(r"(\S+) at .*NumPy (\S+)", detail)
    if numbers is None:
        return False
    found, wanted = map(complex, numbers.groups())
    return abs(found - wanted) <= within * max(1.0, abs(wanted))


def is_narrow(x: numpy.ndarray) -> bool:
    """Whether NumPy's steps in the dtype may wrap."""
    return x.dtype.kind == "b" or (x.dtype.kind in "iu" and x.dtype.itemsize <= 2)


def has_equal(x: numpy.ndarray) -> bool:
    return numpy.unique(x, equal_nan=True).size < x.size


def is_extreme(x: numpy.ndarray) -> bool:
    return x.size == 0 or not (numpy.abs(x.astype("complex128")) < 1e30).all()


def is_empty(x: numpy.ndarray) -> bool:
    return x.size == 0
