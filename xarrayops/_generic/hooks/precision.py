"""The precision of products, and roundings that compilers must not skip."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

from xarrayops.plugin.arrays import Array


def precision_switches(xp: ModuleType) -> dict[str, str]:
    """The current values of the library's global settings that affect the precision of matrix products."""
    return {}  # the standard defines no such settings


def rounded(xp: ModuleType, x: Array, dtype: Any, /) -> Array:
    """x cast to another native floating-point dtype. Law: ``astype(x, dtype)``, including its rounding.

    The library's compilers must not skip the rounding, even if the result is widened again.
    """
    return xp.astype(x, dtype, copy=False)  # a cast: the standard has no compiler that skips one


def product_precision(xp: ModuleType, products: str, /, *arrays: Array) -> AbstractContextManager[Any]:
    """A context for one product of floating-point arrays.

    In it, float32 is multiplied as IEEE float32 ("ieee"), or also in TF32 ("tf32"), and half types are summed in
    float32. A requirement that the library cannot satisfy raises `Unsupported`. All settings are restored afterwards.
    If a backend does not define the hook, half types are widened before they are multiplied.
    """
    return nullcontext()  # the standard multiplies float32 as IEEE float32, and TF32 is never required


def opaque(xp: ModuleType, x: Array, shape: tuple[Any, ...], /) -> Array:
    """x, or x broadcast to a shape, without a gradient, and opaque to the library's compiler.

    Compilers may replace a division by a constant or broadcast number by a product with its reciprocal, which rounds
    twice. They must not do so with the result.
    """
    return x  # the standard has no gradients and no compiler


def quotient(xp: ModuleType, x: Array, y: Array, /) -> Array:
    """x / y for arrays of one floating-point dtype. Law: the quotient is rounded once."""
    return xp.divide(x, y)


def has_overflowed(xp: ModuleType, x: Array, /) -> bool:
    """Whether x is known to have a value that is not finite. False if that is unknown, or costs a wait for a device.

    If so, functions that average or normalise are computed again in double precision.
    """
    return False  # the standard does not tell whether a value is known
