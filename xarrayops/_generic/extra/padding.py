"""pad: values before and after an array, axis by axis, in NumPy's modes."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from xarrayops._generic.extra import common
from xarrayops.plugin.arrays import Array

PERIODIC = ("reflect", "symmetric", "wrap")
STATISTICS = ("maximum", "mean", "median", "minimum")
MODES = ("constant", "edge", "empty", "linear_ramp", *PERIODIC, *STATISTICS)
Pair = tuple[Any, Any]


def pad(
    xp: ModuleType,
    x: Array,
    /,
    pad_width: Any,
    mode: str = "constant",
    *,
    constant_values: Any = 0,
    end_values: Any = 0,
    stat_length: Any = None,
    reflect_type: str = "even",
) -> Array:
    """Axes are padded one after the other, so the corners have values of the axes padded before."""
    widths = pad_widths(x, pad_width, mode, reflect_type)
    is_ramp = mode == "linear_ramp"
    values = pairs("end_values" if is_ramp else "constant_values", end_values if is_ramp else constant_values, x.ndim)
    lengths = pairs("stat_length", stat_length, x.ndim)
    for axis, (width, value, length) in enumerate(zip(widths, values, lengths, strict=True)):
        if width == (0, 0):
            continue
        if mode in PERIODIC:
            before, after = _periodic(xp, x, axis, width, mode, is_odd=reflect_type == "odd")
        else:
            before, after = (_side(xp, x, axis, side, width[side], mode, value[side], length[side]) for side in (0, 1))
        x = xp.concat([each for each in (before, x, after) if each.shape[axis]], axis=axis)
    return x


def pad_widths(x: Array, pad_width: Any, mode: str, reflect_type: str = "even") -> list[tuple[int, int]]:
    """The numbers of values before and after each axis; raises for arguments that are invalid on every library."""
    if mode not in MODES:
        raise ValueError(f"mode={mode!r} is not one of {', '.join(MODES)}")
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"reflect_type={reflect_type!r} is neither 'even' nor 'odd'")
    if isinstance(pad_width, dict):
        by_axis = {common.normal_axis(axis, x.ndim): width for axis, width in pad_width.items()}
        found = [pairs("pad_width", by_axis.get(axis, 0), 1)[0] for axis in range(x.ndim)]
    else:
        found = pairs("pad_width", pad_width, x.ndim)
    widths = [(common.counted("pad_width", before), common.counted("pad_width", after)) for before, after in found]
    if mode not in ("constant", "empty"):
        for axis, width in enumerate(widths):
            if not x.shape[axis] and width != (0, 0):
                raise ValueError(f'axis {axis} of length 0 can be padded by mode="constant" and mode="empty" only')
    return widths


def pairs(name: str, value: Any, ndim: int) -> list[Pair]:
    """A value for both ends of each axis: one for all, one pair for all axes, one value or pair for each axis."""
    if not isinstance(value, (tuple, list)):
        if getattr(value, "ndim", 0):
            return pairs(name, value.tolist(), ndim)
        return [(value, value)] * ndim
    members = [tuple(m) if isinstance(m, (tuple, list)) else m for m in value]
    if all(isinstance(m, tuple) and len(m) in (1, 2) for m in members) and len(members) in (1, ndim):
        both = [(m[0], m[-1]) for m in members]
        return both if len(both) == ndim else both * ndim
    if not any(isinstance(m, tuple) for m in members) and len(members) in (1, 2):
        return [(members[0], members[-1])] * ndim
    raise ValueError(f"{name}={value!r} must be a value, a pair or {ndim} pairs for an array of {ndim} axes")


def _side(
    xp: ModuleType, x: Array, axis: int, side: int, width: int, mode: str, value: Any, length: int | None
) -> Array:
    """The values before (side 0) or after (side 1) an axis, in a mode that looks at one end only."""
    shape = (*x.shape[:axis], width, *x.shape[axis + 1 :])
    if mode in ("constant", "empty"):
        return xp.full(shape, number_for(xp, x, value), dtype=x.dtype, device=common.device_of(x))
    if mode in STATISTICS:
        return xp.broadcast_to(_statistic(xp, x, axis, side, mode, length), shape)
    end = common.part(x, axis, -1, None) if side else common.part(x, axis, 0, 1)
    return xp.broadcast_to(end, shape) if mode == "edge" else _ramp(xp, end, axis, side, width, value)


def number_for(xp: ModuleType, x: Array, value: Any) -> Any:
    """The number as the dtype of x can hold it; fractions are truncated, as in NumPy's assignment."""
    is_fraction = isinstance(value, float) and xp.isdtype(x.dtype, "integral")
    value = value.item() if hasattr(value, "item") else value
    if xp.isdtype(x.dtype, "bool"):
        return bool(value)
    return int(value) if is_fraction else value


