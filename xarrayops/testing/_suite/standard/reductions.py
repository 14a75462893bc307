"""Reductions, scans and statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import (
    ALL,
    COMPLEX,
    FLOATS,
    INEXACT,
    NUMERIC,
    REAL,
    sample,
    shuffled,
    specials,
    unordered_parts,
)
from xarrayops.testing._suite.table import NativeDtype, Row, call, row

CUBE = (2, 3, 4)


def reduction(
    verb: str, oracle: Callable[..., Any], dtypes: tuple[str, ...], *extra: Any, empty: bool = True, **options: Any
) -> Row:
    """A row for a reduction: every dtype, one, several and no axes, keepdims, 0-d and (if ``empty``) empty arrays."""
    x = sample(dtypes[0], CUBE)
    calls = [call(x, axis=1, keepdims=True), call(x), call(x, axis=(0, -1)), call(x, axis=-1), call(x, axis=())]
    calls += [call(x, keepdims=True), call(sample(dtypes[0], ()))]
    calls += [call(sample(dtypes[0], (2, 0))), call(sample(dtypes[0], (2, 0)), axis=1)] if empty else []
    calls += [call(sample(dtypes[0], (2, 0)), axis=0)] + [call(sample(d, CUBE)) for d in dtypes[1:]]
    calls += [call(sample(d, CUBE), axis=0) for d in dtypes[1:]]
    return row(verb, oracle, *calls, *extra, normwise=True, **options)


def accumulation(verb: str, oracle: Callable[..., Any], *extra: Any) -> Row:
    """A row for ``sum`` or ``prod``, which widen small integers unless ``dtype=`` is given."""
    with_dtype = [
        call(sample("float32", CUBE), dtype="float64"),
        call(sample("int8", CUBE), axis=0, dtype=NativeDtype("int16")),
    ]
    return reduction(verb, oracle, NUMERIC, *with_dtype, *extra, dtype="accumulator")


def scan(verb: str, oracle: Callable[..., Any]) -> Row:
    """A row for a cumulative function."""
    calls = [call(sample("float32", CUBE), axis=1), call(sample("float32", (5,)))]
    calls += [call(sample("float32", CUBE), axis=-1, include_initial=True), call(sample("int8", (4,)))]
    calls += [call(sample("float32", (0,)), include_initial=True), call(sample("int8", (4,)), dtype="int32")]
    calls += [call(sample(d, CUBE), axis=0) for d in NUMERIC]
    return row(verb, oracle, *calls, dtype="accumulator", normwise=True)


CORRECTION_CALLS = (
    call(sample("float32", CUBE), correction=1),
    call(sample("float64", CUBE), axis=(0, 2), correction=0.5, keepdims=True),
)
TIES = np.asarray([[2, 1, 2], [1, 1, 0]], dtype="int32")
ARG_CALLS = [call(shuffled(d, CUBE), axis=1) for d in REAL] + [call(TIES), call(TIES, axis=1, keepdims=True)]
SPECIAL_CALLS = [call(specials("float64")[1:]), call(specials("float32"))]
COMPLEX_CALLS = [
    call(x, **options)
    for d in COMPLEX
    for x in (sample(d, CUBE), np.reshape(unordered_parts(d), (5, 8)))
    for options in ({}, {"axis": 0}, {"axis": -1, "keepdims": True})
]
ROWS = [
    reduction("all", np.all, ALL, dtype="bool"),
    reduction("any", np.any, ALL, dtype="bool"),
    row("argmax", np.argmax, call(shuffled("float32", CUBE)), *ARG_CALLS, *COMPLEX_CALLS, dtype="indexing"),
    row("argmin", np.argmin, call(shuffled("float32", CUBE)), *ARG_CALLS, *COMPLEX_CALLS, dtype="indexing"),
    reduction("count_nonzero", np.count_nonzero, ALL, dtype="indexing"),
    scan("cumulative_prod", np.cumulative_prod),
    scan("cumulative_sum", np.cumulative_sum),
    row(
        "diff",
        np.diff,
        call(sample("float32", CUBE)),
        call(sample("float32", CUBE), axis=1, n=2),
        call(sample("float32", (5,)), n=0),
        call(sample("int64", (2, 3)), axis=0, prepend=sample("int64", (1, 3), seed=1)),
        call(sample("float64", (5,)), append=sample("float64", (2,)), prepend=sample("float64", (1,))),
        *(call(sample(d, CUBE)) for d in NUMERIC),
    ),
    reduction(
        "max", np.max, REAL, call(specials("float64")[1:]), call(specials("float32")), *COMPLEX_CALLS, empty=False
    ),
    reduction("mean", np.mean, INEXACT),
    reduction(
        "min", np.min, REAL, call(specials("float64")[1:]), call(specials("float32")), *COMPLEX_CALLS, empty=False
    ),
    accumulation("prod", np.prod),
    reduction("std", np.std, FLOATS, *CORRECTION_CALLS),
    accumulation("sum", np.sum, call(specials("float64"))),
    reduction("var", np.var, FLOATS, *CORRECTION_CALLS),
]
