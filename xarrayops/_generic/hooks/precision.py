"""The precision of products, and what compilers may not skip."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import Array


def precision_switches(xp: ModuleType) -> dict[str, str]:
    """The current values of the library's global settings that affect the precision of matrix products."""
    return {}  # the standard defines no such settings


def rounded(xp: ModuleType, x: Array, dtype: Any, /) -> Array:
    """x in another native floating-point dtype. Law: ``astype(x, dtype)``, with the rounding that this means.

    No compiler of the library may skip the rounding where the result is widened again.
    """
    return xp.astype(x, dtype, copy=False)  # a cast: the standard has no compiler that skips one


def product_precision(xp: ModuleType, products: str, /, *arrays: Array) -> AbstractContextManager[Any]:
    """A context for one product of floating-point arrays.

    In it, float32 is multiplied as IEEE float32 ("ieee"), or also in TF32 ("tf32"), and half types are summed in
    float32. What the library cannot keep raises `Unsupported`. Afterwards every setting is as it was before. Where
    a backend does not define the hook, half types are widened before they are multiplied.
    """
    return nullcontext()  # the standard multiplies float32 as IEEE float32, and TF32 is never required


def opaque(xp: ModuleType, x: Array, shape: tuple[Any, ...], /) -> Array:
    """x, or x broadcast to a shape, without a gradient, as values that the library's compiler does not look into.

    A compiler that replaces a division by a constant or broadcast number by a product with its reciprocal, which
    rounds twice, must not do so with the result.
    """
    return x  # the standard has no gradients and no compiler
