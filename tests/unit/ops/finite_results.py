"""Calls of functions that the law of accumulation does not bound, but whose results are finite where they should be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import xarrayops as xo
from tests.unit.ops.accumulation import Call, beside, floating


def _of_one(function: Any, want: Any) -> Call:
    return Call(lambda x: function(xo.astype(x, floating(x))), want)


def _of_pair(function: Any, want: Any) -> Call:
    """Of x and x reversed."""
    return Call(
        lambda x: function(xo.astype(x, floating(x)), xo.flip(xo.astype(x, floating(x)))), lambda w: want(w, w[::-1])
    )


def _well_conditioned(w: Any) -> Any:
    return w / max(1.0, np.abs(w).max()) * 0.25


def _diagonal(x: Any) -> Any:
    """A matrix whose diagonal is the greatest elements of x, and 0 elsewhere."""
    n = min(4, x.shape[0])
    x = xo.astype(x[:n], floating(x))
    return xo.reshape(x, (n, 1)) * beside(x, np.eye(n))


def _solved(w: Any) -> Any:
    n = min(4, len(w))
    return np.where(w[:n] == 0, np.nan, 1.0)


FINITE: dict[str, list[Call]] = {
    **{
        name: [_of_one(getattr(xo, name), getattr(np, name))]
        for name in ("abs", "atan", "asinh", "ceil", "expm1", "floor", "negative", "positive", "round", "sign", "sin")
    },
    **{
        name: [_of_one(getattr(xo, name), getattr(np, name))]
        for name in ("cos", "exp", "tanh", "square", "trunc", "reciprocal", "sinh", "cosh")
    },
    "erf": [_of_one(xo.erf, np.vectorize(math.erf, otypes=["float64"]))],
    "sigmoid": [_of_one(xo.sigmoid, lambda w: np.exp(-np.logaddexp(0, -w)))],
    **{
        name: [Call(lambda x, name=name: getattr(xo, name)(xo.abs(xo.astype(x, floating(x)))), want)]
        for name, want in {
            "sqrt": lambda w: np.sqrt(np.abs(w)),
            "log": lambda w: np.log(np.abs(w)),
            "log1p": lambda w: np.log1p(np.abs(w)),
            "log2": lambda w: np.log2(np.abs(w)),
            "log10": lambda w: np.log10(np.abs(w)),
            "acosh": lambda w: np.arccosh(np.abs(w)),
            "cbrt": lambda w: np.cbrt(np.abs(w)),
        }.items()
    },
    **{
        name: [_of_pair(getattr(xo, name), getattr(np, name))]
        for name in ("add", "subtract", "multiply", "divide", "hypot", "logaddexp", "maximum", "minimum", "atan2")
    },
    **{name: [_of_pair(getattr(xo, name), getattr(np, name))] for name in ("copysign", "remainder", "floor_divide")},
    "pow": [Call(lambda x: xo.pow(xo.abs(xo.astype(x, floating(x))), 0.5), lambda w: np.abs(w) ** 0.5)],
    "diff": [_of_one(xo.diff, np.diff), _of_one(lambda x: xo.diff(x, n=2), lambda w: np.diff(w, n=2))],
    "prod": [
        Call(lambda x: xo.prod(xo.astype(x, floating(x)) / 2), lambda w: np.prod(w / 2), most=40),
        Call(
            lambda x: xo.prod(beside(x, [60_000.0, 60_000.0, 2.0**-15, 2.0**-15], floating(x))),
            lambda w: np.asarray(60_000.0**2 / 2.0**30),
        ),
    ],
    "cumulative_prod": [
        Call(
            lambda x: xo.cumulative_prod(beside(x, [60_000.0, 60_000.0, 2.0**-15, 2.0**-15], floating(x)))[-1],
            lambda w: np.asarray(60_000.0**2 / 2.0**30),
        )
    ],
    "linspace": [
        Call(
            lambda x: xo.linspace(float(-abs(float(x[0]))), abs(float(x[0])), 7, dtype=floating(x), like=x),
            lambda w: np.linspace(-abs(w[0]), abs(w[0]), 7),
        ),
        Call(
            lambda x: xo.linspace(0.0, 1000.0, x.shape[0], dtype=floating(x), like=x),
            lambda w: np.linspace(0.0, 1000.0, len(w)),
        ),
        Call(
            lambda x: xo.linspace(beside(x, 0.0, floating(x)), beside(x, 1000.0, floating(x)), x.shape[0]),
            lambda w: np.linspace(0.0, 1000.0, len(w)),
        ),
    ],
    "arange": [
        Call(lambda x: xo.arange(0.0, 1000.0, 200.0, dtype=floating(x), like=x), lambda w: np.arange(0, 1000, 200.0))
    ],
    "geomspace": [
        Call(
            lambda x: xo.geomspace(1e-3, 6e4, x.shape[0], dtype=floating(x), like=x),
            lambda w: np.geomspace(1e-3, 6e4, len(w)),
        )
    ],
    "logspace": [
        Call(
            lambda x: xo.logspace(-3, 4.5, x.shape[0], dtype=floating(x), like=x),
            lambda w: np.logspace(-3, 4.5, len(w)),
        )
    ],
    **{
        name: [
            Call(
                lambda x, name=name, given=given: getattr(xo, name)(x.shape[0], *given, dtype=floating(x), like=x),
                lambda w, name=name, given=given: getattr(np, name)(len(w), *given),
            )
        ]
        for name, given in {"bartlett": (), "blackman": (), "hamming": (), "hanning": (), "kaiser": (14.0,)}.items()
    },
    "gradient": [
        Call(lambda x: xo.gradient(x), np.gradient, least=3),
        Call(lambda x: xo.gradient(x, 0.5, edge_order=2), lambda w: np.gradient(w, 0.5, edge_order=2), least=3),
    ],
    "interp": [
        Call(
            lambda x: xo.interp(beside(x, [0.25, 0.5, 1.75], floating(x)), beside(x, [0, 1, 2], floating(x)), x[:3]),
            lambda w: np.interp([0.25, 0.5, 1.75], [0, 1, 2], w[:3]),
            least=3,
        ),
        Call(
            lambda x: xo.interp(beside(x, [0.5], floating(x)), xo.stack([xo.min(x), xo.max(x)]), beside(x, [1, 3])),
            lambda w: np.interp([0.5], [w.min(), w.max()], [1.0, 3.0]),
        ),
    ],
    "polyval": [
        Call(
            lambda x: xo.polyval(xo.astype(x, floating(x)), beside(x, [1.0, -1.0, 0.5], floating(x))),
            lambda w: np.polyval(w, [1.0, -1.0, 0.5]),
            most=20,
        )
    ],
    "nan_to_num": [Call(xo.nan_to_num, np.nan_to_num)],
    "matmul": [
        Call(
            lambda x: xo.matmul(xo.astype(x, floating(x)), beside(x, np.full(x.shape[0], 2.0**-9), floating(x))),
            lambda w: np.sum(w) * 2.0**-9,
        )
    ],
    "tensordot": [
        Call(
            lambda x: xo.tensordot(
                xo.astype(x, floating(x)), beside(x, np.full(x.shape[0], 2.0**-9), floating(x)), axes=1
            ),
            lambda w: np.sum(w) * 2.0**-9,
        )
    ],
    "einsum": [
        Call(
            lambda x: xo.einsum(
                "i,i->", xo.astype(x, floating(x)), beside(x, np.full(x.shape[0], 2.0**-9), floating(x))
            ),
            lambda w: np.sum(w) * 2.0**-9,
        )
    ],
    "outer": [_of_pair(xo.outer, np.outer)._replace(most=50)],
    "kron": [Call(lambda x: xo.kron(x[:4], beside(x, [1, 0])), lambda w: np.kron(w[:4], [1, 0]))],
    "linalg.outer": [_of_pair(xo.linalg.outer, np.outer)._replace(most=50)],
    "linalg.cross": [
        Call(
            lambda x: xo.linalg.cross(xo.astype(x, floating(x))[:3], beside(x, [0.5, 0.25, 1.0], floating(x))),
            lambda w: np.cross(w[:3], [0.5, 0.25, 1.0]),
            least=3,
        )
    ],
    "linalg.cond": [
        Call(
            lambda x: xo.linalg.cond(_diagonal(x)),
            lambda w: np.abs(w[:4]).max() / np.abs(w[:4]).min() * _solved(w).max(),
            least=4,
        )
    ],
}
"""Other functions with a floating-point result: it is finite where the oracle's is."""
