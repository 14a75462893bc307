"""The candidates of a call, and a call made of its description."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._core.backends import entry_points, find, registry
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch import lookup
from xarrayops._ops.choices.calls import Description, made_of
from xarrayops._ops.engines.chosen import named_candidate
from xarrayops._ops.engines.explaining import candidates_of
from xarrayops._ops.engines.functions import SERVED
from xarrayops._ops.engines.serving import by_table
from xarrayops.bench.workload import native_dtype
from xarrayops.plugin import Array
from xarrayops.plugin.candidates import Call, refusal


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_EXACT = _set("""
abs add argmax argmin argsort astype bitwise_and bitwise_or bitwise_xor ceil compress concat count_nonzero
divide equal floor greater greater_equal less less_equal logical_and logical_not logical_or maximum minimum
multiply negative nonzero not_equal pad permute_dims relayout repeat roll round searchsorted sign sort sqrt
square stack subtract take take_along_axis tile tril triu trunc unique_values where
""")
"""The verbs whose values the standard determines to the last bit: results are checked to be equal as well."""
DOMAINS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("acos", "asin", "atanh"), np.tanh),
    **dict.fromkeys(("log", "log10", "log1p", "log2", "pow", "sqrt"), np.abs),
    "acosh": np.cosh,
}
"""What brings random numbers into the domain of a function: calls that return NaN may take ten times as long."""
_SPECIAL = np.asarray([0.0, np.nan, np.inf, 1e-310, 1e-40, 1e-30, 1e30, 1.0])
_TINY = np.asarray([0.0, 1e-310, -0.0, 3e-310, -1e-40, 1e-40, 2e-40])
Served = Callable[..., Any]


class Candidates:
    """The function of the default and those of the other candidates, by name, with the arguments of the call."""

    def __init__(self, description: Description) -> None:
        self.verb = verb = description["verb"]
        own = find.named(description["library"])
        random, places = np.random.default_rng(0), count()
        self.args, self.kwargs = made_of(description, own, lambda part: made(part, own, random, next(places), verb))
        args, kwargs = tuple(self.args), self.kwargs
        function, function_of = _served(self.verb, own, args, kwargs)
        listed = [kernel for kernel in own.kernels(self.verb) if refusal(kernel, Call(args, kwargs)) is None]
        names = [f"{own.name}:{kernel[0]}" for kernel in listed] or [f"{own.name}:{self.verb}"]
        self.default, self.function = names[0], function
        able = [kernel for kernel in own.alternatives(self.verb) if refusal(kernel, Call(args, kwargs)) is None]
        names += [f"{own.name}:{kernel[0]}" for kernel in able]
        self._same = {f"{own.name}:{kernel[0]}" for kernel in able if getattr(kernel[1], "has_same_values", False)}
        for engine in engines(own):
            names += [each.name for each in candidates_of(self.verb, own, engine, args, kwargs) if each.ok]
        self.others = {name: named_candidate(self.verb, own, function_of, name) for name in names[1:]}

    def is_exact(self, name: str, results: list[Array], others: list[Array]) -> bool:
        """Whether a candidate may serve where values must not change."""
        is_able = self.verb in _EXACT or name in self._same
        return is_able and all(_bits(a) == _bits(b) for a, b in zip(results, others, strict=False))


def engines(own: Backend) -> list[Backend]:
    """The other installed libraries."""
    found = []
    for name in entry_points.names():
        status = registry.status(name)
        if status.available and status.backend is not None and status.backend is not own:
            found.append(status.backend)
    return found


def _served(
    verb: str, own: Backend, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Served, Callable[[Backend], Served]]:
    """The function of the library for a call, and what returns the function of another one."""
    if verb not in SERVED:
        return own.functions[verb], lambda engine: engine.functions[verb]
    key = lookup.key_of(verb, args, kwargs)
    return lookup.function_without_modes(verb, key), partial(by_table, verb, own, key)


def made(part: dict[str, Any], own: Backend, random: np.random.Generator, place: int = 0, verb: str = "") -> Array:
    """An array of a description: random numbers in the domain of the verb, ties and special values.

    ``place`` is the position of the argument.
    """
    shape, dtype = part["shape"], part["dtype"]
    if dtype == "bool":
        values = random.random(shape) < 0.5
    elif dtype.startswith(("int", "uint")):
        values = random.integers(0, max(1, min(127, *(n for n in shape if n))) if shape else 1, shape).astype(dtype)
    else:
        values = random.standard_normal(shape)
        values = np.asarray(DOMAINS.get(verb, np.asarray)(values)).astype(native_dtype(dtype))
        _put_special(values, place)
    return _laid_out(values, part["layout"], own)


def _put_special(values: np.ndarray[Any, Any], place: int) -> None:
    """Write special values: each with each other one of the next argument, and lines of zeros and subnormal numbers."""
    both = np.concatenate([_SPECIAL, -_SPECIAL])
    pairs = np.tile(both, len(both)) if place % 2 else np.repeat(both, len(both))
    few = min(len(pairs), values.size)
    with np.errstate(all="ignore"):
        values.reshape(-1)[:few] = pairs[:few].astype(values.dtype)
        if values.ndim > 1:
            for line in (values[..., -1, :], values[..., -1]):
                line[...] = np.resize(_TINY, line.shape[-1]).astype(values.dtype)


def _laid_out(values: np.ndarray[Any, Any], layout: str, own: Backend) -> Array:
    if layout.startswith("F"):
        moved = xo.convert(np.ascontiguousarray(values.T), own.name, copy=True)
        return xo.permute_dims(moved, tuple(reversed(range(values.ndim))))
    if layout.startswith(("strided", "negative")) and values.ndim:
        wide = xo.convert(np.repeat(values, 2, axis=-1), own.name, copy=True)
        return wide[..., ::-2] if layout.startswith("negative") else wide[..., ::2]
    x = xo.convert(values, own.name, copy=True)
    if own.name == "numpy" and layout.endswith("read-only"):
        x.flags.writeable = False
    return x


def _bits(x: Array) -> bytes:
    found = np.asarray(xo.convert(x, "numpy"))
    return bytes(f"{found.dtype}{found.shape}", "ascii") + _one_nan(found).tobytes()


def _one_nan(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array with one kind of NaN: the standard does not determine its bits."""
    return np.where(np.isnan(x), np.asarray(np.nan, dtype=x.dtype), x) if x.dtype.kind in "fc" else x
