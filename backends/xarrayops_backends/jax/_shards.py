"""Arrays that are split over several devices: the place of new arrays next to them, and what XLA cannot split."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding

from xarrayops.plugin import Array

_CREATING = ("arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros", "fft.fftfreq", "fft.rfftfreq")
_UNSPLIT: Any = PartitionSpec()  # type: ignore[no-untyped-call]


def serving_shards(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, or one that serves arrays that are split where the library's own does not."""
    if verb.removesuffix("_like") in _CREATING:
        return next_to_shards(function)
    return along_whole_axes(function) if verb.startswith("fft.") and "shift" not in verb else function


def fitting(device: Any, shape: tuple[int, ...]) -> Any:
    """The place of an array next to one on this device: its sharding if that divides the shape, else whole copies."""
    if not isinstance(device, Sharding):
        return device
    try:
        device.shard_shape(shape)
    except (IndexError, ValueError):  # JAX looks up axes that the shape does not have
        return _whole(device)
    return device


def _whole(sharding: Sharding) -> Sharding:
    """The sharding with a whole copy on each device."""
    if isinstance(sharding, NamedSharding):
        mesh = sharding.mesh
    else:
        mesh = Mesh(sorted(sharding.device_set, key=lambda d: d.id), ("devices",))
    return NamedSharding(mesh, _UNSPLIT, memory_kind=sharding.memory_kind)


def placed(x: Array, device: Any) -> Array:
    """A new array in the place that fits it."""
    place = fitting(device, x.shape)
    return x if place is None else jax.device_put(x, place)


def next_to_shards(function: Callable[..., Array]) -> Callable[..., Array]:
    """A creation function whose ``device`` may be the sharding of an array of another shape."""

    @wraps(function)
    def created(*args: Any, device: Any = None, **kwargs: Any) -> Array:
        if isinstance(device, Sharding):
            device = fitting(device, jax.eval_shape(partial(function, *args, **kwargs)).shape)
        return function(*args, device=device, **kwargs)

    return created


def along_whole_axes(function: Callable[..., Array]) -> Callable[..., Array]:
    """A Fourier transform that gets whole axes: XLA aborts the process for some sizes of split ones."""

    @wraps(function)
    def transform(x: Array, /, *args: Any, **options: Any) -> Array:
        if not isinstance(x, jax.core.Tracer) and not x.is_fully_replicated:
            axes = options.get("axes", options.get("axis", -1))
            whole = range(x.ndim) if axes is None else axes if isinstance(axes, tuple) else (axes,)
            part = x.sharding.shard_shape(x.shape)
            if any(part[axis] != x.shape[axis] for axis in whole if -x.ndim <= axis < x.ndim):
                x = jax.device_put(x, _whole(x.sharding))
        return function(x, *args, **options)

    return transform
