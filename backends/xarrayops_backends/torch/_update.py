"""The operation `at`: set, add, multiply, or take the minimum or maximum at an index of x."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops_backends.torch import _elementwise
from xarrayops_backends.torch._dtypes import _tensor
from xarrayops_backends.torch._exchange import _has_tangent
from xarrayops_backends.torch._wide import WIDE, _bits, _by_bits, _rank, _unrank, _value

_COMBINE: dict[str, Callable[[Any, Any], Array]] = {
    "set": lambda old, new: new,
    "add": _elementwise.add,
    "multiply": _elementwise.multiply,
    "min": _elementwise.minimum,
    "max": _elementwise.maximum,
}
_INTO: dict[str, Callable[..., Array]] = {
    "add": torch.add,
    "multiply": torch.mul,
    "min": torch.minimum,
    "max": torch.maximum,
}
_PLAIN = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_SCATTER = {"add": "sum", "multiply": "prod", "min": "amin", "max": "amax"}
_BOOL_SCATTER = {"add": "amax", "multiply": "amin", "min": "amin", "max": "amax"}


def update(x: Array, index: Any, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Update an index, also with negative steps and with duplicates that accumulate; PyTorch supports neither."""
    if op not in _COMBINE:
        raise ValueError(f"op must be one of {', '.join(_COMBINE)}, not {op!r}")
    value = _tensor(value, x.dtype, x).to(x.device)
    obstacle = None if copy else _obstacle(x, value, forced=copy is False)
    if copy is False and obstacle:
        raise Unsupported(
            f"x cannot be updated in place: {obstacle}. Instead: copy=None or copy=True, and use the result"
        )
    in_place = not copy and obstacle is None
    index = _full_index(x, index)
    backward = any(isinstance(each, slice) and (each.step or 1) < 0 for each in index)
    arrays = [each for each in index if isinstance(each, torch.Tensor)]
    masks = [each for each in arrays if each.dtype is torch.bool]
    if not backward and len(index) == 1 == len(masks) and value.ndim == 0:
        return _masked(x, masks[0], op, value, in_place)
    if backward or (op != "set" and len(arrays) > len(masks)):
        return _scattered(x, index, op, value, in_place)
    views = not arrays and not any(isinstance(each, bool) for each in index)
    if in_place and views and _combined_into(x[index], op, value):
        return x
    out = x if in_place else value.new_empty(x.shape).copy_(x) if _is_wrapped_beyond(x, value) else x.clone()
    # As signed bits: PyTorch cannot write wide unsigned integers at an index, nor (before 2.10) read them there.
    old = _by_bits(torch.Tensor.__getitem__, x, index)
    _bits(out)[index] = _bits(_COMBINE[op](_kept(old, value) if in_place else old, value))
    return out


def _combined_into(view: Array, op: str, value: Array) -> bool:
    """Update plain memory in place, without memory for an intermediate result."""
    plain = type(view) is type(value) is torch.Tensor and not torch.compiler.is_compiling()
    if not plain or op not in _INTO or view.dtype not in _PLAIN or _is_followed(view) or _is_followed(value):
        return False
    extents = zip(reversed(value.shape), reversed(view.shape), strict=False)
    if value.ndim > view.ndim or any(extent not in (1, wanted) for extent, wanted in extents):
        return False  # the general path reports shapes that do not match
    (first, end), (start, stop) = _bounds(view), _bounds(value)
    if first < stop and start < end:
        return False  # storages are not compared: two storages can alias memory of another library
    _INTO[op](view, value, out=view)
    return True


def _bounds(x: Array) -> tuple[int, int]:
    """The addresses of the first byte of x and of the byte after its last; PyTorch has no negative strides."""
    reach = sum((extent - 1) * step for extent, step in zip(x.shape, x.stride(), strict=True))
    return x.data_ptr(), x.data_ptr() + (reach + 1) * x.itemsize * (x.numel() > 0)


def _is_followed(x: Array) -> bool:
    """Whether autograd, in forward or backward mode, or a transform of torch.func tracks x."""
    recorded = torch.is_grad_enabled() and x.requires_grad
    return recorded or _has_tangent(x) or torch._C._functorch.maybe_get_level(x) != -1


def _obstacle(x: Array, value: Array, *, forced: bool) -> str | None:
    """Why x should not be updated in place, or, if ``forced``, why it cannot be."""
    if _overlaps(x):
        return "some of its elements share memory, as in an expanded array"
    if not torch.compiler.is_compiling() and x.is_inference() and not torch.is_inference_mode_enabled():
        return "it was created in inference mode"
    if _is_wrapped_beyond(x, value):
        return "a transform such as torch.vmap tracks the value, but not x"
    if torch.is_grad_enabled() and x.requires_grad and (x.is_leaf or not forced):
        return "it requires grad, and the autograd graph needs its old values"
    if torch.is_grad_enabled() and value.requires_grad and not forced:
        return "the value requires grad"
    return None


