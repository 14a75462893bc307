"""Arrays that are split over several devices: the place of new arrays next to them, and what XLA cannot split.

On a mesh with explicit axes, JAX raises unless it can derive the sharding of each result. The functions here compute as
on one with automatic axes, and give their results the explicit mesh. That moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any

import jax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, Sharding

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Gap, Index
from xarrayops_backends.jax._compiler import _jit, trace_state

_jax: Any = jax  # untyped: JAX does not annotate these functions
_CREATING = ("arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros", "fft.fftfreq", "fft.rfftfreq")
_DERIVED = (
    *("abs", "acos", "acosh", "asin", "asinh", "astype", "atan", "atanh", "bitwise_invert", "cbrt", "ceil", "conj"),
    *("cos", "cosh", "deg2rad", "erf", "exp", "exp2", "expm1", "floor", "imag", "isfinite", "isinf", "isnan"),
    *("log", "log10", "log1p", "log2", "logical_not", "nan_to_num", "negative", "positive", "rad2deg", "real"),
    *("reciprocal", "rint", "round", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh", "sqrt", "square", "tan"),
    *("tanh", "trunc"),
)
"""The functions of each element alone: JAX derives the sharding of their results."""
_UNSPLIT: Any = PartitionSpec()  # type: ignore[no-untyped-call]
AMBIGUOUS = Gap(
    "on a mesh with explicit axes, JAX cannot derive the sharding of the result",
    "xo.shard(x, None), which makes x whole on each device, or arrays of one sharding",
)


def serving_shards(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, or one that serves arrays that are split where the library's own does not."""
    if verb.removesuffix("_like") in _CREATING:
        return next_to_shards(function)
    return along_whole_axes(function) if verb.startswith("fft.") and "shift" not in verb else function


def fitting(device: Any, shape: tuple[int, ...]) -> Any:
    """The place of an array next to one on this device: its sharding if that divides the shape, else whole copies."""
    if not isinstance(device, Sharding):
        return device
    if isinstance(device, NamedSharding) and len(device.spec) > len(shape):
        return whole(device)
    try:
        device.shard_shape(shape)
        if isinstance(device, NamedSharding):
            device.check_compatible_aval(shape)  # fewer axes than the spec has
    except (IndexError, ValueError):  # JAX looks up axes that the shape does not have
        return whole(device)
    return device


def whole(sharding: Sharding) -> Sharding:
    """The sharding with a whole copy on each device."""
    if isinstance(sharding, NamedSharding):
        mesh = sharding.mesh
    else:
        mesh = Mesh(sorted(sharding.device_set, key=lambda d: d.id), ("devices",))
    return NamedSharding(mesh, _UNSPLIT, memory_kind=sharding.memory_kind)


@cache
def _has_several(platform: str | None) -> bool:
    return len(jax.devices(platform)) > 1


def may_be_split(x: Array, platform: str | None = None) -> bool:
    """Whether x may be on several devices of a platform, by default JAX's. Of a tracer it is unknown if there are."""
    return _has_several(platform) and (isinstance(x, jax.core.Tracer) or is_split(x))


def is_split(x: Any) -> bool:
    """Whether x is an array on several devices; a tracer is not."""
    return isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer) and len(x.sharding.device_set) > 1


def explicit_place(x: Array) -> Any:
    """The sharding of an array or tracer by the explicit axes of a mesh; None if there are none."""
    sharding = _jax.typeof(x).sharding
    if not has_explicit_axes(sharding):
        return None
    return sharding if isinstance(x, jax.core.Tracer) else x.sharding


def primal(x: Any) -> Any:
    """The array of a tracer of `jax.grad` or `jax.jvp` alone; other tracers have none."""
    while isinstance(x, jax.core.Tracer) and hasattr(x, "primal"):
        x = x.primal
    return x


def known_place(x: Array) -> Any:
    """The sharding of an array or tracer over a mesh; None on one device, and where XLA decides it later."""
    x = primal(x)
    if isinstance(x, jax.core.Tracer):
        return explicit_place(x)
    return x.sharding if isinstance(x.sharding, NamedSharding) and x.sharding.num_devices > 1 else None


def gathered(x: Array) -> Array:
    """An array that is whole on each of its devices."""
    return x if isinstance(x, jax.core.Tracer) or x.is_fully_replicated else placed(x, whole(x.sharding))


