"""Arrays that are split over devices or tasks."""

from __future__ import annotations

from math import prod
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xarrayops._generic import library
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array

if TYPE_CHECKING:
    from xarrayops.plugin.sharding import Sharding, Spec


def sharding_of(xp: ModuleType, x: Array, /) -> Sharding | None:
    """How x is split; None if it is unknown, as for a tracer whose compiler decides it. It waits for no values."""
    from xarrayops.plugin.sharding import Sharding

    shape = tuple(x.shape)
    item = getattr(x.dtype, "itemsize", None)
    nbytes = getattr(x, "nbytes", None) if item is None else prod(shape) * item
    is_complex = xp.isdtype(x.dtype, "complex floating")
    return Sharding(None, None, None, shape, shape, nbytes, 1, is_complex=is_complex)


def shard(xp: ModuleType, x: Any, spec: Spec | None, mesh: Any, /) -> Array:
    """x, split by ``spec``, which has an entry for each axis; whole for every device or task if it is None.

    x is an array of the library, a NumPy array, or anything with a shape, a dtype and slices, which is not read. The
    mesh is a mapping of names to sizes, a mesh of the library, an array of the library that has the mesh, or None. Law:
    ``sharding_of`` of the result has this spec.
    """
    if spec is None and mesh is None:
        return x
    raise Unsupported(
        f'{library(xp)} does not split arrays here. Instead: backend="dask" or backend="jax", with x as a NumPy array'
    )


def task_limit(xp: ModuleType, x: Array, /) -> int | None:
    """The bytes that one task or device should hold in a call of x at most; None if unknown."""
    return None  # the standard does not report it
