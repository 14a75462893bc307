"""Random numbers. The generic functions are imported at the first draw."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from xarrayops._generic import declared
from xarrayops.plugin.arrays import Array

if TYPE_CHECKING:
    from xarrayops.plugin.random import Draw


def random_draw(xp: ModuleType, draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """The random array of a draw, on a native device, by default the default device.

    The key is two Python integers, or an array (2,) of uint32. Law: each element equals the generic function's, bit for
    bit: at flat index i, Threefry-2x32-20 of the key and the counter i, then the steps of
    `xarrayops.plugin.distributions.from_bits`.
    """
    from xarrayops._generic import random  # imported at the first draw

    return random.random_draw(xp, draw, key, shape, device)


def random_keys(xp: ModuleType, key: Any, counters: Array, /) -> Array:
    """A key for each counter, as uint32 of shape ``(*counters.shape, 2)``: the two words of Threefry-2x32-20.

    The counters are integers in [0, 2**32). The key is as for `random_draw`.
    """
    from xarrayops._generic import random  # imported at the first draw

    return random.random_keys(xp, key, counters)


def key_words(xp: ModuleType, key: Array, /) -> tuple[int, int] | None:
    """The two words of a key whose values are in host memory, read without a transfer; None for other keys."""
    return None


def random_permutation(xp: ModuleType, key: Any, size: int, device: Any, /) -> Array:
    """The integers below ``size`` in random order, in the library's index dtype.

    Law: the stable `argsort` of the bits of a draw as int64.
    """
    from xarrayops._generic import random  # imported at the first draw

    return random.random_permutation(xp, key, size, device)


def beta_numbers(xp: ModuleType, dtype: str, shapes: Array, normals: Array, exponentials: Array, /) -> Array:
    """Beta numbers (...) in a dtype, from arrays (..., 2, PROPOSALS) of it. Derivatives are not needed.

    Law: each element equals the generic function's, bit for bit: the steps of `xarrayops.plugin.beta`.
    """
    from xarrayops._generic import random  # imported at the first draw

    return random.beta_numbers(xp, dtype, shapes, normals, exponentials)


@declared("the standard has no random numbers", instead="omit native=True")
def native_generator(xp: ModuleType, seed: int, device: Any, /) -> Any:
    """A generator of the library itself, for `native_draw`; the seed is in [0, 2**64)."""
    raise NotImplementedError


@declared("the standard has no random numbers", instead="omit native=True")
def native_draw(xp: ModuleType, generator: Any, draw: Draw, shape: tuple[int, ...], device: Any, /) -> Array:
    """A random array with the dtype of the draw, from a generator of the library, which advances."""
    raise NotImplementedError
