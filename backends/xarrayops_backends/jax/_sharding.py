"""How arrays of JAX are split over devices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec, SingleDeviceSharding

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops.plugin.sharding import Sharding, Spec, names as _names
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._devices import _has_one_device, is_lazy as _is_lazy

_jax: Any = jax  # untyped: JAX does not annotate these functions


def sharding_of(x: Array, /) -> Sharding | None:
    """The sharding of x. That of a tracer is known on a mesh of explicit axes only; XLA decides it on others."""
    is_traced = isinstance(x, jax.core.Tracer)
    own = jax.typeof(x).sharding if is_traced else x.sharding
    if is_traced and not (own.mesh.axis_names and all(kind is AxisType.Explicit for kind in own.mesh.axis_types)):
        return None
    shape, is_complex = tuple(x.shape), jax.numpy.issubdtype(x.dtype, np.complexfloating)
    if isinstance(own, SingleDeviceSharding):
        return Sharding(None, None, None, shape, shape, x.nbytes, 1, is_complex=is_complex)
    part = tuple(own.shard_shape(shape))
    if not isinstance(own, NamedSharding):  # pmap's
        pieces = len(set(map(str, own.devices_indices_map(shape).values())))
        nbytes = math.prod(part) * x.dtype.itemsize
        return Sharding("jax", None, None, shape, part, nbytes, pieces, is_complex=is_complex)
    mesh = dict(own.mesh.shape)
    spec = (*own.spec, *(None,) * (x.ndim - len(own.spec)))
    return Sharding(
        "jax",
        mesh,
        spec,
        shape,
        part,
        math.prod(part) * x.dtype.itemsize,
        math.prod(mesh[name] for axis in spec for name in _names(axis)),
        partial=bool(own.spec.unreduced),
        addressable=is_traced or x.is_fully_addressable,
        is_complex=is_complex,
    )


def shard(x: Any, spec: Spec | None, mesh: Any, /) -> Array:
    """The array with a `NamedSharding`. Each device reads its own part of a store."""
    if spec is None and mesh is None and not _is_split(x):
        return x
    place = NamedSharding(_native(x if mesh is None else mesh), PartitionSpec(*spec or ()))  # type: ignore[no-untyped-call]
    try:
        place.shard_shape(tuple(x.shape))
    except ValueError as error:
        raise Unsupported(
            f"JAX splits arrays of shape {tuple(x.shape)} by {spec} only into equal shards, and the mesh is "
            f"{dict(place.mesh.shape)}. Instead: pad x with xo.pad, or a mesh whose sizes divide the shape"
        ) from error
    if isinstance(x, jax.core.Tracer):
        explicit = AxisType.Explicit in place.mesh.axis_types
        return _jax.sharding.reshard(x, place) if explicit else _jax.lax.with_sharding_constraint(x, place)
    if isinstance(x, (jax.Array, np.ndarray)) and not isinstance(x, np.memmap):
        return jax.device_put(x, place)
    return jax.make_array_from_callback(tuple(x.shape), place, lambda index: np.asarray(x[index]))


def _is_split(x: Any) -> bool:
    """Whether x is on several devices, or a tracer of an array on a mesh."""
    if _is_lazy(x):
        return bool(jax.typeof(x).sharding.mesh.axis_names)
    return _shards.is_split(x)


def _native(mesh: Any) -> Any:
    """The mesh of an array, of names and sizes, or itself."""
    if isinstance(mesh, jax.Array):
        own: Any = jax.typeof(mesh).sharding if _is_lazy(mesh) else _shards.whole(mesh.sharding)
        return own.mesh
    if not isinstance(mesh, Mapping):
        return mesh
    needed, known = math.prod(mesh.values()), jax.devices()
    if needed > len(known):
        raise ValueError(f"the mesh {dict(mesh)} needs {needed} devices, but JAX has {len(known)}")
    types = (AxisType.Auto,) * len(mesh)
    return jax.make_mesh(tuple(mesh.values()), tuple(mesh), axis_types=types, devices=known[:needed])


def task_limit(x: Array, /) -> int | None:
    """Half of the memory of a device that XLA may use."""
    devices = jax.local_devices() if _is_lazy(x) else x.sharding.addressable_devices
    found = [(device.memory_stats() or {}).get("bytes_limit", 0) for device in devices]
    return min(found, default=0) // 2 or None


def _may_be_split(*args: Any) -> bool:
    """Whether an argument is an array on several devices. It takes 50 ns on a machine with one."""
    return not _has_one_device() and any(map(_shards.is_split, args))


def _may_have_shards(*args: Any) -> bool:
    """As `_may_be_split`; also whether there may be such a tracer: its shards are known on some meshes."""
    return not _has_one_device() and any(_is_lazy(x) or _shards.is_split(x) for x in args)
