"""Wrappers of functions: checks of dtype arguments, compilation of generic twins, and errors that tracers cause.

Without compilation as a whole the generic twins take 2 to 40 times as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Call, Gap
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.generic import statistics
from xarrayops.plugin.precision import AGAIN, CHECKED, DOUBLE, widened
from xarrayops_backends.jax import _dtypes, _shards
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._devices import _platform_of
from xarrayops_backends.jax._dtypes import _WITH_DTYPE, _checked_dtype
from xarrayops_backends.jax._sharded import served_in_shards as _served_in_shards
from xarrayops_backends.jax._uneven import is_uneven as _is_uneven, sum_of_columns as _sum_of_columns

_COMPILED = (
    *("allclose", "average", "cbrt", "corrcoef", "cov", "digitize", "interp", "isclose", "kron", "log_softmax"),
    *("logsumexp", "nan_to_num", "nanargmax", "nanargmin", "nanmax", "nanmean", "nanmin", "nanstd", "nansum", "nanvar"),
    *("ptp", "softmax", "trapezoid"),
)
_QUANTILES = ("nanpercentile", "nanquantile", "percentile", "quantile")
_CHECKED = (CHECKED | {"sum"}) - {"gradient", "segment_mean", *_QUANTILES}
_LARGE = 2.0**100
"""Differences of smaller numbers do not overflow."""
_STATIC = ("axis", "correction", "k", "offset", "ord")
"""The options that JAX's functions read."""
_OPERANDS = ("atol", "dx", "left", "nan", "neginf", "posinf", "right", "rtol")
"""The options whose floating-point numbers are operands of the compiled code. Others are constants in it."""
_SHAPES = "the shape of the result depends on values, which are unknown under jax.jit and jax.vmap"
_PLACES = "the index is an array of values, which are unknown under jax.jit and jax.vmap"


def _with_size(call: str) -> Gap:
    return Gap(_SHAPES, f"call it outside jax.jit and jax.vmap, or use jax.numpy.{call[:-1]}, size=...)")


_UNIQUE = _with_size("unique(x)")
_SIZE_UNKNOWN = {
    "argwhere": _with_size("argwhere(x)"),
    "compress": Gap(_SHAPES, "xo.where(condition, x, y), or jax.numpy.compress(condition, x, size=...)"),
    **{name: _with_size(f"{name}(x1, x2)") for name in ("intersect1d", "setdiff1d", "setxor1d", "union1d")},
    "nonzero": Gap(_SHAPES, "xo.where(mask, x, y), or jax.numpy.nonzero(x, size=...)"),
    "repeat": Gap(
        f"{_SHAPES}, if repeats is a traced array", "a Python int, or jax.numpy.repeat(total_repeat_length=...)"
    ),
    **dict.fromkeys(("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"), _UNIQUE),
}
"""Why a function does not work under `jax.jit`, and what to write instead."""
_NEEDING_VALUES = _SIZE_UNKNOWN | {
    "delete": Gap(_PLACES, "Python integers as the index, or xo.where(mask, y, x)"),
    "insert": Gap(_PLACES, "Python integers as the index, or xo.concat"),
}
_OF_TRACERS = (
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)
"""JAX's errors for calls that need the value of a tracer."""


def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """The function, which computes in shards or refuses those that take too much memory; see `_served` for the rest."""
    return _served_in_shards(verb, _served(verb, function))


