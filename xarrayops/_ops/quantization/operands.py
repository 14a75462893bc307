"""The checks of the operands of quantisation, and their descriptions in errors."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from xarrayops import standard as xp
from xarrayops._core.backends import find
from xarrayops._core.backends.mixed import described
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.quantization.schemes import LEAST_SCALE, LIMITS, Calibration, Quantized
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array

SCHEMES = ("symmetric", "asymmetric")
_WIDENED = {"float16": "float32", "bfloat16": "float32", "float32": "float32", "float64": "float64"}
"""The dtype in which an array is quantised, by the dtype of the array."""


def backend_of(verb: str, arrays: dict[str, Any]) -> Backend:
    """The backend of all arrays. Raises for numbers."""
    for name, x in arrays.items():
        find.one_of(verb, {name: x})
    return find.one_of(verb, arrays)


def as_floating(verb: str, backend: Backend, x: Array) -> Array:
    """x without a gradient, in float32, or in float64 if it is float64. Raises unless the dtype is floating-point."""
    name = str(backend.functions["dtype_name"](x.dtype))
    if name not in _WIDENED:
        raise Unsupported(
            f"xo.{verb}({described(x, backend)}): x must be float16, bfloat16, float32 or float64. Instead: "
            f'xo.{verb}(xo.astype(x, "float32"))'
        )
    x = backend.functions["opaque"](x, x.shape)
    return x if _WIDENED[name] == name else xp.astype(x, _WIDENED[name])


def kept_axes(verb: str, backend: Backend, x: Array, axis: int | Sequence[int] | None) -> tuple[int, ...] | None:
    """The axes with several scales, as numbers from 0 in increasing order; None if there is one scale."""
    if axis is None:
        return None
    axes = tuple(axis) if isinstance(axis, Sequence) else (axis,)
    try:
        numbers = sorted(range(x.ndim)[operator.index(each)] for each in axes)
    except IndexError:
        numbers = []
    if len(set(numbers)) != len(axes):
        raise ValueError(f"xo.{verb}({described(x, backend)}): axis={axis!r} must be different axes of x")
    return tuple(numbers)


def checked_scheme(verb: str, backend: Backend, scheme: str, dtype: Any) -> str:
    """The name of the dtype of the values. Raises if the scheme is unknown, or does not have that dtype."""
    name = str(backend.functions["dtype_name"](backend.native_dtype(dtype)))
    if scheme not in SCHEMES:
        raise ValueError(f"xo.{verb}: scheme must be 'symmetric' or 'asymmetric', not {scheme!r}")
    if name not in LIMITS:
        raise Unsupported(f"xo.{verb}: dtype={name!r}; quantised values are int8, or uint8 in the asymmetric scheme")
    if scheme == "symmetric" and name != "int8":
        raise Unsupported(f"xo.{verb}: the symmetric scheme has values of int8. Instead: scheme='asymmetric'")
    return name


def checked_quantized(verb: str, name: str, q: Any) -> Backend:
    """The backend of a quantised array. Raises for other objects, or if the parts do not fit each other."""
    if not isinstance(q, Quantized):
        raise TypeError(
            f"xo.{verb}: {name} must be Quantized, not {type(q).__name__}. Instead: xo.quantize({name}), or "
            f"xo.Quantized(values, scale, zero)"
        )
    parts = {f"{name}.{part}": value for part, value in q._asdict().items() if value is not None}
    backend = backend_of(verb, parts)
    named = backend.functions["dtype_name"]
    fault = None
    if named(q.values.dtype) not in LIMITS:
        fault = "the values must be int8 or uint8"
    elif named(q.scale.dtype) not in LEAST_SCALE:
        fault = "the scale must be float32 or float64"
    elif q.zero is not None and named(q.zero.dtype) != named(q.values.dtype):
        fault = "the zero must have the dtype of the values"
    elif not (_fits(q.values, q.scale) and (q.zero is None or _fits(q.values, q.zero))):
        fault = "the scale and the zero must broadcast to the shape of the values"
    if fault is not None:
        raise ValueError(f"xo.{verb}: {shown(name, backend, q)}: {fault}")
    return backend


def _fits(x: Array, part: Array) -> bool:
    """Whether a part broadcasts to the shape of x. Dask's unknown sizes are NaN, and count as fitting."""
    if part.ndim > x.ndim:
        return False
    pairs = zip(x.shape[x.ndim - part.ndim :], part.shape, strict=True)
    return all(extent in (1, n) or extent != extent or n != n for n, extent in pairs)


def checked_calibration(x: Array, calibration: Any) -> Backend:
    """The backend of x and a calibration. Raises if they do not fit each other."""
    if not isinstance(calibration, Calibration):
        raise TypeError(
            f"xo.quantize: calibration must be the result of xo.calibrate, not {type(calibration).__name__}"
        )
    parts = {f"calibration.{part}": value for part, value in calibration._asdict().items() if value is not None}
    backend = backend_of("quantize", {"x": x, **parts})
    named = backend.functions["dtype_name"]
    fault = None
    if named(calibration.scale.dtype) not in LEAST_SCALE:
        fault = "the scale must be float32 or float64"
    elif calibration.zero is not None and named(calibration.zero.dtype) not in LIMITS:
        fault = "the zero must be int8 or uint8"
    elif not all(_fits(x, part) for part in parts.values()):
        fault = "the scale and the zero must broadcast to the shape of x"
    if fault is not None:
        raise ValueError(f"xo.quantize({described(x, backend)}, {shown('calibration', backend, calibration)}): {fault}")
    return backend


def shown(name: str, backend: Backend, q: Quantized | Calibration) -> str:
    """A quantised array or a calibration, for errors."""
    parts = (
        f"{part} {described(value, backend, device=False)}" for part, value in q._asdict().items() if value is not None
    )
    return f"{name} with {', '.join(parts)}"
