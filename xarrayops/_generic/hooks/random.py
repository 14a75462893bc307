"""The generic hooks of random numbers. Their functions are imported at the first draw."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from xarrayops.plugin.arrays import Array, unsupported

if TYPE_CHECKING:
    from xarrayops.plugin.random import Draw


def random_draw(xp: ModuleType, draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
    """All elements at once, in int64."""
    from xarrayops._generic import random

    return random.random_draw(xp, draw, key, shape, device)


def random_keys(xp: ModuleType, key: Any, counters: Array, /) -> Array:
    """The two words for each counter are a key."""
    from xarrayops._generic import random

    return random.random_keys(xp, key, counters)


def random_permutation(xp: ModuleType, key: Any, size: int, device: Any, /) -> Array:
    """By a stable sort."""
    from xarrayops._generic import random

    return random.random_permutation(xp, key, size, device)


native_generator = unsupported("the standard has no random numbers", instead="leave native=True out")
native_draw = native_generator
