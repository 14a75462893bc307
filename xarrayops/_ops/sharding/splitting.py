"""shard: split an array over devices or tasks, or make it whole."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from types import ModuleType
from typing import Any, overload

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array, ArrayT
from xarrayops.plugin.sharding import Spec, names


@overload
def shard(x: ArrayT, spec: Spec | None, /, *, mesh: Any = None, like: None = None, backend: None = None) -> ArrayT: ...


@overload
def shard(x: Any, spec: Spec | None, /, *, like: ArrayT, backend: None = None) -> ArrayT: ...


@overload
def shard(
    x: Any, spec: Spec | None, /, *, mesh: Any = None, like: Any = None, backend: str | Backend | ModuleType
) -> Array: ...


def shard(
    x: Any,
    spec: Spec | None,
    /,
    *,
    mesh: Any = None,
    like: Array | None = None,
    backend: str | Backend | ModuleType | None = None,
) -> Array:
    """x, split over the devices of a mesh (JAX) or into chunks (Dask, cubed); with ``spec=None`` whole everywhere.

    Parameters
    ----------
    x : array or store
        An array of JAX, Dask or cubed; or, with ``backend=`` or ``like=``, a NumPy array or a store: anything with
        ``shape``, ``dtype`` and slices, such as `numpy.memmap` and the arrays of h5py, zarr and tensorstore. A store is
        not read: Dask and cubed read each chunk when they compute it, and JAX each shard for its device.
    spec : tuple or None
        For each axis of x the axis of the mesh over which it is split, a tuple of several, or None for an axis that
        stays whole. Missing entries are None. ``spec=None`` gathers x on purpose: a copy on each device of the mesh of
        x, or one chunk.
    mesh : mapping or mesh, optional
        The axes of the mesh with their sizes, such as ``{"rows": 8}``: that many chunks in Dask, at most that many in
        cubed, whose chunks have one length, and in JAX that many devices, with axes of the type Auto. Or a
        `jax.sharding.Mesh`, with its own types of axes.
    like : array, optional
        An array that has the mesh. The axes of an array of Dask or cubed are called "axis0", "axis1" ... An array of
        cubed gives its Spec too.
    backend : str, Backend or module, optional
        The library of the result: "dask", "jax" or "cubed". Default: the library of ``like``, else of x.

    Returns
    -------
    array
        A native array. JAX moves the data now; Dask and cubed do so when they compute.

    Raises
    ------
    ValueError
        The spec does not fit x or the mesh, or there is no mesh.
    Unsupported
        The library does not split arrays, x belongs to another library, or JAX cannot split x into equal shards.

    Notes
    -----
    Law: ``compute(shard(x, spec, ...)) == x``.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = xo.shard(np.ones((100, 8)), ("rows", None), mesh={"rows": 4}, backend="dask")
    >>> xo.sharding_of(x).shard_shape
    (25, 8)
    """
    if mesh is not None and like is not None:
        raise ValueError("xo.shard takes mesh= or like=, not both")
    given = like if backend is None else backend
    target = find.of(x) if given is None else find.library(given)
    is_store = find.if_array(x) is None and find.refusal(x) is None and hasattr(x, "shape") and hasattr(x, "dtype")
    source = target if is_store else find.of(x)
    if source is not target and source.name != "numpy":
        raise Unsupported(
            f"xo.shard splits arrays of {target.name}, NumPy arrays and stores, but x is an array of {source.name}. "
            f'Instead: x = xo.convert(x, "{target.name}") first, which reads x'
        )
    found = like if mesh is None else mesh
    if spec is not None:
        spec = _completed(spec, tuple(x.shape))
        if found is None:
            raise ValueError('xo.shard needs mesh=, such as mesh={"rows": 8}, or like= with an array that has the mesh')
        sizes = found if isinstance(found, Mapping) else _sizes(found)
        unknown = [name for axis in spec for name in names(axis) if name not in sizes]
        if unknown:
            raise ValueError(
                f"xo.shard: the mesh has no axis {unknown[0]!r}; its axes are {', '.join(sizes) or 'none'}"
            )
        if not all(isinstance(size, Integral) and int(size) > 0 for size in sizes.values()):
            raise ValueError(f"xo.shard: the sizes of a mesh are positive integers, not {dict(sizes)}")
    return target.functions["shard"](x, spec, found)


def _completed(spec: Spec, shape: tuple[int, ...]) -> Spec:
    """The spec with an entry for each axis."""
    if len(spec) > len(shape):
        raise ValueError(f"xo.shard: the spec {spec} has {len(spec)} entries, but x has {len(shape)} axes")
    used = [name for axis in spec for name in names(axis)]
    if len(used) > len(set(used)):
        raise ValueError(f"xo.shard: the spec {spec} uses an axis of the mesh twice")
    return (*spec, *(None,) * (len(shape) - len(spec)))


def _sizes(mesh: Any) -> Mapping[str, int]:
    """The axes of a native mesh, or of the mesh of an array."""
    if find.if_array(mesh) is None:
        return dict(mesh.shape)
    found = find.of(mesh).functions["sharding_of"](mesh)
    return {} if found is None else found.mesh or {}
