"""sharding_of: how an array is split over devices or tasks."""

from __future__ import annotations

from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._core.dispatch.lookup import function_for
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.sharding import Sharding


@explaining_arrays("sharding_of")
def sharding_of(x: Array, /) -> Sharding | None:
    """How x is split: over the devices of a mesh (JAX), or into chunks (Dask).

    Nothing is computed, and no values are waited for.

    Returns
    -------
    Sharding or None
        With ``engine``, ``mesh``, ``spec``, ``shape``, ``shard_shape``, ``shard_bytes``, ``pieces``, ``partial`` and
        ``addressable``. For an array on one device, and for libraries without split arrays, ``engine`` is None and
        ``pieces`` is 1. None for a tracer of JAX on a mesh of Auto axes: XLA decides its sharding later.

    Notes
    -----
    Law: ``shard(y, s.spec, mesh=s.mesh)`` has the spec of ``s = sharding_of(x)``, for y of the shape of x.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.sharding_of(np.zeros((4, 2))).pieces
    1
    """
    found: Sharding | None = function_for("sharding_of", type(x))(x)
    return found
