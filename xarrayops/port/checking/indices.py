"""Indices that not every library takes, and shapes that depend on values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.port import advice
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
    base = program.value(node.value)
    if not base.is_array and not program.is_open(node.value):
        return
    text, is_read = program.text(node.value), isinstance(node.ctx, ast.Load)
    statement = next(each for each in program.around(node) if isinstance(each, ast.stmt))
    place: ast.expr | ast.stmt = node if is_read else statement
    instead = f"{advice.at(text, node.slice)}.get()" if is_read else advice.assignment(program, statement)
    instead = instead or f"xo.at for the elements of {text}"
    for what, backends in _differences(program, node):
        new = f"np.flip({text}, axis=0)" if is_read and program.text(node.slice) == "::-1" else instead
        certain = base.is_proved and (backends != ("jax",) or program.lists.is_list(node.slice))
        yield finding(program, place, "index", what, new, backends, certain=certain)
    if base.is_array and is_read and MASK in kinds(node.slice, program.values.known):
        what = "the size of a selection by a mask depends on data: jax.jit refuses it, and Dask does not know it"
        new = f"np.where({program.text(node.slice)}, {text}, 0)  # in a sum; another number in other reductions"
        if isinstance(node.slice, ast.Tuple):
            new = "np.where for all elements, and a reduction"
        whole = advice.where(program, statement)
        place = node if whole is None else statement
        yield finding(program, place, "data-dependent shape", what, whole or new, _LAZY, certain=base.certain)


def _differences(program: Program, node: ast.Subscript) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What differs in an index, and on which backends."""
    index = parts(node.slice)
    if any(map(is_negative, index)):
        yield "torch has no negative steps", ("torch",)
    if program.lists.may_be_list(node.slice):
        yield "JAX takes no lists as indices", ("jax",)
    is_grid = isinstance(node.slice, ast.Call) and program.names.numpy_name(node.slice.func) == "ix_"
    if kinds(node.slice, program.values.known).count(INTEGERS) > 1 or is_grid:
        yield "Dask takes one array of integers in an index", ("dask",)
    for part in index:
        value = program.value(part)
        if value.is_array and value.dtype_kind == "int" and value.ndim is not None and value.ndim > 1:
            text = f"{program.text(part)} has {value.ndim} axes"
            yield f"{text}: Dask takes an array of integers with one axis as an index", ("dask",)


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
    instead = f"{advice.at(program.text(node.value), node.slice)}.get()"
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
