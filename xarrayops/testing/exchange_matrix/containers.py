"""Sparse containers in the matrix: made of arrays in several heaps, converted, and compared with dense arrays."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._core import registry
from xarrayops._core.registry import Backend
from xarrayops.errors import ExchangeError, Unsupported
from xarrayops.plugin.sparse import Container
from xarrayops.testing._heaps import Heaps
from xarrayops.testing.exchange_matrix.memory_kinds import CannotBeMade, Host, plain

CONTAINERS = {"coo of several heaps": "coo", "csr of several heaps": "csr"}
"""The formats of containers, by the kinds of the matrix."""


@cache
def _heaps() -> Heaps:
    """Threads are started where a container is made."""
    return Heaps()


def make(library: Backend, dtype: str, kind: str, device: Any = None) -> tuple[Container, Host]:
    """A container of a library, each array of which was allocated by another thread; and the same as a dense array.

    Raises
    ------
    CannotBeMade
        The library has no containers, of that format or dtype.
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
    places = np.arange(dense.size).reshape(dense.shape) % 3 != 1  # a fixed pattern, two thirds of all
    rows, columns = np.nonzero(places)
    index = sparse.index_dtypes(format)[0]
    starts = np.searchsorted(rows, np.arange(dense.shape[0] + 1))
    indices = (np.stack((rows, columns)),) if format == "coo" else (starts, columns)
    from_numpy = library.functions["from_numpy"]
    parts = *(x.astype(index) for x in indices), dense[places]
    arrays = [_heaps().run(from_numpy, x, device) for x in parts]
    s = xo.sparse.from_parts(format, *arrays, shape=dense.shape)
    if isinstance(getattr(s, "coords", None), tuple):  # SciPy's, which has an array for each axis
        s.coords = tuple(map(_heaps().copied, s.coords))
    want = np.zeros_like(dense)
    want[places] = dense[places]
    return s, want


def examine(
    producer: Backend, consumer: Backend, dtype: str, kind: str, copy: bool | None, *, device: Any = None
) -> dict[str, Any]:
    """What came of a cell, in the terms of `xarrayops.testing.exchange_matrix.check.examine`."""
    try:
        s, want = make(producer, dtype, kind, device)
    except CannotBeMade as reason:
        return {"outcome": "not made", "reason": str(reason)}
    to = consumer.name if consumer.has_entry_point else consumer.namespace
    planned: dict[str, Any] = {"action": "refuse", "reason": "", "nbytes": None}
    try:
        plan = xo.explain("convert", s, to, copy=copy)
        planned = {"action": plan.action, "reason": plan.reason, "nbytes": plan.nbytes}
    except Unsupported as error:  # no such format or dtype: there is nothing to plan
        planned["reason"] = str(error)
    try:
        result = xo.convert(s, to, copy=copy)
    except (ExchangeError, Unsupported) as error:
        outcome, message, action = "refused", str(error), planned["action"]
        faults = [] if action == "refuse" else [f"explain said {action}, convert refused: {message}"]
        faults += [] if "Instead: " in message else [f"no way out: {message}"]
    else:
        outcome = str(planned["action"])
        faults = _faults(s, result, want, dtype, consumer, outcome)
    if not _same(values(s), want):
        faults.append("the source was changed")
    return planned | ({"outcome": "fault", "reason": "; ".join(faults)} if faults else {"outcome": outcome})


def _faults(s: Container, result: Container, want: Host, dtype: str, consumer: Backend, action: str) -> list[str]:
    """Everything that is wrong with a result."""
    if registry.sparse_side(result) is not consumer.sparse:
        return [f"the result is a {registry.describe_class(type(result))}"]
    faults = [] if action != "refuse" else ["explain said refuse, convert did not"]
    p = xo.sparse.parts(result)
    if consumer.functions["dtype_name"](p.data.dtype) != dtype:
        faults.append(f"the dtype became {p.data.dtype}")
    if not _same(values(result), want):
        faults.append("the values differ")
    shared = result is s or xo.shares_memory(xo.sparse.parts(s).data, p.data)
    if action == "zero-copy" and not shared:
        faults.append("explain said zero-copy, but the values do not share memory")
    return faults


def values(s: Container) -> Host:
    """The dense array of a container without duplicates, bit for bit."""
    side = registry.sparse_side(s)
    assert side is not None
    p = side.on_host(xo.sparse.parts(s))
    dense = np.zeros(p.shape, p.data.dtype)
    if p.format == "coo":
        dense[tuple(p.coords)] = p.data
    else:
        dense[np.repeat(np.arange(p.shape[0]), np.diff(p.indptr)), p.indices] = p.data
    return dense


def _same(found: Host, want: Host) -> bool:
    """Whether two arrays hold the same bits."""
    return found.shape == want.shape and found.tobytes() == want.tobytes()
