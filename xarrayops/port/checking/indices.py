"""Indices that not every library takes, and shapes that depend on values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.port.findings import Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.indices import INTEGERS, MASK, is_negative, kinds, parts, unlike_torch
from xarrayops.port.source.value import ARRAY, UNKNOWN, words

DATA_DEPENDENT = words(
    "nonzero argwhere flatnonzero unique extract compress trim_zeros intersect1d setdiff1d setxor1d union1d "
    "unique_values unique_counts unique_all"
)
"""Functions whose result has as many elements as the values say."""
_LAZY = ("jax", "dask")


def of_index(program: Program, node: ast.Subscript) -> Iterator[Finding]:
    """An index of an array that not every library takes, or a selection by a mask."""
    if not program.value(node.value).is_array:
        return
    certain = program.value(node.value).certain
    text = program.text(node.value)
    for axis, part in enumerate(parts(node.slice)):
        if isinstance(part, ast.Slice) and is_negative(part):
            instead = f"np.flip({text}, axis={axis})" if part.lower is part.upper is None else "np.flip of the slice"
            yield finding(program, node, "index", "torch has no negative steps", instead, ("torch",), certain=certain)
        if part is node.slice and isinstance(part, ast.List):
            instead = f"{text}[np.array({program.text(part)})]"
            yield finding(program, node, "index", "JAX takes no lists as indices", instead, ("jax",), certain=certain)
    found = kinds(node.slice, program.values.known)
    is_grid = isinstance(node.slice, ast.Call) and program.names.numpy_name(node.slice.func) == "ix_"
    if found.count(INTEGERS) > 1 or is_grid:
        what = "Dask takes one array of integers in an index"
        instead = f"np.reshape({text}, (-1,))[flat_indices]"
        yield finding(program, node, "index", what, instead, ("dask",), certain=certain)
    for part in parts(node.slice):
        value = program.value(part)
        if value.is_array and value.dtype_kind == "int" and value.ndim is not None and value.ndim > 1:
            index = program.text(part)
            what = f"{index} has {value.ndim} axes: Dask takes an array of integers with one axis as an index"
            instead = f"np.reshape({index}, (-1,)) as the index, and np.reshape of the result"
            yield finding(program, node, "index", what, instead, ("dask",), certain=certain)
    if MASK in found and isinstance(node.ctx, ast.Load):
        what = "the size of a selection by a mask depends on data: jax.jit refuses it, and Dask does not know it"
        instead = "np.where(mask, x, fill) for all elements, followed by a reduction"
        yield finding(program, node, "data-dependent shape", what, instead, _LAZY, certain=certain)


def of_dtype(program: Program, node: ast.Subscript) -> Iterator[Finding]:
    """An array of indices of a dtype that PyTorch does not index with."""
    if not isinstance(node.ctx, ast.Load):
        return
    base, part = program.value(node.value), unlike_torch(node.slice, program.values.known)
    is_at = isinstance(node.value, ast.Call) and program.names.resolve(node.value.func) == "xarrayops.at"
    if part is None or is_at or base.kind not in (ARRAY, UNKNOWN):
        return
    dtype = program.value(part).dtype
    known = f"{program.text(part)} has {dtype}" if dtype else f"{program.text(part)} may have another dtype than int64"
    what = f"{known}: torch refuses it as an index, and takes uint8 for a mask"
    instead = f"xo.at({program.text(node.value)})[{program.text(node.slice)}].get()"
    yield finding(program, node, "index", what, instead, ("torch",), certain=base.is_array and dtype is not None)


def of_call(program: Program, node: ast.Call) -> Iterator[Finding]:
    """A function whose result has as many elements as the values say."""
    name = program.names.numpy_name(node.func)
    if name is None and isinstance(node.func, ast.Attribute) and program.value(node.func.value).is_array:
        name = node.func.attr
    if name in DATA_DEPENDENT or (name == "where" and len(node.args) == 1):
        what = f"the size of the result of {name} depends on data: jax.jit refuses it, and Dask does not know it"
        instead = "a mask and np.where, if the number of elements is not needed"
        yield finding(program, node, "data-dependent shape", what, instead, _LAZY)
