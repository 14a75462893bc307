"""Conversion of sparse containers between formats and libraries."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from xarrayops._core.backends import find
from xarrayops._ops.exchange.convert import convert_container, explain_convert
from xarrayops._ops.exchange.plan import target_of
from xarrayops._ops.explanation import Explanation
from xarrayops._ops.sparse import operands
from xarrayops.plugin.arrays import Array, Record
from xarrayops.plugin.sparse import Container

if TYPE_CHECKING:
    from xarrayops._core.backends.sparse_backend import SparseBackend


def convert(
    s: Container,
    format: str | None = None,
    backend: str | ModuleType | Array | None = None,
    *,
    block: tuple[int, int] | None = None,
) -> Container:
    """Convert a sparse container to another format, another library, or both.

    Each array is converted to another library as by `xarrayops.convert`: without a copy if both can use the same
    memory.

    Parameters
    ----------
    s : container
        Of any format and library.
    format : {"csr", "csc", "coo", "bsr"}, optional
        Default: the format of s. In another format the entries are sorted and without duplicates.
    backend : str, namespace or array, optional
        The library, as for `xarrayops.convert`; default: the library of s.
    block : (int, int), optional
        The extents of the blocks of "bsr".

    Returns
    -------
    container
        s itself if nothing changes.

    Raises
    ------
    Unsupported
        A library lacks the format or the dtype.
    InvalidSparse
        An index of s is out of bounds.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sparse.convert(xo.sparse.from_dense(np.eye(3)), "csc").format
    'csc'
    """
    plan = plan_sparse_convert(s, format, backend, block=block)
    if plan.at == "target":
        s = convert_container(s, plan.target)
    if plan.at:
        s = getattr(plan, plan.at).call("convert", s, plan.format, block)
    return convert_container(s, plan.target) if find.sparse_of(s) is not plan.target else s


class SparseConversionPlan(Record):
    """What a conversion will do. ``at`` is the library that changes the format: "source", "target" or none ("")."""

    source: SparseBackend
    target: SparseBackend
    format: str
    at: str


def plan_sparse_convert(
    s: Container,
    format: str | None = None,
    backend: str | ModuleType | Array | None = None,
    *,
    block: tuple[int, int] | None = None,
) -> SparseConversionPlan:
    """The plan of `convert` with these arguments. Raises an error if the conversion is not possible."""
    source = operands.require_container("convert", "s", s)
    here = source.seen(s)
    format = here.format if format is None else format
    target = source if backend is None else operands.sparse_backend("convert", target_of(backend))
    operands.require_format("convert", format, target)
    if format == here.format and block in (None, here.block):
        return SparseConversionPlan(source, target, format, "")
    operands.require_matrix("convert", "s", s)
    if (format == "bsr") != (block is not None):
        needed = "block=(rows, columns) is required for the format bsr, and only allowed there"
        raise ValueError(f"xo.sparse.convert: {needed}")
    if block is not None:
        try:
            operands.require_block(block, tuple(s.shape))
        except ValueError as error:
            raise ValueError(f"xo.sparse.convert: {error}") from None
    return SparseConversionPlan(source, target, format, "source" if format in source.formats else "target")


def explain_sparse_convert(
    verb: str, s: Container, /, format: Any = None, backend: Any = None, *, block: Any = None
) -> Explanation:
    """The kernels that change the format; if it does not change, how the arrays are converted."""
    plan = plan_sparse_convert(s, format, backend, block=block)
    there = plan.target.backend.name
    if plan.at != "source":
        found = explain_convert(verb, s, there)
        then = f"; then {there} converts it to {plan.format}" if plan.at else ""
        return found._replace(summary=f"{found.summary}{then}")
    found = operands.explain_kernels(verb, plan.source, "convert", s, plan.format, block)
    if plan.source is plan.target:
        return found._replace(summary=f"{found.summary}, in new arrays")
    way = f"{plan.source.backend.name}->{there}"
    return found._replace(summary=f"{found.summary}, in new arrays; then {way}, array by array")