def _served(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, one that checks its dtype, compiles it for each form of a call, or has an error for tracers."""
    return _shards.serving_explicit_axes(verb, _wrapped(verb, _shards.serving_shards(verb, function)))


def _wrapped(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    if verb in _CHECKED:
        large = _computed_again(_sum_of_columns(function)) if verb == "sum" else None
        function = _compiled(function, _computed_again(function), large, is_always=verb in _COMPILED)
        return _checked_dtype(function) if verb in _WITH_DTYPE else function
    if verb in _WITH_DTYPE:
        return _checked_dtype(function)
    if verb in _QUANTILES:  # they raise for values of q, which are unknown in a compiled function
        return _of_halves(function)
    if verb == "gradient":
        return _without_coordinates(_compiled(_or_of_quarters(function)), _of_halves(function))
    if verb == "histogram":
        return _between_edges(_compiled(function))
    return _compiled(function) if verb in _COMPILED else _naming_a_way(verb, function)


def _compiled(
    function: Callable[..., Any],
    checked: Callable[..., Any] | None = None,
    of_uneven: Callable[..., Any] | None = None,
    *,
    is_always: bool = True,
) -> Callable[..., Any]:
    """The function, compiled for each form of a call; ``checked`` for arrays on a CPU that are not traced.

    For matrices that XLA's new kernels for CPUs do not fit, ``of_uneven`` is compiled without them.

    Elsewhere a branch would break the fusions of the caller's program, or wait for a GPU. Unless ``is_always``, the
    function is then called as it is.
    """

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        operands = _as_arrays(args)
        run = function
        if checked is not None and operands is not None and _has_usual(options) and _is_on_one_cpu(args, options):
            run = of_uneven if of_uneven is not None and _is_uneven(operands[0]) else checked
        if operands is None or (run is function and not is_always):
            return function(*args, **options)
        traced = {name: x for name, x in options.items() if _is_operand(name, x)}
        constants = tuple(_constant(name, x) for name, x in options.items() if name not in traced)
        return (_run_without_fusions if run is of_uneven else _run)(run, constants, operands, traced)

    return call


def _has_usual(options: dict[str, Any]) -> bool:
    """Whether the options that are numbers have one of few values: each is compiled."""
    numbers = [options[name] for name in ("correction", "ord") if name in options]
    return all(x is None or isinstance(x, (int, str)) or x in (0.0, 1.0, math.inf, -math.inf) for x in numbers)


def _is_on_one_cpu(args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether the arrays have values, on one CPU device."""
    for x in (*args, *options.values()):
        if isinstance(x, jax.core.Tracer):
            return False
        if isinstance(x, jax.Array) and (len(x.devices()) > 1 or _platform_of(x) != "cpu"):
            return False
    return True


def _computed_again(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; if its result is not finite, a branch of the program computes it in double precision."""

    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        found = function(*args, **options)
        narrow = [jnp.isfinite(x).all() for x in jax.tree.leaves(found) if x.dtype.name in AGAIN]

        def again() -> Any:
            with jax.enable_x64(True):
                call = widened(Call(args, options), vars(_dtypes), DOUBLE)
                wide = function(*call.args, **call.kwargs)
                return jax.tree.map(lambda x, like: x.astype(like.dtype), wide, found)

        return jax.lax.cond(jnp.stack(narrow).all(), lambda: found, again) if narrow else found

    return checked


def _of_halves(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is computed from differences, for half the numbers: their differences do not overflow."""

    @wraps(function)
    def halved(x: Array, /, *others: Any, **options: Any) -> Any:
        if x.dtype.name not in AGAIN or not x.size:
            return function(x, *others, **options)
        # Small numbers are not halved: XLA gives 0 for subnormal ones.
        is_large = jnp.max(jnp.abs(x)) > _LARGE
        scale = jnp.where(is_large, 0.5, 1.0).astype(x.real.dtype)
        return jax.tree.map(lambda found: found / scale, function(x * scale, *others, **options))

    return halved


def _or_of_quarters(function: Callable[..., Any]) -> Callable[..., Any]:
    """A linear function of x; where a number is not finite, that of a quarter of x, which does not overflow.

    XLA computes both in one pass over x, where `_of_halves` needs two.
    """

    @wraps(function)
    def linear(x: Array, /, *others: Any, **options: Any) -> Any:
        found = function(x, *others, **options)
        if x.dtype.name not in AGAIN:
            return found
        quarters = function(x * 0.25, *others, **options)
        return jax.tree.map(
            lambda one, part: jnp.where(jnp.isfinite(part) > jnp.isfinite(one), part * 4, one), found, quarters
        )

    return linear


def _without_coordinates(compiled: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """The compiled gradient, but with vectors of coordinates and traced distances the plain one.

    XLA multiplies the divisors of two divisions, and the products of two distances overflow. The derivative by a
    distance is NaN where a number that is not chosen is infinite.
    """

    @wraps(plain)
    def gradient(x: Array, /, *spacing: Any, **options: Any) -> Any:
        is_plain = any(getattr(each, "ndim", 0) or isinstance(each, jax.core.Tracer) for each in spacing)
        return (plain if is_plain else compiled)(x, *spacing, **options)

    return gradient


def _constant(name: str, x: Any) -> tuple[str, type, Any]:
    """A hashable option with its type, because True equals 1 but is not an axis."""
    if getattr(x, "ndim", None) == 0 and isinstance(x, (np.ndarray, np.generic, jax.Array)):
        x = x.item()
    return name, type(x), tuple(x) if isinstance(x, list) else x


def _called(function: Callable[..., Any], constants: Any, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return function(*operands, **{name: x for name, _, x in constants}, **options)


_run = _jit(_called, static_argnums=(0, 1))
_run_without_fusions = _jit(_called, has_fusions=False, static_argnums=(0, 1))


def _as_arrays(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments with numbers as arrays of the first array's dtype; None if the dtype needs other rules."""
    like = next((x for x in args if isinstance(x, jax.Array)), None)
    if like is None or not all(x is None or isinstance(x, (jax.Array, float)) for x in args):
        return None
    if not any(isinstance(x, float) for x in args):
        return args
    is_floating = jnp.isdtype(like.dtype, "real floating")
    return tuple(jnp.asarray(x, like.dtype) if isinstance(x, float) else x for x in args) if is_floating else None


def _is_operand(name: str, x: Any) -> bool:
    return (isinstance(x, jax.Array) and name not in _STATIC) or (type(x) is float and name in _OPERANDS)


def _between_edges(counted: Callable[..., Any]) -> Callable[..., Any]:
    """The histogram between edges, which are made first: the limits of the range are not constants of the program."""

    @wraps(counted)
    def histogram(x: Array, /, bins: Any = 10, *, range: Any = None, **options: Any) -> Any:
        if type(bins) is not int:
            return counted(x, bins, range=range, **options)
        x = x.reshape(-1)
        edges = _spanning(x, bins, bins) if range is None else _of_range(x, bins, range)
        return counted(x, edges, **options)

    return histogram


def _of_range(x: Array, bins: int, range: Any) -> Array:
    """By our linspace, whose numbers are those of NumPy."""
    return statistics.bin_edges(backend_by_name("jax").namespace, x, bins, range)


@partial(_jit, static_argnums=1)
def _spanning(x: Array, bins: int, parts: Any) -> Array:
    """The edges of equal bins of a vector from the least element to the greatest.

    ``parts`` equals ``bins``. It is an operand, because XLA multiplies by the reciprocal of a constant.
    """
    return statistics.bin_edges(jnp, x, bins, None, parts)


def _naming_a_way(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function. If it needs values, it raises an error for tracers that says what to write instead.

    JAX's own option ``size=``, which array-api-extra gives, is passed on.
    """
    if verb not in _NEEDING_VALUES:
        return function

    @wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except (*_OF_TRACERS, Unsupported) as error:
            cause = error.__cause__ if isinstance(error, Unsupported) else error  # of a step of the function
            if not isinstance(cause, _OF_TRACERS):
                raise
            raise Unsupported(f"xo.{verb}: {_NEEDING_VALUES[verb]}") from cause

    return called
