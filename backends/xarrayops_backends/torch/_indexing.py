# Long: one kernel for each update, which share their index.
"""``xo.at`` on PyTorch: indexed elements, and updates of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import forward_ad

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Index, Selection
from xarrayops.plugin.indexing import UFUNCS
from xarrayops_backends.torch import _tracing
from xarrayops_backends.torch._standard import elementwise as _elementwise
from xarrayops_backends.torch._standard.wide import WIDE, _bits, _by_bits, _cast, _rank, _unrank, _value

_COMBINE: dict[str, Callable[[Any, Any], Array]] = {
    "set": lambda old, new: new,
    **{op: getattr(_elementwise, name) for op, name in UFUNCS.items()},
}
_INTO: dict[str, Callable[..., Array]] = {
    "add": torch.add,
    "subtract": torch.sub,
    "multiply": torch.mul,
    "divide": torch.div,
    "min": torch.minimum,
    "max": torch.maximum,
}
_NUMBERS = frozenset({bool, int, float, complex})
_SUITS = frozenset(
    {torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.complex64, torch.complex128}
    | {torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8}
)
"""The dtypes that PyTorch's operators serve in place."""
_NARROW = frozenset({torch.bfloat16, torch.float16})
_LARGEST = torch.finfo(torch.float32).max
_SCATTER = {"multiply": "prod", "min": "amin", "max": "amax"}
_BOOL_SCATTER = {"add": "amax", "multiply": "amin", "min": "amin", "max": "amax"}


