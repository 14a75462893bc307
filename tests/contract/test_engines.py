"""Engines serve the rows of the contract suite, and give what the library of the arrays gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import xarrayops as xo
import xarrayops.testing
from xarrayops._ops.engines.functions import ERRORS_OF_VALUES, SERVED
from xarrayops.testing._suite.compare import is_namedtuple_with
from xarrayops.testing._suite.suite import ContractSuite, rows
from xarrayops.testing._suite.table import Case, Row, native_case, supported_cases, without_warnings

CASES_OF_A_ROW = 3
PAIRS = [("numpy", "torch"), ("torch", "numpy"), ("numpy", "jax"), ("torch", "jax"), ("jax", "numpy"), ("jax", "torch")]
ARRAYS_WITHOUT_AXES = ("logsumexp",)
"""The functions that return arrays without axes on NumPy, and scalars by an engine."""


def calls_of(variant: Any, row: Row) -> Iterator[tuple[Case, Any]]:
    """Some calls of a row with their result, or the class of the error."""
    for case in supported_cases(variant, row)[:CASES_OF_A_ROW]:
        native, target = native_case(variant, row, case)
        with without_warnings():
            try:
                yield native, variant.run(row.public, *native.args, **native.kwargs, **target)
            except Exception as error:
                yield native, type(error)


def described(result: Any) -> Any:
    """The properties that must not depend on the engine: classes, dtypes, shapes and devices."""
    if isinstance(result, (tuple, list)):
        return [*map(described, result)]
    if isinstance(result, type):
        return result
    return type(result), str(result.dtype), tuple(result.shape), xo.device(result)


def is_alias(case: Case, result: Any) -> bool:
    """Whether the first result shares memory with an argument."""
    found = result[0] if isinstance(result, (tuple, list)) and result else result
    arguments = [x for x in (*case.args, *case.kwargs.values()) if hasattr(x, "shape") and hasattr(x, "dtype")]
    return hasattr(found, "shape") and any(xo.shares_memory(x, found) for x in arguments)


@pytest.mark.parametrize(("library", "engine"), PAIRS)
def test_engines_serve_every_function(by_engines: Any, library: str, engine: str) -> None:
    """Engines serve at least one row of every function, except the listed ones.

    Classes, dtypes, shapes, fields and errors agree, and no result shares memory with an argument.
    """
    for name in (library, engine):
        pytest.importorskip(name, exc_type=ImportError)
    own, other = xo.testing.Variant(library), by_engines(library, engines=(engine,))
    different, count = [], 0
    for row in rows(ContractSuite):
        if row.verb not in SERVED or row.verb in ARRAYS_WITHOUT_AXES:
            continue
        for (case, want), (served_case, got) in zip(calls_of(own, row), calls_of(other, row), strict=True):
            count += 1
            fields = getattr(want, "_fields", ()) if isinstance(got, tuple) else ()
            is_named = not fields or is_namedtuple_with(got, fields)
            is_own_memory = is_alias(case, want) or not is_alias(served_case, got)
            if described(want) != described(got) or not is_named or not is_own_memory:
                different.append(f"xo.{row.verb}{case}: {described(got)}, not {described(want)}")
    served = sum(other.served.values())
    print(f"{engine} served {served} of {count} calls of {library}, and {len(other.served)} functions")
    assert not different, "\n".join(different)
    looks_at_values = engine != "jax" or library == "jax"
    exempt = frozenset(ARRAYS_WITHOUT_AXES) | (frozenset() if looks_at_values else ERRORS_OF_VALUES)
    assert SERVED - other.served.keys() == exempt
    assert served > 0.6 * count


def test_nothing_is_served_without_names(by_engines: Any) -> None:
    variant = by_engines("numpy", engines=())
    for row in rows(ContractSuite)[:40]:
        list(calls_of(variant, row))
    assert not variant.served
