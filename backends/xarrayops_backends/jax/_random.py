"""Random numbers: Threefry-2x32-20 in uint32, in one compiled program for each kind of numbers, dtype and shape.

`jax.random.bits` returns the same bits, but only while ``jax_threefry_partitionable`` is on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Sharding

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops.plugin.beta import beta
from xarrayops.plugin.distributions import (
    Arithmetic,
    Format,
    frexp_of_bits,
    from_bits,
    narrow_product,
    signed_int64,
    wide_product,
)
from xarrayops.plugin.random import GROUPS, PARITY, ROTATIONS, WORD, Draw
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._devices import _platform_of
from xarrayops_backends.jax._rounding import _divide, _sqrt
from xarrayops_backends.jax._standard.lacking import LACKING

_CONFIG: Any = jax.config
_lax: Any = jax.lax
_HALVES = {"float64": "float32", "uint64": "uint32", "int64": "int32"}
_FULL = 1 << 64


def random_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """One compiled program; limits of integers, loc and scale are arguments of it."""
    if draw.dtype in _HALVES and not _CONFIG.jax_enable_x64:
        raise Unsupported(
            f"JAX has no {draw.dtype} while its 64-bit types are off. Instead: "
            f'dtype="{_HALVES[draw.dtype]}", or enable them by JAX_ENABLE_X64=1 in the environment or '
            f'jax.config.update("jax_enable_x64", True) when the program starts'
        )
    words = _key_words(key, device)
    if draw.dtype == "float64" and draw.kind in ("normal", "exponential") and isinstance(words, jax.Array):
        gap = LACKING.get(_platform_of(words) or "", {}).get("random.normal")
        if gap is not None:
            raise Unsupported(str(gap))
    if draw.kind == "integers":
        # Limits are arguments, and only the class of the width is static: other limits use the same program.
        return _drawn(_integers, (draw.dtype, _width_class(draw.width), shape), words, device, *_limits(draw))
    # Likewise the kind and dtype are static, and loc and scale are arguments, unless they have no effect.
    static, loc, scale = draw._replace(loc=0.0, scale=1.0), draw.loc, draw.scale
    if static == draw:
        return _drawn(_numbers, (static, shape), words, device)
    return _drawn(_numbers, (static, shape), words, device, *np.asarray([loc, scale], draw.dtype))


def random_keys(key: Any, counters: Array, /) -> Array:
    """A key for each counter."""
    return _keys(_key_words(key), _shards.gathered(counters))


def _key_words(key: Any, device: Any = None) -> Array:
    """The two words of a key, on the device if it is one; on several devices each has both words."""
    if not isinstance(key, tuple):
        return _shards.gathered(key)
    words = np.asarray(key, np.uint32)
    return _shards.placed(words, _shards.whole(device) if isinstance(device, Sharding) else device)


def _drawn(draw: Callable[..., Array], static: tuple[Any, ...], key: Array, device: Any, *numbers: Any) -> Array:
    """What a compiled function draws with a key. If the device is a sharding, each device draws its own shard.

    The last of the static arguments is the shape.
    """
    if not isinstance(device, Sharding):
        return draw(*static, key, *numbers)
    return _shards.computed_at(_shards.fitting(device, static[-1]), draw, static, (key, *numbers))


def _split(x: Array, device: Any) -> Array:
    """x split as the sharding of which its key has whole copies. Elsewhere it is where the key is."""
    return _shards.placed(x, device) if isinstance(device, Sharding) else x


@partial(_jit, static_argnums=(0, 1))
def _numbers(draw: Draw, shape: tuple[int, ...], key: Array, *scaling: Array) -> Array:
    """Numbers that are not integers with limits."""
    high, low = _words(key, shape)
    if scaling:
        loc, scale = scaling
        draw = draw._replace(loc=loc, scale=scale)
    bits = _joined(high, low) if draw.bits == 64 else _lax.bitcast_convert_type(high ^ low, jnp.int32)
    return from_bits(_ARITHMETIC, draw, bits)


@partial(_jit, static_argnums=(0, 1, 2))
def _integers(dtype: str, width: str, shape: tuple[int, ...], key: Array, low: Any, upper: Any, lower: Any) -> Array:
    """Integers from ``low`` on, of a width that is given by its two words."""
    first, second = _words(key, shape)
    if not _CONFIG.jax_enable_x64:
        return _integers_of_words(dtype, width, first, second, low, lower)
    bits = _joined(first, second)
    if width == "narrow":
        bits = narrow_product(bits, (upper << 32) | lower)
    elif width == "wide":
        bits = wide_product(bits, upper, lower)
    return _lax.convert_element_type(bits + low, dtype)


def _integers_of_words(dtype: str, width: str, first: Array, second: Array, low: Array, lower: Array) -> Array:
    """The same integers without 64-bit types. A ``lower`` of 0 stands for a width of 2**32."""
    # The upper word of (first * 2**32 + second) * lower / 2**32: the sum carries where it is less than a summand.
    upper = _high_product(first, lower)
    rest, carried = first * lower, _high_product(second, lower)
    found = jnp.where(lower == 0, first, upper + ((rest + carried) < carried).astype(jnp.uint32)) + low
    found = found if dtype == "uint32" else _lax.bitcast_convert_type(found, jnp.int32)
    return found.astype(dtype)


def _high_product(a: Array, b: Array) -> Array:
    """The upper word of a product of words, in words."""
    # Long multiplication in base 2**16, whose products fit 32 bits.
    a0, a1, b0, b1 = a & 0xFFFF, a >> 16, b & 0xFFFF, b >> 16
    first = a1 * b0 + (a0 * b0 >> 16)
    return a1 * b1 + (first >> 16) + ((a0 * b1 + (first & 0xFFFF)) >> 16)


def _width_class(width: int) -> str:
    return "full" if width == _FULL else "narrow" if width <= 1 << 32 else "wide"


def _limits(draw: Draw) -> tuple[Any, Any, Any]:
    """The lowest integer and the two words of the width, as int64, or as uint32 without 64-bit types."""
    numbers = (draw.low, draw.width >> 32, draw.width & WORD)
    if _CONFIG.jax_enable_x64:
        return tuple(np.int64(signed_int64(number % _FULL)) for number in numbers)  # type: ignore[return-value]
    return tuple(np.uint32(number & WORD) for number in numbers)  # type: ignore[return-value]


@_jit
def _keys(key: Array, counters: Array) -> Array:
    x1 = counters.astype(jnp.uint32)
    return jnp.stack(_threefry(key, jnp.zeros_like(x1), x1), axis=-1)


def random_permutation(key: Any, size: int, device: Any, /) -> Array:
    """Sort by the two words, which needs no 64-bit types."""
    return _split(_permutation(size, _key_words(key, device)), device)


@partial(_jit, static_argnums=0)
def _permutation(size: int, key: Array) -> Array:
    high, low = _words(key, (size,))
    # The upper word is signed, the lower is not: the order of an int64. lax.sort is stable, so equal bits keep their
    # order, as on the other libraries.
    return _lax.sort((_lax.bitcast_convert_type(high, jnp.int32), low, jnp.arange(size)), num_keys=2)[2]


def _words(key: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The two random words of each element."""
    size = math.prod(shape)
    # Otherwise the upper word of each index is 0, and no 64-bit type is needed.
    if size > 1 << 32:
        index = _lax.iota(jnp.uint64, size)
        x0, x1 = (index >> 32).astype(jnp.uint32), index.astype(jnp.uint32)
    else:
        x1 = _lax.iota(jnp.uint32, size)
        x0 = jnp.zeros_like(x1)
    return _threefry(key, x0.reshape(shape), x1.reshape(shape))