def update(x: Array, index: Index, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Assignment to views; scattering where an index may select an element twice."""
    is_plain = index.is_basic and not torch.compiler.is_compiling() and _is_plain(x, value)
    if is_plain and _is_native(index) and (copy or not _overlaps(x)):
        target = x.clone() if copy else x
        if _written(target, index, op, value):
            return target
    selection = index.selection(x.shape)
    is_array = isinstance(value, torch.Tensor)
    value = _cast(value, x.dtype, device=x.device) if is_array else _of_number(value, x)
    obstacle = None if copy else _obstacle(x, value, *selection.arrays, forced=copy is False)
    if copy is False and obstacle:
        raise Unsupported(
            f"x cannot be updated in place: {obstacle}. Instead: copy=None or copy=True, and use the result"
        )
    in_place = not copy and obstacle is None
    value = index.arranged(selection, value)
    if in_place:
        selection = selection._replace(arrays=tuple(_unshared(array, x) for array in selection.arrays))
        value = _unshared(value, x) if op == "set" else value
    old = _viewed(x, selection)
    if in_place and torch.is_grad_enabled() and (old.requires_grad or value.requires_grad):
        old = old.clone()  # an autograd graph may hold the old values
    out = x if in_place else _copied(x, value, *selection.arrays)
    _assign(_viewed(out, selection), old, index, selection, op, value)
    return out


def select(x: Array, index: Index, /, *, copy: bool | None) -> Array:
    """A view, where the index has no arrays and no negative steps."""
    selection = index.selection(x.shape)
    if copy is False and (selection.arrays or selection.flipped):
        raise Unsupported("an index of arrays, or with negative steps, copies the elements. Instead: copy=None")
    y = _viewed(x, selection)
    if selection.arrays:
        y = _by_bits(torch.Tensor.__getitem__, y, _native(x, index, selection))
    elif copy:
        y = y.clone()
    return index.restored(selection, y)


def _is_plain(x: Array, value: Any) -> bool:
    """Whether the update affects only memory of one device and dtype: no autograd graph, tangent or transform."""
    if type(x) is not torch.Tensor or x.dtype not in _SUITS or not (x.is_cpu or x.is_cuda):
        return False
    if x.requires_grad or x.is_inference() or _tracing.transforms() or forward_ad._current_level >= 0:
        return False
    if type(value) is torch.Tensor:
        return value.dtype is x.dtype and not value.requires_grad and value.device == x.device
    return type(value) in _NUMBERS


def _is_native(index: Index) -> bool:
    """Whether PyTorch reads a basic index as NumPy does: no negative steps, which it refuses, and one ellipsis."""
    for entry in index.entries:
        if type(entry) is slice and entry.step is not None and entry.step < 0:
            return False
    return index.entries.count(...) < 2


def _written(target: Array, index: Index, op: str, value: Any) -> bool:
    """Write an update with a basic index into a plain tensor; False if the shape of the value needs more checks."""
    is_number = type(value) is not torch.Tensor
    if not is_number:
        value = _unshared(value, target)
    elif abs(value) > _LARGEST or (op != "set" and (op in ("min", "max") or target.dtype in _NARROW)):
        value = _of_number(value, target)
    if op == "set":
        target[index.entries] = value
        return True
    view = target[index.entries]
    if not is_number and value.ndim > view.ndim:
        return False
    _INTO[op](view, value, out=view)
    return True


def _of_number(value: complex, like: Array) -> Array:
    """A 0-d tensor. torch.full refuses numbers beyond the limits of float32, which torch.tensor rounds to infinity."""
    if abs(value) > _LARGEST:
        return torch.tensor(value, dtype=like.dtype, device=like.device)
    return torch.full((), value, dtype=like.dtype, device=like.device)


def _unshared(x: Array, target: Array) -> Array:
    """x, or a copy where it may share the memory of the target."""
    return x.clone() if _may_share_memory(x, target) else x


def _may_share_memory(x: Array, y: Array) -> bool:
    """Whether the memory of two tensors overlaps. Storages are not compared: two can alias memory of another library.

    True for tensors without addresses. Compilers remove the copy that follows from it.
    """
    if not _is_readable(x):
        return True
    (first, end), (start, stop) = _bounds(x), _bounds(y)
    return first < stop and start < end


def _is_readable(x: Array) -> bool:
    """Whether the tensor has an address and values: it is not traced, not fake, and no transform tracks it."""
    if torch.compiler.is_compiling() or type(x) is not torch.Tensor or not (x.is_cpu or x.is_cuda):
        return False
    return not _tracing.transforms()


def _bounds(x: Array) -> tuple[int, int]:
    """The addresses of the first byte of x and of the byte after its last; PyTorch has no negative strides."""
    first = x.data_ptr()
    if x.is_contiguous():
        return first, first + x.nbytes
    reach = sum((extent - 1) * step for extent, step in zip(x.shape, x.stride(), strict=True))
    return first, first + (reach + 1) * x.itemsize * (x.numel() > 0)


def _obstacle(x: Array, *others: Array, forced: bool) -> str | None:
    """Why x should not, or if forced cannot, be written; ``others`` are the value and the arrays of the index."""
    value = others[0]
    if _overlaps(x):
        return "some of its elements share memory, as in an expanded array"
    if not torch.compiler.is_compiling() and x.is_inference() and not torch.is_inference_mode_enabled():
        return "it was created in inference mode"
    if _outermost(x, *others) is not x:
        return "a transform such as torch.vmap tracks the value or the index, but not x"
    if torch.is_grad_enabled() and x.requires_grad and (x.is_leaf or not forced):
        return "it requires grad, and the autograd graph needs its old values"
    if torch.is_grad_enabled() and value.requires_grad and not forced:
        return "the value requires grad"
    return None


def _outermost(*arrays: Array) -> Array:
    """The first of the tensors of the deepest level of torch.func transforms."""
    if torch.compiler.is_compiling():
        return arrays[0]
    return max(arrays, key=torch._C._functorch.maybe_get_level)


def _copied(x: Array, *others: Array) -> Array:
    """A copy of x that belongs to the torch.func transforms of the value and of the index."""
    outermost = _outermost(x, *others)
    return x.clone() if outermost is x else outermost.new_empty(x.shape, dtype=x.dtype).copy_(x)


def _overlaps(x: Array) -> bool:
    """Whether two indices may address the same element. Dynamo cannot sort symbolic strides, so pairs are compared."""
    if x.is_contiguous():
        return False
    axes = [(i, step, extent) for i, (step, extent) in enumerate(zip(x.stride(), x.shape, strict=True)) if extent > 1]
    for i, step, _ in axes:
        reach = 0
        for j, shorter, extent in axes:
            if shorter < step or (shorter == step and j < i):
                reach += shorter * (extent - 1)
        if step <= reach:
            return True
    return False


def _viewed(x: Array, selection: Selection) -> Array:
    """The view that the basic part of an index selects, the axes that its arrays index first."""
    view = _by_bits(torch.Tensor.__getitem__, x, selection.basic)
    return view.permute(selection.order) if selection.arrays else view


def _native(x: Array, index: Index, selection: Selection) -> tuple[Array, ...]:
    """A lone mask, or integers on the device of x. PyTorch reads uint8 as masks."""
    mask = index.lone_mask(selection)
    if mask is not None:
        return (mask.to(x.device),)
    return tuple(array.to(x.device, torch.int64) for array in index.integers(selection))


def _assign(target: Array, old: Array, index: Index, selection: Selection, op: str, value: Array) -> None:
    """Write the update of the old values into the target, a view of the axes of a selection.

    As signed bits: PyTorch cannot write wide unsigned integers at an index, nor (before 2.10) read them there.
    """
    arrays = _native(target, index, selection)
    is_mask = index.lone_mask(selection) is not None
    if is_mask and value.shape[0] == 1:  # no shape depends on the data, so this traces
        mask = arrays[0].reshape(*arrays[0].shape, *(1,) * len(selection.rest))
        arrays, new = (), _elementwise.where(mask, _COMBINE[op](old, value[0]), old)
    elif not arrays:
        new = _COMBINE[op](old, value)
    elif op == "set":
        new = value
    elif is_mask:
        new = _COMBINE[op](_by_bits(torch.Tensor.__getitem__, old, arrays), value)
    else:
        arrays, new = (), _scattered(old, arrays, op, value)
    if arrays:
        _bits(target)[arrays] = _bits(new)
    else:
        _bits(target).copy_(_bits(new))


def _scattered(old: Array, arrays: tuple[Array, ...], op: str, value: Array) -> Array:
    """The old values, updated at the positions that the arrays give on the first axes; duplicates accumulate."""
    positions = torch.zeros((), dtype=torch.int64, device=old.device)
    for extent, array in zip(old.shape, arrays, strict=False):
        positions = positions * extent + torch.where(array < 0, array + extent, array)
    rest = old.shape[len(arrays) :]
    flat = old.reshape(math.prod(old.shape[: len(arrays)]), *rest)
    values = value.expand((*positions.shape, *rest)).reshape(positions.numel(), *rest)
    return _accumulated(flat, positions.reshape(-1), op, values).reshape(old.shape)


def _accumulated(flat: Array, positions: Array, op: str, values: Array) -> Array:
    """The rows of flat, combined with values; several values may belong to one row."""
    places = positions.reshape(-1, *(1,) * (flat.ndim - 1)).expand(values.shape)
    if op == "divide":
        return _divided(flat, positions, values)
    if op == "subtract":
        op, values = "add", _elementwise.negative(values)
    if flat.dtype is torch.bool:
        return flat.to(torch.uint8).scatter_reduce(0, places, values.to(torch.uint8), _BOOL_SCATTER[op]).to(torch.bool)
    if op == "add":
        return _value(flat).index_add(0, positions, _value(values)).to(flat.dtype)
    if flat.is_complex():
        return _multiplied(flat, positions, values)
    if flat.dtype in WIDE and op in ("min", "max"):
        return _unrank(_rank(flat).scatter_reduce(0, places, _rank(values), _SCATTER[op]), flat.dtype)
    return _value(flat).scatter_reduce(0, places, _value(values), _SCATTER[op]).to(flat.dtype)


def _counts(flat: Array, positions: Array) -> Array:
    """The number of values of each row of flat, with as many axes as flat."""
    counts = torch.zeros(flat.shape[:1], dtype=torch.int64, device=flat.device)
    return counts.index_add(0, positions, torch.ones_like(positions)).reshape(-1, *(1,) * (flat.ndim - 1))


def _divided(flat: Array, positions: Array, values: Array) -> Array:
    """Rows with one value are divided by it. Rows with several are multiplied by the reciprocals in sequence.

    The product of the values could overflow where the quotients do not.
    """
    repeated = _counts(flat, positions) > 1
    among = repeated[positions]
    factors = torch.where(among, values, 1).reciprocal()
    divisors = torch.ones_like(flat).index_copy(0, positions, torch.where(among, 1, values))
    return torch.where(repeated, _accumulated(flat, positions, "multiply", factors), flat) / divisors


def _multiplied(flat: Array, positions: Array, values: Array) -> Array:
    """Products of complex numbers, which scatter_reduce lacks, by a segmented scan of the values of each row.

    W. Daniel Hillis and Guy L. Steele, Data parallel algorithms, 1986.
    """
    if not positions.numel():
        return flat
    counts = _counts(flat, positions)
    order = positions.argsort(stable=True)
    positions, values = positions[order], values[order]
    column = positions.reshape(-1, *(1,) * (flat.ndim - 1))
    is_first = torch.cat([torch.ones_like(column[:1], dtype=torch.bool), column[1:] != column[:-1]])
    values = torch.where(is_first, flat[positions] * values, values)
    step, longest = 1, int(counts.max()) if _is_readable(counts) else positions.shape[0]
    while step < longest:
        together = torch.where(column[step:] == column[:-step], values[step:] * values[:-step], values[step:])
        values, step = torch.cat([values[:step], together]), 2 * step
    last = counts.cumsum(0).reshape(-1) - 1
    return torch.where(counts > 0, values[last.clamp(min=0)], flat)