def _statistic(xp: ModuleType, x: Array, axis: int, side: int, mode: str, length: int | None) -> Array:
    extent = x.shape[axis]
    n = extent if length is None else min(int(length), extent)
    if n < 1:
        if mode in ("maximum", "minimum") or n < 0:
            raise ValueError(f"stat_length={length} must be positive for mode={mode!r}")
        n = extent if length is None else 0
    chosen = common.part(x, axis, extent - n, extent) if side else common.part(x, axis, 0, n)
    if mode in ("maximum", "minimum"):
        return (xp.max if mode == "maximum" else xp.min)(chosen, axis=axis, keepdims=True)
    is_whole = xp.isdtype(x.dtype, "integral")
    reduced = common.widest(xp, chosen)
    found = (xp.mean if mode == "mean" else xp.median)(reduced, axis=axis, keepdims=True)
    return common.astype(xp, xp.round(found) if is_whole else found, x.dtype)


def _ramp(xp: ModuleType, end: Array, axis: int, side: int, width: int, value: Any) -> Array:
    """A ramp from ``value``, at the outer end, in equal steps up to but excluding the edge."""
    if not width:
        return common.part(end, axis, 0, 0)
    work = common.widest(xp, end)
    real = xp.real(work) if xp.isdtype(work.dtype, "complex floating") else work
    steps = xp.arange(width, dtype=real.dtype, device=common.device_of(end))
    steps = steps if not side else width - 1 - steps
    share = xp.reshape(steps / width, (width, *(1,) * (end.ndim - axis - 1)))
    if xp.isdtype(end.dtype, "integral"):
        found = xp.floor(value + (work - value) * share)
    else:
        found = value * (1 - share) + work * share  # the difference may overflow
    return common.astype(xp, found, end.dtype)


def _periodic(
    xp: ModuleType, x: Array, axis: int, width: tuple[int, int], mode: str, *, is_odd: bool
) -> tuple[Array, Array]:
    """Values taken from the array by index; beyond one period they repeat."""
    n = x.shape[axis]
    if n == 1 and mode != "wrap":  # NumPy repeats a single value
        before, after = (_side(xp, x, axis, side, width[side], "edge", 0, None) for side in (0, 1))
        return before, after
    found = []
    for start, stop in ((-width[0], 0), (n, n + width[1])):
        places = range(start, stop)
        values = _mirrored(xp, x, axis, places, mode)
        is_turned = is_odd and mode != "wrap" and bool(places)
        found.append(_odd(xp, x, values, axis, places, mode) if is_turned else values)
    return found[0], found[1]


def _mirrored(xp: ModuleType, x: Array, axis: int, places: range, mode: str) -> Array:
    """The values for positions outside an axis: a slice or its reverse within one period, else taken by index."""
    n = x.shape[axis]
    if not places or len(places) > n - (mode == "reflect"):
        return xp.take(x, common.indices(xp, [source(p, n, mode) for p in places], x), axis=axis)
    first, last = sorted((source(places[0], n, mode), source(places[-1], n, mode)))
    found = common.part(x, axis, first, last + 1)
    return found if mode == "wrap" else xp.flip(found, axis=axis)


def source(place: int, n: int, mode: str) -> int:
    """The index of the value for a position outside n elements."""
    if mode == "wrap":
        return place % n
    if mode == "symmetric":
        place %= 2 * n
        return min(place, 2 * n - 1 - place)
    place %= 2 * (n - 1)
    return min(place, 2 * (n - 1) - place)


def _odd(xp: ModuleType, x: Array, found: Array, axis: int, places: range, mode: str) -> Array:
    """The reflection at the point of the edge: v becomes edge + (edge - v), and each further period adds its rise."""
    n = x.shape[axis]
    period = 2 * n if mode == "symmetric" else 2 * (n - 1)
    is_reflected = [place % period >= (n if mode == "symmetric" else n - 1) for place in places]
    shape = (len(places), *(1,) * (x.ndim - axis - 1))
    device = common.device_of(x)
    folds = xp.reshape(xp.asarray([place // period for place in places], dtype=x.dtype, device=device), shape)
    mask = xp.reshape(xp.asarray(is_reflected, device=device), shape)
    first, last = common.part(x, axis, 0, 1), common.part(x, axis, n - 1, n)
    rise = xp.where(folds == 0, 0, 2 * folds * (last - first))  # it may overflow where nothing is folded
    return xp.where(mask, last + (last - found), found) + rise
