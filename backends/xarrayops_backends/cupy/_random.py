"""Random numbers by one kernel, whose source is that of PyTorch's devices too."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import cupy
import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Call
from xarrayops.plugin.device_random import KEYS, NAME, THREADS, arguments, grid, source
from xarrayops.plugin.random import Draw
from xarrayops_backends.cupy._devices import _on, as_device


@cache
def _kernel(kind: str, dtype: str) -> Any:
    return cupy.RawKernel(source(kind, dtype), NAME, ("-std=c++17",))


def _draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    with _on(cupy.cuda.Device() if device is None else as_device(device)):
        out = cupy.empty(shape, draw.dtype)
        _fill(out, draw, key, None, prod(shape))
        return out


def random_keys(key: Any, counters: Array, /) -> Array:
    """By the kernel of `random_draw`."""
    with _on(counters.device):
        out = cupy.empty((*counters.shape, 2), cupy.uint32)
        _fill(out, KEYS, key, cupy.ascontiguousarray(counters, cupy.int64), counters.size)
        return out


def _fill(out: Array, draw: Draw, key: Any, counters: Array | None, size: int) -> None:
    if not size:
        return
    is_array = not isinstance(key, tuple)
    keys = cupy.ascontiguousarray(key, cupy.uint32) if is_array else None
    numbers = arguments(draw, (0, 0) if is_array else key, 1, size)
    _kernel(draw.kind, draw.dtype)(
        grid(1, size),
        (THREADS, 1, 1),
        (
            *(np.intp(0) if x is None else x for x in (out, keys, counters)),
            *(np.float64(x) if isinstance(x, float) else np.int64(x) for x in numbers),
        ),
    )


def _refusal(call: Call, /) -> str | None:
    return None if hasattr(cupy, "RawKernel") else "this CuPy has no RawKernel"


RANDOM_DRAW_CANDIDATES = [("threefry", _draw, _refusal)]


def native_generator(seed: int, device: Any, /) -> Any:
    """CuPy's default generator."""
    if not hasattr(cupy, "random"):
        raise Unsupported("this CuPy has no random numbers. Instead: leave native=True out")
    with _on(cupy.cuda.Device() if device is None else as_device(device)):
        return cupy.random.default_rng(seed)


def native_draw(generator: Any, draw: Draw, shape: tuple[int, ...], device: Any, /) -> Array:
    """By the methods of `cupy.random.Generator`."""
    with _on(cupy.cuda.Device() if device is None else as_device(device)):
        return _native(generator, draw, shape)


def _native(generator: Any, draw: Draw, shape: tuple[int, ...]) -> Array:
    match draw.kind:
        case "permutation":
            return cupy.argsort(generator.random(draw.width)).astype(draw.dtype, copy=False)
        case "bits":
            highest = int(cupy.iinfo(draw.dtype).max)
            return generator.integers(0, highest, shape, cupy.uint64, endpoint=True).astype(draw.dtype, copy=False)
        case "integers":
            # Offsets, because the limits of a dtype such as uint64 do not fit one call; the sum wraps to the correct
            # bits.
            offsets = generator.integers(0, draw.width - 1, shape, cupy.uint64, endpoint=True)
            return (offsets.astype(cupy.int64) + draw.low).astype(draw.dtype, copy=False)
        case "uniform":
            return generator.random(shape, draw.dtype)
        case "normal":
            x = generator.standard_normal(shape, draw.dtype)
        case _:
            x = generator.standard_exponential(shape, draw.dtype)
    return x * draw.scale + draw.loc
