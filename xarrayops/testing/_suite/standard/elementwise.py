"""Elementwise functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import (
    ALL,
    COMPLEX,
    DISCRETE,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMERIC,
    REAL,
    sample,
    specials,
    unordered_parts,
)
from xarrayops.testing._suite.table import Case, Row, call, row

EMPTY = (2, 0, 3)


def unary(
    verb: str, oracle: Callable[..., Any], dtypes: Sequence[str], *, low: float = -4, high: float = 4, **options: Any
) -> Row:
    """A row for a function of one array: every dtype, 0-d and empty arrays, and special floats."""
    calls = [call(sample(d, low=low, high=high)) for d in dtypes]
    edges = [call(sample(dtypes[0], (), low=low, high=high)), call(sample(dtypes[0], EMPTY))]
    special = [call(specials(d)) for d in dtypes if d in FLOATS]
    return row(verb, oracle, *calls[:1], *edges, *calls[1:], *special, **options)


def binary(
    verb: str,
    oracle: Callable[..., Any],
    dtypes: Sequence[str],
    *extra: Case,
    low: float = -4,
    high: float = 4,
    low2: float | None = None,
    special: bool = True,
    **options: Any,
) -> Row:
    """A row for a function of two arrays: every dtype, broadcasting, edge shapes, promotion, special floats."""
    low2 = low if low2 is None else low2

    def pair(d1: str, d2: str, shape1: tuple[int, ...] = (3, 4), shape2: tuple[int, ...] = (3, 4)) -> Case:
        return call(sample(d1, shape1, low=low, high=high), sample(d2, shape2, low=low2, high=high, seed=1))

    first = dtypes[0]
    calls = [pair(first, first), pair(first, first, (3, 1), (4,)), pair(first, first, (), ())]
    calls += [pair(first, first, EMPTY, (1, 3))] + [pair(d, d) for d in dtypes[1:]]
    calls += [pair(d1, d2) for d1, d2 in PROMOTED if d1 in dtypes and d2 in dtypes]
    if special:
        calls += [call(specials(d)[:, None], specials(d)) for d in dtypes if d in FLOATS]
    for d in dtypes:
        number = {"b": True, "i": 2, "u": 2, "f": 1.5, "c": 2.5}[np.dtype(d).kind]
        x = sample(d, low=low2, high=high)
        calls += [call(x, number), call(number, x)]
        calls += [call(x, 2), call(2, x)] * (d in FLOATS) + [call(x, 2.5j), call(2.5j, x)] * (d in COMPLEX)
    return row(verb, oracle, *calls, *extra, **options)


PROMOTED = (
    ("float32", "float64"),
    ("int8", "int32"),
    ("uint8", "int8"),
    ("int64", "uint32"),
    ("complex64", "float64"),
    ("float32", "complex64"),
    ("uint64", "uint8"),
)


PARTS = tuple(call(unordered_parts(d)[8:15, None], unordered_parts(d)[4:18:2]) for d in COMPLEX)


def _of_floats(oracle: Callable[..., Any]) -> Callable[..., Any]:
    """An oracle that applies a function to floats and returns integers unchanged."""
    return lambda x: oracle(x) if x.dtype.kind == "f" else x


def _sign(x: Any) -> Any:
    return np.where(x == 0, 0, x / np.abs(x)) if x.dtype.kind == "c" else np.sign(x)


def _held(bound: Any, dtype: Any) -> Any:
    """A bound; beyond the range of an integer dtype, the nearest limit."""
    if dtype.kind not in "iu" or type(bound) is not int:
        return bound
    return min(max(bound, np.iinfo(dtype).min), np.iinfo(dtype).max)


def _clip(x: Any, low: Any = None, high: Any = None, **named: Any) -> Any:
    low, high = (_held(b, x.dtype) for b in (named.get("min", low), named.get("max", high)))
    with np.errstate(all="ignore"):
        x = x if low is None else np.where(x < low, low, x)
        return x if high is None else np.where(x > high, high, x)


ROWS = [
    unary("abs", np.abs, NUMERIC, dtype="real"),
    unary("acos", np.arccos, INEXACT, low=-1, high=1),
    unary("acosh", np.arccosh, INEXACT, low=1),
    unary("asin", np.arcsin, INEXACT, low=-1, high=1),
    unary("asinh", np.arcsinh, INEXACT),
    unary("atan", np.arctan, INEXACT),
    unary("atanh", np.arctanh, INEXACT, low=-0.9, high=0.9),
    unary("bitwise_invert", np.invert, DISCRETE),
    unary("ceil", _of_floats(np.ceil), REAL),
    unary("conj", np.conj, NUMERIC),
    unary("cos", np.cos, INEXACT),
    unary("cosh", np.cosh, INEXACT),
    unary("exp", np.exp, INEXACT),
    unary("expm1", np.expm1, INEXACT, ulps=64),
    unary("floor", _of_floats(np.floor), REAL),
    unary("imag", np.imag, COMPLEX, dtype="real"),
    unary("isfinite", np.isfinite, NUMERIC, dtype="bool"),
    unary("isinf", np.isinf, NUMERIC, dtype="bool"),
    unary("isnan", np.isnan, NUMERIC, dtype="bool"),
    unary("log", np.log, INEXACT, low=0.1),
    unary("log10", np.log10, INEXACT, low=0.1),
    unary("log1p", np.log1p, INEXACT, low=-0.9, ulps=64),
    unary("log2", np.log2, INEXACT, low=0.1),
    unary("logical_not", np.logical_not, ("bool",), dtype="bool"),
    unary("negative", np.negative, NUMERIC),
    unary("positive", np.positive, NUMERIC),
    unary("real", np.real, NUMERIC, dtype="real"),
    unary("reciprocal", np.reciprocal, INEXACT),
    unary("round", np.round, NUMERIC),
    unary("sign", _sign, NUMERIC),
    unary("signbit", np.signbit, FLOATS, dtype="bool"),
    unary("sin", np.sin, INEXACT),
    unary("sinh", np.sinh, INEXACT, ulps=64),
    unary("sqrt", np.sqrt, INEXACT, low=0),
    unary("square", np.square, NUMERIC),
    unary("tan", np.tan, INEXACT, ulps=64),
    unary("tanh", np.tanh, INEXACT),
    unary("trunc", _of_floats(np.trunc), REAL),
    binary("add", np.add, NUMERIC),
    binary("atan2", np.arctan2, FLOATS),
    binary("bitwise_and", np.bitwise_and, DISCRETE),
    binary("bitwise_left_shift", np.left_shift, INTEGERS, low=0, high=5),
    binary("bitwise_or", np.bitwise_or, DISCRETE),
    binary("bitwise_right_shift", np.right_shift, INTEGERS, low=0, high=5),
    binary("bitwise_xor", np.bitwise_xor, DISCRETE),
    binary("copysign", np.copysign, FLOATS),
    binary("divide", np.divide, INEXACT),
    binary("equal", np.equal, ALL, dtype="bool", low=0, high=2),
    binary("floor_divide", np.floor_divide, REAL, low2=1, special=False),
    binary("greater", np.greater, NUMERIC, *PARTS, dtype="bool"),
    binary("greater_equal", np.greater_equal, NUMERIC, *PARTS, dtype="bool"),
    binary("hypot", np.hypot, FLOATS),
    binary("less", np.less, NUMERIC, *PARTS, dtype="bool"),
    binary("less_equal", np.less_equal, NUMERIC, *PARTS, dtype="bool"),
    binary("logaddexp", np.logaddexp, FLOATS),
    binary("logical_and", np.logical_and, ("bool",)),
    binary("logical_or", np.logical_or, ("bool",)),
    binary("logical_xor", np.logical_xor, ("bool",)),
    binary("maximum", np.maximum, NUMERIC, *PARTS),
    binary("minimum", np.minimum, NUMERIC, *PARTS),
    binary("multiply", np.multiply, NUMERIC),
    row(  # float64 only: the result depends on the dtype
        "nextafter",
        np.nextafter,
        call(sample("float64"), sample("float64", seed=1)),
        call(sample("float64"), 1.0),
        call(1.0, sample("float64")),
        call(specials("float64")[:, None], specials("float64")[:3]),
    ),
    binary("not_equal", np.not_equal, ALL, dtype="bool", low=0, high=2),
    binary("pow", np.power, INEXACT, low=0.5, ulps=64),
    binary("pow", np.power, INTEGERS, low=1, high=3, label="integers"),
    binary("remainder", np.remainder, REAL, low2=1, special=False, ulps=64),
    binary("subtract", np.subtract, NUMERIC),
    row(
        "clip",
        _clip,
        call(sample("float32"), -1.0, 2.0),
        call(sample("float32"), min=-1.0),
        call(sample("float32"), max=sample("float32", (4,))),
        call(sample("float64"), sample("float64", (3, 1), high=-1), sample("float64", (4,), low=1)),
        call(sample("int64"), -1, 1),
        call(sample("int8"), -1000, 1),
        call(sample("uint8"), 1, 300),
        *(call(sample(dtype), 1, 3) for dtype in INTEGERS),
        call(sample("float32")),
        call(sample("float32", (), high=0), 0.5),
        call(sample("float64", (0, 3)), -1, 1),
        call(specials("float64"), -1.0, 1.0),
        dtype="first",
    ),
    row(
        "where",
        np.where,
        *(call(sample("bool"), sample(d), sample(d, seed=1)) for d in ALL),
        call(sample("bool", (3, 1)), sample("float32", (4,)), sample("float64", ())),
        call(sample("bool"), sample("float32"), 0.0),
        call(sample("bool"), 0, sample("float32")),
        call(sample("bool"), 0, sample("int8")),
        call(sample("bool", ()), sample("int8", ()), sample("int32", ())),
        call(sample("bool", (0,)), sample("float32", (1,)), sample("float32", (0,))),
    ),
]
