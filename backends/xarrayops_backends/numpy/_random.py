"""Random numbers, by the host's functions and by NumPy's generator."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.plugin import Array, Call
from xarrayops.plugin.host import random_numbers
from xarrayops.plugin.random import Draw


def _draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All steps by NumPy's ufuncs."""
    out = np.empty(shape, draw.dtype)
    random_numbers.fill(out, draw, key, None)
    return out


def _compiled_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All steps by loops that numba compiles."""
    out = np.empty(shape, draw.dtype)
    random_numbers.fill(out, draw, key, random_numbers.loops_for(out.size))
    return out


def _compiled_refusal(call: Call, /) -> str | None:
    """The loops need numba, which takes time to load."""
    size = math.prod(call.args[2])
    if size < random_numbers.COMPILED:
        return f"it serves arrays of {random_numbers.COMPILED} elements or more"
    return None if random_numbers.loops_for(size) else "numba is not installed: pip install 'xarrayops[fast]'"


RANDOM_DRAW_CANDIDATES = [("compiled", _compiled_draw, _compiled_refusal), ("blocks", _draw, lambda call: None)]


def key_words(key: Array, /) -> tuple[int, int]:
    """As Python integers."""
    return int(key[0]), int(key[1])


def random_permutation(key: Any, size: int, device: Any, /) -> Array:
    """By a sort of the bits."""
    return random_numbers.permutation(key, size)


def beta_numbers(dtype: str, shapes: Array, normals: Array, exponentials: Array, /) -> Array:
    """By the host's function."""
    return random_numbers.beta_numbers(dtype, shapes, normals, exponentials)


def native_generator(seed: int, device: Any, /) -> np.random.Generator:
    """NumPy's default generator, PCG64."""
    return np.random.default_rng(seed)


def native_draw(generator: np.random.Generator, draw: Draw, shape: tuple[int, ...], device: Any, /) -> Array:
    """By the methods of `numpy.random.Generator`."""
    dtype: Any = np.dtype(draw.dtype)
    match draw.kind:
        case "permutation":
            return generator.permutation(draw.width).astype(dtype, copy=False)
        case "bits":
            return generator.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
        case "integers":
            return generator.integers(draw.low, draw.low + draw.width - 1, shape, dtype, endpoint=True)
        case "uniform":
            return generator.random(shape, dtype)
        case "normal":
            x = generator.standard_normal(shape, dtype)
        case _:
            x = generator.standard_exponential(shape, dtype)
    x *= draw.scale
    x += draw.loc
    return x


def random_state() -> tuple[Any, Callable[[], None]]:
    """The state of the functions of `numpy.random`, whose generator is global."""
    state: Any = np.random.get_state(legacy=False)
    bits = state["state"]
    token = (
        state["bit_generator"],
        state["has_gauss"],
        state["gauss"],
        *(np.asarray(x).tobytes() for x in bits.values()),
    )
    return token, lambda: np.random.set_state(state)