def _threefry(key: Array, x0: Array, x1: Array) -> tuple[Array, Array]:
    """In uint32, which wraps."""
    schedule = (key[0], key[1], key[0] ^ key[1] ^ np.uint32(PARITY))
    x0, x1 = x0 + schedule[0], x1 + schedule[1]
    for group in range(GROUPS):
        for rotation in ROTATIONS[group % 2]:
            x0 = x0 + x1
            x1 = ((x1 << np.uint32(rotation)) | (x1 >> np.uint32(32 - rotation))) ^ x0
        x0 = x0 + schedule[(group + 1) % 3]
        x1 = x1 + (schedule[(group + 2) % 3] + np.uint32(group + 1))
    return x0, x1


def _joined(high: Array, low: Array) -> Array:
    """Two words as one int64."""
    return (high.astype(jnp.int64) << 32) | low.astype(jnp.int64)


def _astype(x: Array, dtype: Any) -> Array:
    return _lax.convert_element_type(x, dtype)


def _frexp(x: Array, form: Format) -> tuple[Array, Array]:
    integers = _lax.bitcast_convert_type(x, f"int{form.bits}")
    return frexp_of_bits(integers, form, lambda bits: _lax.bitcast_convert_type(bits, x.dtype), _astype)


def _rounded(x: Array) -> Array:
    """x, protected from contraction: a compiler keeps the choice unless it can exclude NaN."""
    return jnp.where(x == x, x, 0)


