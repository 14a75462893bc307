"""Whether a compiled or an exported function gives what the function gives.

The allowed difference is that of `xarrayops._host.budget`. The spread is that of the results where the arguments are
rounded at random in their last place; it is measured only where the results differ by more than the rounding of the
largest element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops._core.backends import registry
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.nested import arrays_in, fill, is_array, leaves

_SAMPLES = 4
_NARROW = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float8_e4m3fn": 2.0**-3, "float8_e5m2": 2.0**-2}
_EPS = _NARROW | {"float32": 2.0**-23, "complex64": 2.0**-23, "float64": 2.0**-52, "complex128": 2.0**-52}


def copied(arguments: Any) -> Any:
    """The arguments with copies of the arrays that could be written."""
    return fill(arguments, lambda x: _copy(x) if is_array(x) else x)


def _copy(x: Array) -> Array:
    own = registry.backend_of(x)
    return x if own.immutable else own.functions["asarray"](x, copy=True)


def first_written(before: Any, after: Any) -> str | None:
    """The name of the first array whose values a call changed; None if there is none."""
    for (name, x), (_, y) in zip(arrays_in(before), arrays_in(after), strict=True):
        if x is not y and host(x).tobytes() != host(y).tobytes():
            return name
    return None


def host(x: Array) -> Any:
    """The values in host memory; narrow floating-point numbers as float32."""
    functions = registry.backend_of(x).functions
    if functions["dtype_name"](x.dtype) in _NARROW:
        x = functions["astype"](x, functions["as_dtype"]("float32"))
    return functions["to_numpy"](x)


def _eps(x: Array) -> float:
    """The distance of 1 and the next number of a floating-point or complex dtype; 0 for other dtypes."""
    return _EPS.get(registry.backend_of(x).functions["dtype_name"](x.dtype) or "", 0.0)


def difference(
    want: Any,
    got: Any,
    repeated: Callable[[Any], Any] | None = None,
    arguments: Any = None,
    *,
    of_each: bool = False,
) -> str | None:
    """How results differ from those of the function; None if they agree.

    ``repeated(arguments)`` gives the results of the function for other arguments; without it no spread is measured.
    With ``of_each`` small elements must agree too where the largest one has more rounding.
    """
    expected, found = list(leaves(want)), list(leaves(got))
    if len(expected) != len(found):
        return f"it returns {len(found)} values instead of {len(expected)}"
    far: list[int] = []
    for i, (x, y) in enumerate(zip(expected, found, strict=True)):
        if not is_array(x) or not is_array(y):
            if is_array(x) or is_array(y) or not is_same(x, y):
                return f"result {i} is {_shown(y)} instead of {_shown(x)}"
            continue
        text = _kinds_differ(x, y)
        if text is not None:
            return f"result {i} {text}"
        if not _is_near(x, y, 0.0, of_largest=not of_each):
            far.append(i)
    if not far:
        return None
    spreads = dict.fromkeys(far, 0.0) if repeated is None else _spreads(expected, far, repeated, arguments)
    for i in far:
        if not _is_near(expected[i], found[i], spreads[i], of_largest=False):
            return f"result {i} {_worst(host(expected[i]), host(found[i]), _eps(expected[i]), spreads[i])}"
    return None


def is_same(x: Any, y: Any) -> bool:
    """Whether two constants are of one class and equal, or both NaN."""
    return type(x) is type(y) and bool(x == y or (x != x and y != y))


def _shown(value: Any) -> str:
    return f"an array of shape {tuple(value.shape)}" if is_array(value) else repr(value)


def _kinds_differ(x: Array, y: Array) -> str | None:
    """How shape or dtype differ."""
    if tuple(x.shape) != tuple(y.shape):
        return f"has shape {tuple(y.shape)} instead of {tuple(x.shape)}"
    if x.dtype != y.dtype:
        return f"has dtype {y.dtype} instead of {x.dtype}"
    return None


def _is_near(x: Array, y: Array, spread: Any, *, of_largest: bool) -> bool:
    """Whether the values are as near as rounding allows: of each element, or of the largest one."""
    import numpy as np

    from xarrayops._host.budget import beyond, wide

    want, got, size = host(x), host(y), None
    if of_largest and _eps(x):
        sizes = np.abs(wide(want))
        finite = np.isfinite(sizes)
        size = np.where(finite, sizes[finite].max(), sizes) if finite.any() else None
    return not np.any(beyond(want, got, spread, eps=_eps(x), size=size))


def _spreads(expected: list[Any], far: list[int], repeated: Callable[[Any], Any], arguments: Any) -> dict[int, Any]:
    """How far the results are apart when the arguments are rounded at random in their last place."""
    import numpy as np

    from xarrayops._host.budget import wide

    random = np.random.default_rng(0)
    spreads: dict[int, Any] = dict.fromkeys(far, 0.0)

    def rounded(x: Any) -> Any:
        if not is_array(x):
            return x
        own, values, eps = registry.backend_of(x), host(x), _eps(x)
        if not eps:
            return copied(x)
        moved = np.asarray(values * (1 + eps * random.choice([-1.0, 0.0, 1.0], values.shape))).astype(values.dtype)
        return own.functions["astype"](own.functions["from_numpy"](moved, own.functions["device"](x)), x.dtype)

    for _ in range(_SAMPLES):
        others = list(leaves(repeated(fill(arguments, rounded))))
        for i in far:
            with np.errstate(all="ignore"):
                distance = np.abs(wide(host(others[i])) - wide(host(expected[i])))
            spreads[i] = np.fmax(spreads[i], distance)
    return spreads


def _worst(want: Any, got: Any, eps: float, spread: Any) -> str:
    """Text about the element that differs most."""
    from xarrayops._host.budget import beyond, farthest

    at = farthest(want, got, beyond(want, got, spread, eps=eps))
    return f"is {got[at]} at {list(at)} instead of {want[at]}"