def _is_wrapped_beyond(x: Array, value: Array) -> bool:
    """Whether the value belongs to a torch.func transform of a deeper level than that of x."""
    level = torch._C._functorch.maybe_get_level
    return not torch.compiler.is_compiling() and level(value) > level(x)


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


def _full_index(x: Array, index: Any) -> tuple[Any, ...]:
    """The index as a tuple without an ellipsis; sequences and other arrays become tensors on the device of x."""
    entries = list(index) if isinstance(index, tuple) else [index]
    entries = [
        each if each is None or each is Ellipsis or isinstance(each, (int, slice)) else _index_array(each, x)
        for each in entries
    ]
    taken = sum(_consumed(each) for each in entries)
    places = [i for i, each in enumerate(entries) if each is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can have only one ellipsis")
    at = places[0] if places else len(entries)
    entries[at : at + len(places)] = [slice(None)] * (x.ndim - taken if places else 0)
    if any(isinstance(each, torch.Tensor) and each.ndim for each in entries):
        # NumPy broadcasts integers with index arrays; PyTorch applies integers first, which orders axes differently.
        entries = [_index_array([each], x) if type(each) is int else each for each in entries]
    return tuple(entries)


def _index_array(each: Any, x: Array) -> Array:
    """An index array as int64 or bool, on the device of x."""
    array = torch.as_tensor(each, device=x.device)
    return array if array.dtype is torch.bool else array.to(torch.int64)


def _consumed(each: Any) -> int:
    """The number of dimensions of the array that an entry of an index selects from."""
    if each is None or each is Ellipsis or isinstance(each, bool):
        return 0
    return each.ndim if isinstance(each, torch.Tensor) and each.dtype is torch.bool else 1


def _kept(old: Array, value: Array) -> Array:
    """The old values before a write; cloned if an autograd graph may need them."""
    return old.clone() if torch.is_grad_enabled() and (old.requires_grad or value.requires_grad) else old


def _masked(x: Array, mask: Array, op: str, value: Array, in_place: bool) -> Array:
    """An update with one mask and one value. No shape depends on the data, so this can be traced."""
    mask = mask.reshape(*mask.shape, *(1,) * (x.ndim - mask.ndim))
    old = _kept(x, value) if in_place else x
    out = _elementwise.where(mask, _COMBINE[op](old, value), old)
    return x.copy_(out) if in_place else out


def _places(x: Array, index: tuple[Any, ...]) -> Array:
    """The flat positions that the index selects. PyTorch has no negative steps: such dimensions are flipped first."""
    places = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    entries, dim = list(index), 0
    for i, each in enumerate(index):
        if isinstance(each, slice) and (each.step or 1) < 0:
            extent = x.shape[dim]
            run = range(*each.indices(extent))
            places = places.flip(dim)
            entries[i] = slice(extent - 1 - run[0], extent - run[-1], -run.step) if run else slice(0, 0)
        dim += _consumed(each)
    return places[tuple(entries)]


def _scattered(x: Array, index: tuple[Any, ...], op: str, value: Array, in_place: bool) -> Array:
    """Update by flat positions, so that duplicates can be found and accumulated."""
    places = _places(x, index)
    flat = (_kept(x, value) if in_place else x).reshape(-1)
    places, values = places.reshape(-1), value.expand(places.shape).reshape(-1)
    if op == "set":
        out = _by_bits(torch.Tensor.index_put, flat, (places,), _bits(values))
    elif op == "multiply" and x.is_complex():
        out = _multiplied(flat, places, values)
    elif x.is_complex() and op == "add":
        out = flat.index_put((places,), values, accumulate=True)
    elif x.dtype is torch.bool:
        byte = flat.to(torch.uint8).scatter_reduce(0, places, values.to(torch.uint8), _BOOL_SCATTER[op])
        out = byte.to(torch.bool)
    elif x.dtype in WIDE and op in ("min", "max"):
        out = _unrank(_rank(flat).scatter_reduce(0, places, _rank(values), _SCATTER[op]), x.dtype)
    else:
        out = _value(flat).scatter_reduce(0, places, _value(values), _SCATTER[op]).to(x.dtype)
    out = out.reshape(x.shape)
    return x.copy_(out) if in_place else out


def _multiplied(flat: Array, places: Array, values: Array) -> Array:
    """scatter_reduce gives zeros for products of complex numbers, so magnitudes are multiplied and angles added."""
    magnitude = torch.ones_like(flat.real).scatter_reduce(0, places, values.abs(), "prod")
    angle = torch.zeros_like(flat.real).scatter_reduce(0, places, values.angle(), "sum")
    touched = torch.zeros_like(flat.real).scatter_reduce(0, places, torch.ones_like(values.real), "amax") > 0
    return torch.where(touched, flat * torch.polar(magnitude, angle), flat)