# A compiler cannot exclude that a quotient is NaN, or that its product is negative. An optimisation barrier,
# `jax.lax.reduce_precision` and bitcasts do not prevent contraction by XLA.
_ARITHMETIC = Arithmetic(
    jnp.where, _sqrt, _astype, jnp.dtype, _frexp, rounded=_rounded, positive=jnp.abs, divide=_divide
)


@partial(_jit, static_argnums=0)
def beta_numbers(dtype: str, shapes: Array, normals: Array, exponentials: Array, /) -> Array:
    """In one compiled program."""
    return beta(_ARITHMETIC, dtype, _lax.stop_gradient(shapes), normals, exponentials)


def native_generator(seed: int, device: Any, /) -> list[Any]:
    """A key of `jax.random`, in a list: each draw replaces it."""
    key = jax.random.key(signed_int64(seed) if _CONFIG.jax_enable_x64 else seed & WORD)
    return [_shards.placed(key, device)]


def native_draw(generator: list[Any], draw: Draw, shape: tuple[int, ...], device: Any, /) -> Array:
    """By the functions of `jax.random`."""
    return _split(_native_draw(generator, draw, shape), device)


def _native_integers(key: Any, draw: Draw, shape: tuple[int, ...]) -> Array:
    """By jax.random.randint if the dtype has the integer after the last one, else from random bits."""
    if draw.low + draw.width <= np.iinfo(draw.dtype).max:
        first, end = (np.asarray(limit, draw.dtype) for limit in (draw.low, draw.low + draw.width))
        return jax.random.randint(key, shape, first, end, draw.dtype)
    words = jax.random.bits(key, (2, *shape), "uint32")
    if not _CONFIG.jax_enable_x64:
        low, _, lower = _limits(draw)
        return _integers_of_words(draw.dtype, _width_class(draw.width), words[0], words[1], low, lower)
    return from_bits(_ARITHMETIC, draw, _joined(words[0], words[1]))


def _native_draw(generator: list[Any], draw: Draw, shape: tuple[int, ...]) -> Array:
    generator[0], key = jax.random.split(generator[0])
    match draw.kind:
        case "permutation":
            return jax.random.permutation(key, draw.width).astype(draw.dtype)
        case "bits":
            return jax.random.bits(key, shape, draw.dtype)
        case "integers":
            return _native_integers(key, draw, shape)
        case "uniform":
            return jax.random.uniform(key, shape, draw.dtype)
        case "normal":
            x = jax.random.normal(key, shape, draw.dtype)
        case _:
            x = jax.random.exponential(key, shape, draw.dtype)
    return x * draw.scale + draw.loc