def placed(x: Any, device: Any) -> Array:
    """An array in the place that fits it. Shards are exchanged between devices, where JAX would read them."""
    place = fitting(device, x.shape)
    if place is None:
        return x
    is_array = isinstance(place, Sharding) and isinstance(x, jax.Array)
    if is_array and (isinstance(x, jax.core.Tracer) or x.sharding.device_set == place.device_set):
        return _resharding(place)(x)
    return jax.device_put(x, place)


@cache
def _resharding(place: Sharding) -> Callable[[Array], Array]:
    return _jit(lambda x: x, out_shardings=place)


def computed_at(place: Any, function: Callable[..., Array], static: tuple[Any, ...], arrays: tuple[Any, ...]) -> Array:
    """The result of a compiled function of static arguments and arrays, computed by each device for its shard."""
    if trace_state() is not None:
        return placed(function(*static, *arrays), place)
    if not has_explicit_axes(place):
        return _computing_at(place, function, len(static))(*static, *arrays)
    mesh, other = place.mesh, automatic(place.mesh)
    arrays = _mapped(partial(on_mesh, mesh, other), arrays)
    return on_mesh(other, mesh, _computing_at(on_mesh(mesh, other, place), function, len(static))(*static, *arrays))


@cache
def _computing_at(place: Sharding, function: Callable[..., Array], static: int) -> Callable[..., Array]:
    return _jit(function, static_argnums=tuple(range(static)), out_shardings=place)


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
            affected = range(x.ndim) if axes is None else axes if isinstance(axes, tuple) else (axes,)
            part = x.sharding.shard_shape(x.shape)
            if any(part[axis] != x.shape[axis] for axis in affected if -x.ndim <= axis < x.ndim):
                x = placed(x, whole(x.sharding))
        return function(x, *args, **options)

    return transform


def serving_explicit_axes(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; if it fails for arrays on a mesh with explicit axes, they are taken as on one with automatic axes.

    Tracers are not: what XLA would choose is unknown while tracing.
    """
    if verb in _DERIVED:
        return function

    @wraps(function)
    def served(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Exception as error:  # JAX's errors for shardings have several classes
            mesh = explicit_mesh((args, options))
            if mesh is None:
                if any(is_ambiguous(x, error) for x in jax.tree.leaves(args) if isinstance(x, jax.core.Tracer)):
                    raise Unsupported(f"xo.{verb}: {AMBIGUOUS}") from error
                raise
        other = automatic(mesh)
        args, options = _mapped(partial(on_mesh, mesh, other), (args, options))
        return _mapped(partial(on_mesh, other, mesh), function(*args, **options))

    return served


def is_ambiguous(x: Array, error: Exception) -> bool:
    """Whether JAX asks for the sharding of a result, in the error of a call with x."""
    asks = any(word in repr(error) for word in ("shard", "Shard", "mesh", "PartitionSpec"))
    return asks and has_explicit_axes(_jax.typeof(x).sharding)


def has_explicit_axes(sharding: Any) -> bool:
    return isinstance(sharding, NamedSharding) and AxisType.Explicit in sharding.mesh.axis_types


def explicit_mesh(tree: Any) -> Any:
    """The one mesh with explicit axes of the arrays and shardings; None if there is none, or several."""
    found: list[Any] = []
    _mapped(lambda leaf: found.append(_sharding(leaf)), tree)
    meshes = {each.mesh for each in found if has_explicit_axes(each)}
    return meshes.pop() if len(meshes) == 1 else None


def automatic(mesh: Any) -> Any:
    """The mesh with automatic axes."""
    return mesh.update(axis_types=(AxisType.Auto,) * len(mesh.axis_names))


def on_mesh(old: Any, new: Any, leaf: Any) -> Any:
    """An array or a sharding on the old mesh as one on the new mesh of the same devices; anything else unchanged."""
    sharding = _sharding(leaf)
    if not isinstance(sharding, NamedSharding) or sharding.mesh != old:
        return leaf
    place = NamedSharding(new, sharding.spec, memory_kind=sharding.memory_kind)
    if isinstance(leaf, Sharding):
        return place
    return jax.make_array_from_single_device_arrays(leaf.shape, place, [each.data for each in leaf.addressable_shards])


def _sharding(leaf: Any) -> Any:
    """The sharding of an array, or a sharding itself; None for tracers, which have no shards."""
    if isinstance(leaf, Sharding):
        return leaf
    return leaf.sharding if isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer) else None


def _mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with the function's values for its leaves, also for the entries of an index."""

    def of(leaf: Any) -> Any:
        if not isinstance(leaf, Index):
            return function(leaf)
        return Index(_mapped(function, leaf.entries), leaf.functions, is_basic=leaf.is_basic)

    return _jax.tree.map(of, tree)
