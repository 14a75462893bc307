"""A call and the random choices that make one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy

from tests.fuzz.differential.values import DTYPES, SHAPES, Operand, draw

WEIGHTS = {"float64": 5, "float32": 5, "int64": 4, "bool": 2, "complex128": 2}
"""How often a dtype is drawn; others once."""


@dataclass(frozen=True)
class Call:
    """A call: the function, its arguments as code, and the operands that the code names."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    """A keyword, or nothing for a positional argument, and the code of the value."""
    operands: dict[str, Operand]
    expression: str = ""
    """The code of calls that are no call of the function, such as ``np.r_[1:3]``."""

    @property
    def code(self) -> str:
        """The code of the call, in which ``np`` is NumPy or our module."""
        if self.expression:
            return self.expression
        given = ", ".join(f"{key}={value}" if key else value for key, value in self.arguments)
        return f"np.{self.name}({given})"

    def pruned(self) -> Call:
        """The call without operands that the code does not name."""
        used = re.findall(r"\b\w+\b", self.code)
        return replace(self, operands={name: x for name, x in self.operands.items() if name in used})

    def narrow(self) -> Call:
        """The call without 64-bit operands."""
        return replace(self, operands={name: x.narrow() for name, x in self.operands.items()})

    def writable(self) -> Call:
        """The call without read-only operands: only NumPy has them."""
        kept = {n: Operand(x.base) if x.layout == "read-only" else x for n, x in self.operands.items()}
        return replace(self, operands=kept)

    def simpler(self) -> list[Call]:
        """The calls with one keyword less, or with a simpler layout."""
        found = [
            replace(self, arguments=(*self.arguments[:i], *self.arguments[i + 1 :]))
            for i, (key, _) in enumerate(self.arguments)
            if key
        ]
        found = [call.pruned() for call in found]
        for name, x in self.operands.items():
            if x.layout != "contiguous":
                plain = Operand(numpy.ascontiguousarray(x.of("numpy")).reshape(x.shape))
                found.append(replace(self, operands={**self.operands, name: plain}))
        return found

    @property
    def size(self) -> int:
        """How long the example is."""
        return len(self.code) + sum(len(x.code()) for x in self.operands.values())


@dataclass
class Draw:
    """The random choices of one call."""

    name: str
    rng: numpy.random.Generator
    operands: dict[str, Operand] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    """The code of the arguments that are drawn already, by parameter."""
    style: str = "plain"

    @property
    def main(self) -> Operand:
        """The first operand; a vector of numbers if there is none."""
        return next(iter(self.operands.values()), Operand(numpy.ones(4)))

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def one_of(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high."""
        return int(self.rng.integers(low, high + 1))

    def dtype(self, *dtypes: str) -> str:
        dtypes = dtypes or DTYPES
        weights = numpy.array([WEIGHTS.get(name, 1) for name in dtypes], float)
        return str(self.rng.choice(dtypes, p=weights / weights.sum()))

    def array(
        self,
        *shapes: tuple[int, ...],
        dtypes: tuple[str, ...] = (),
        style: str = "",
        values: Any = None,
        plain: bool = False,
    ) -> str:
        """A new operand; the code is its name."""
        name = "xyzuvwabcdefgh"[len(self.operands)]
        shape = self.one_of(*(shapes or SHAPES))
        if values is not None:
            self.operands[name] = Operand(numpy.array(values))
            return name
        layouts = ["contiguous"] * 6 + ([] if plain else ["reversed", "strided", "transposed", "read-only"])
        style = style or self.style
        self.operands[name] = draw(self.rng, shape, self.dtype(*dtypes), style, self.one_of(*layouts))
        return name

    def beside(self, *, dtypes: tuple[str, ...] = ()) -> str:
        """An operand that mostly broadcasts with the main one, a number or a list."""
        shape = self.main.shape
        kind = self.rng.random()
        if kind < 0.15:
            return self.number()
        if kind < 0.22 and shape:
            return str([self.integer(-3, 3) for _ in range(shape[-1])])
        if kind < 0.26:
            return self.array((5,), dtypes=dtypes)
        same = dtypes or ((self.main.dtype,) if self.chance(0.5) else ())
        return self.array(shape, shape, shape, (), shape[-1:], (1,) * len(shape), dtypes=same)

    def number(self) -> str:
        return self.one_of("0", "1", "-2", "3", "0.5", "-1.5", "True", "2.0", "nan", "1j", "300")

    def mask(self) -> str:
        shape = self.main.shape
        return self.array(shape, shape, shape[-1:], (), dtypes=("bool",))

    def axis(self, *, several: bool = False, none: bool = True) -> str:
        """An axis of the main operand, sometimes out of bounds, or several axes."""
        ndim = len(self.main.shape)
        kind = self.rng.random()
        if none and kind < 0.15:
            return "None"
        if several and kind < 0.4 and ndim > 1:
            chosen = self.rng.permutation(ndim)[: self.integer(0, ndim)].tolist()
            return str(tuple(chosen))
        if kind > 0.95 or not ndim:
            return str(self.one_of(0, -1, ndim, -ndim - 1))
        return str(self.integer(-ndim, ndim - 1))


REDUCTIONS = {
    *[
        "all",
        "any",
        "max",
        "min",
        "amax",
        "amin",
        "sum",
        "prod",
        "mean",
        "std",
        "var",
        "ptp",
        "median",
        "average",
        "count_nonzero",
        "flip",
        "trim_zeros",
    ],
    *[
        "nanmax",
        "nanmin",
        "nansum",
        "nanprod",
        "nanmean",
        "nanstd",
        "nanvar",
        "nanmedian",
        "quantile",
        "percentile",
        "nanquantile",
    ],
    *[
        "nanpercentile",
        "squeeze",
        "expand_dims",
        "linalg.norm",
        "linalg.vector_norm",
        "fft.fftshift",
        "fft.ifftshift",
        "size",
    ],
}
"""Functions that take several axes."""
