"""Random numbers: the bits of Threefry-2x32-20 in one CUDA kernel."""

from __future__ import annotations

from functools import cache
from typing import Any

import array_api_compat.cupy
import cupy

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Call
from xarrayops.plugin.distributions import from_bits
from xarrayops.plugin.generic import arithmetic
from xarrayops.plugin.random import GROUPS, PARITY, ROTATIONS, Draw
from xarrayops_backends.cupy._devices import _on, as_device

_compat: Any = array_api_compat.cupy


def _source() -> str:
    """The loop body in C: the word ``bits`` for the flat index ``i`` and the two words of ``key``."""
    lines = [
        "unsigned long long counter = i;",
        f"unsigned int k[3] = {{key[0], key[1], key[0] ^ key[1] ^ {PARITY}u}};",
        "unsigned int x0 = (unsigned int)(counter >> 32) + k[0], x1 = (unsigned int)counter + k[1];",
    ]
    for group in range(GROUPS):
        turns = ROTATIONS[group % 2]
        lines += [f"x0 += x1; x1 = (x1 << {turn}) | (x1 >> {32 - turn}); x1 ^= x0;" for turn in turns]
        lines.append(f"x0 += k[{(group + 1) % 3}]; x1 += k[{(group + 2) % 3}] + {group + 1}u;")
    return "\n".join([*lines, "bits = (long long)(((unsigned long long)x0 << 32) | x1);"])


@cache
def _kernel() -> Any:
    return cupy.ElementwiseKernel("raw uint32 key", "int64 bits", _source(), "xarrayops_threefry")


def _draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All bits in one kernel, then CuPy's own functions."""
    with _on(cupy.cuda.Device() if device is None else as_device(device)):
        bits = cupy.empty(shape, cupy.int64)
        _kernel()(cupy.asarray(key, dtype=cupy.uint32), bits)
        if draw.bits == 32:
            # Both words combined; the cast keeps the lower one.
            bits = ((bits >> 32) ^ bits).astype(cupy.int32)
        return from_bits(arithmetic(_compat), draw, bits)


def _refusal(call: Call, /) -> str | None:
    return None if hasattr(cupy, "ElementwiseKernel") else "this CuPy has no ElementwiseKernel"


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
