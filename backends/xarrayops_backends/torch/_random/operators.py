"""Operators: random numbers as one node of a compiled function, and as one kernel on a device of CUDA or HIP.

The compilation of the hundreds of steps of a draw takes longer than that of the rest of the function, and compilers for
devices would round some steps in another way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.compiler import is_compiling

from xarrayops.plugin import Array
from xarrayops.plugin.beta import beta
from xarrayops.plugin.distributions import signed_int64
from xarrayops.plugin.host import random_numbers
from xarrayops.plugin.random import Draw
from xarrayops_backends.torch._dtypes import as_dtype
from xarrayops_backends.torch._library import operator
from xarrayops_backends.torch._random import kernels
from xarrayops_backends.torch._random.steps import ARITHMETIC, keys_of_counters


def filled(draw: Draw, keys: Sequence[tuple[int, int]], shape: Sequence[int]) -> Array:
    """A draw for each of several keys, in host memory, by the host's functions."""
    with torch._C.DisableTorchFunction():  # `xo.profile` counts only transfers of the program
        out = torch.empty((len(keys), *shape), dtype=as_dtype(draw.dtype), device="cpu")
        loops = random_numbers.loops_for(math.prod(shape))
        for i, key in enumerate(keys):
            random_numbers.fill(out[i].numpy(), draw, key, loops)
    return out


def is_in_host_memory(*arrays: Array) -> bool:
    """Whether tensors have values that this process can read; those of a batch and of a traced function have none."""
    return not is_compiling() and all(
        type(x) is torch.Tensor and x.device.type == "cpu" and not is_wrapped(x) for x in arrays
    )


def is_wrapped(x: torch.Tensor) -> bool:
    """Whether torch.func transforms a tensor."""
    return torch._C._functorch.is_functorch_wrapped_tensor(x)


def beta_now(dtype: str, shapes: Array, normals: Array, exponentials: Array) -> Array:
    """The operator `beta_of`: in host memory by the host's function, else step by step."""
    arrays = (shapes, normals, exponentials)
    if is_in_host_memory(*arrays):
        with torch._C.DisableTorchFunction():
            return torch.from_numpy(random_numbers.beta_numbers(dtype, *(x.numpy() for x in arrays)))
    return beta(ARITHMETIC, dtype, *arrays)


def _shape_of_beta(dtype: str, shapes: Array, *numbers: Array) -> Array:
    return shapes.new_empty(shapes.shape[:-2])


def _beta_of_batch(info: Any, in_dims: tuple[Any, ...], dtype: str, *arrays: Array) -> tuple[Array, int]:
    return beta_of(dtype, *_with_batch(info, in_dims[1:], arrays)), 0


def draw_by_operator(draw: Draw, key: Any, shape: tuple[int, ...], device: Any) -> Array:
    """A draw by the operator `drawn`."""
    device = torch.get_default_device() if device is None else device
    words, keys = (key, None) if isinstance(key, tuple) else ((0, 0), key)
    limits = (signed_int64(x % (1 << 64)) for x in (draw.low, draw.width))
    return drawn(keys, words, draw.kind, draw.dtype, *limits, float(draw.loc), float(draw.scale), shape, device)


def _drawn_now(
    key: Array | None,
    words: Sequence[int],
    kind: str,
    dtype: str,
    low: int,
    width: int,
    loc: float,
    scale: float,
    shape: list[int],
    device: torch.device,
) -> Array:
    """The operator `drawn`: a draw for the two words of a key, or for each of several keys (..., 2)."""
    draw = Draw(kind, dtype, low, width % (1 << 64) or 1 << 64, loc, scale)
    if device.type == "cuda":
        return kernels.drawn(draw, words, key, shape, device)
    keys: Any = [words] if key is None else key.reshape(-1, 2).tolist()
    return filled(draw, keys, shape).reshape((*_batch_of(key), *shape))


def _batch_of(key: Array | None) -> tuple[int, ...]:
    return () if key is None else key.shape[:-1]


def _shape_of_drawn(key: Array | None, words: Sequence[int], kind: str, dtype: str, *options: Any) -> Array:
    *_, shape, device = options
    return torch.empty((*_batch_of(key), *shape), dtype=as_dtype(dtype), device=device)


def _drawn_of_batch(info: Any, in_dims: tuple[Any, ...], key: Array, *options: Any) -> tuple[Array, int]:
    return drawn(key.movedim(in_dims[0], 0), *options), 0


def _keys_now(key: Array, counters: Array) -> Array:
    """The operator `keys`: the keys of the counters, in int64 or by the kernel."""
    is_served = counters.device.type == "cuda" and kernels.refusal("keys", "uint64", counters.device) is None
    return (kernels.keys if is_served else keys_of_counters)(key, counters)


def _shape_of_keys(key: Array, counters: Array) -> Array:
    return counters.new_empty((*counters.shape, 2), dtype=torch.uint32)


def _keys_of_batch(info: Any, in_dims: tuple[Any, ...], *arrays: Array) -> tuple[Array, int]:
    return keys_of(*_with_batch(info, in_dims, arrays)), 0


def _with_batch(info: Any, in_dims: tuple[Any, ...], arrays: tuple[Array, ...]) -> list[Array]:
    """The arrays with the batch as the first axis."""
    return [
        x.expand(info.batch_size, *x.shape) if axis is None else x.movedim(axis, 0)
        for x, axis in zip(arrays, in_dims, strict=True)
    ]


drawn = operator(
    "drawn(Tensor? key, int[] words, str kind, str dtype, int low, int width, float loc, float scale, SymInt[] shape, "
    "Device device) -> Tensor",
    _drawn_now,
    fake=_shape_of_drawn,
    batched=_drawn_of_batch,
)
keys_of = operator(
    "keys(Tensor key, Tensor counters) -> Tensor", _keys_now, fake=_shape_of_keys, batched=_keys_of_batch
)
beta_of = operator(
    "beta(str dtype, Tensor shapes, Tensor normals, Tensor exponentials) -> Tensor",
    beta_now,
    fake=_shape_of_beta,
    batched=_beta_of_batch,
)
