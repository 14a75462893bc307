"""Sparse containers in the matrix. Their parts are allocated in several heaps; results are compared as dense arrays."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import xarrayops as xo
from benchmarks.exchange_matrix.faults import refusal_faults, same_bits
from benchmarks.exchange_matrix.heaps import Heaps
from benchmarks.exchange_matrix.memory_kinds import CannotBeMade, Host, plain
from xarrayops._core.backends import find, registry
from xarrayops._core.backends.registry import Backend
from xarrayops.errors import ExchangeError, Unsupported
from xarrayops.plugin.sparse import Container

CONTAINERS = {"coo of several heaps": "coo", "csr of several heaps": "csr"}
"""The sparse format of each kind."""


@cache
def _heaps() -> Heaps:
    """Created on first use, because it starts threads."""
    return Heaps()


def make(library: Backend, dtype: str, kind: str, device: Any = None) -> tuple[Container, Host]:
    """A container of a library, whose parts were allocated by different threads, and its dense equivalent.

    Raises
    ------
    CannotBeMade
        The library has no containers of that format or dtype.
    """
    format, dense = CONTAINERS[kind], plain(dtype)
    try:
        sparse = library.sparse
    except Unsupported as error:
        raise CannotBeMade(str(error)) from None
    if format not in sparse.formats:
        raise CannotBeMade(f"{library.name} has no {format} containers")
    refusal = library.functions["import_refusal"](dtype) or sparse.dtype_refusal(dtype)
    if refusal is not None:
        raise CannotBeMade(refusal)
    pattern = np.arange(dense.size).reshape(dense.shape) % 3 != 1  # a fixed two thirds of the elements
    rows, columns = np.nonzero(pattern)
    index = sparse.index_dtypes(format)[0]
    starts = np.searchsorted(rows, np.arange(dense.shape[0] + 1))
    indices = (np.stack((rows, columns)),) if format == "coo" else (starts, columns)
    from_numpy = library.functions["from_numpy"]
    parts = *(x.astype(index) for x in indices), dense[pattern]
    arrays = [_heaps().run(from_numpy, x, device) for x in parts]
    s = xo.sparse.from_parts(format, *arrays, shape=dense.shape)
    if library.name == "numpy" and format == "coo":  # SciPy has an array for each axis
        s.coords = tuple(map(_heaps().copied, s.coords))
    want = np.zeros_like(dense)
    want[pattern] = dense[pattern]
    return s, want


def examine(
    producer: Backend, consumer: Backend, dtype: str, kind: str, copy: bool | None, *, device: Any = None
) -> dict[str, Any]:
    """The outcome of a cell, as `benchmarks.exchange_matrix.check.examine` returns it."""
    try:
        s, want = make(producer, dtype, kind, device)
    except CannotBeMade as reason:
        return {"outcome": "not made", "reason": str(reason)}
    to = consumer.name if consumer.has_entry_point else consumer.namespace
    forecast: dict[str, Any] = {"action": "refuse", "reason": "", "nbytes": None}
    try:
        plan = xo.explain("convert", s, to, copy=copy)
        forecast = {"action": plan.action, "reason": plan.reason, "nbytes": plan.nbytes}
    except Unsupported as error:  # no such format or dtype
        forecast["reason"] = str(error)
    try:
        result = xo.convert(s, to, copy=copy)
    except (ExchangeError, Unsupported) as error:
        outcome = "refused"
        faults = refusal_faults(forecast["action"], str(error))
    else:
        outcome = str(forecast["action"])
        faults = _result_faults(s, result, want, dtype, consumer, outcome)
    if not same_bits(values(s), want):
        faults.append("the source was changed")
    return forecast | ({"outcome": "fault", "reason": "; ".join(faults)} if faults else {"outcome": outcome})


def _result_faults(
    s: Container, result: Container, want: Host, dtype: str, consumer: Backend, action: str
) -> list[str]:
    """All faults of a result."""
    if find.sparse_of(result) is not consumer.sparse:
        return [f"the result is a {registry.describe_class(type(result))}"]
    faults = [] if action != "refuse" else ["explain said refuse, convert succeeded"]
    p = xo.sparse.parts(result)
    if consumer.functions["dtype_name"](p.data.dtype) != dtype:
        faults.append(f"the dtype became {p.data.dtype}")
    if not same_bits(values(result), want):
        faults.append("the values differ")
    shared = result is s or xo.shares_memory(xo.sparse.parts(s).data, p.data)
    if action == "zero-copy" and not shared:
        faults.append("explain said zero-copy, but the values do not share memory")
    return faults


def values(s: Container) -> Host:
    """The dense equivalent of a container without duplicates, with the same bits."""
    side = find.sparse_of(s)
    assert side is not None
    p = side.on_host(xo.sparse.parts(s))
    dense = np.zeros(p.shape, p.data.dtype)
    if p.format == "coo":
        dense[tuple(p.coords)] = p.data
    else:
        dense[np.repeat(np.arange(p.shape[0]), np.diff(p.indptr)), p.indices] = p.data
    return dense
