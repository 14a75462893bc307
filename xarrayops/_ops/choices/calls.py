"""The description of a call as plain data, from which a similar call can be made, and its key in the store.

An array is described by shape, dtype and layout. The key has extents in half-octaves, so that calls of about the same
size share it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.arguments import signature
from xarrayops.plugin.arrays import Memory, Record, compact_strides
from xarrayops.plugin.nested import is_array

Description = dict[str, Any]
_PLAIN = (bool, int, str, type(None))
_NUMBERS = (float, complex)
_RECORDS = "xarrayops.plugin."
"""The modules whose records may be arguments."""


class NotDescribed(Exception):
    """A call has an argument that cannot be described, such as a function or a sparse container."""


class Key(Record):
    """The key of a call: ``kind`` has all but the sizes, ``extents`` the half-octaves of all extents, in order."""

    kind: str
    extents: tuple[int, ...]


def describe(verb: str, own: Backend, plain: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Description:
    """The description of a call; ``plain`` is the class of the library's arrays. Raises `NotDescribed`."""

    def part(value: Any) -> Any:
        kind = type(value)
        if kind is plain:
            return _array(own, value)
        if kind in _PLAIN:
            return value
        if kind in _NUMBERS:
            return {"number": kind.__name__}
        if kind.__module__.startswith(_RECORDS) and hasattr(kind, "_fields"):
            return {"record": f"{kind.__module__}:{kind.__name__}", "fields": list(map(part, value))}
        if kind in (tuple, list):
            return {kind.__name__: list(map(part, value))}
        name = None if is_array(value) else own.functions["dtype_name"](value)
        if name is None:
            raise NotDescribed(kind.__name__)
        return {"dtype of": name}

    args, kwargs = _without_defaults(verb, args, kwargs)
    named = {name: part(value) for name, value in sorted(kwargs.items())}
    return {"verb": verb, "library": own.name, "args": list(map(part, args)), "kwargs": named}


def _without_defaults(
    verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same call for each way to write it: options by keyword, and only those that differ from their defaults."""
    try:
        bound = signature(verb).bind(*args, **kwargs)
    except (KeyError, TypeError, ValueError):  # a hook has no signature
        return args, kwargs
    listed: list[Any] = []
    named = {}
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            listed += value
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            listed.append(value)
        elif type(value) is not type(parameter.default) or value != parameter.default:
            named[name] = value
    return tuple(listed), named


def _array(own: Backend, x: Any) -> dict[str, Any]:
    name, memory = own.functions["dtype_name"](x.dtype), own.functions["memory"](x)
    if name is None or memory is None:
        raise NotDescribed("an array without memory that other libraries can see")
    found = {"shape": list(x.shape), "dtype": name, "layout": _layout(memory)}
    return found | ({} if memory.device == "cpu" else {"device": memory.device})


def _layout(memory: Memory) -> str:
    """C (compact), F (compact, the axes reversed), negative (a stride is), or strided; read-only arrays say so."""
    if memory.is_compact:
        found = "C"
    elif memory.strides == tuple(reversed(compact_strides(memory.shape[::-1], memory.itemsize))):
        found = "F"
    else:
        found = "negative" if any(stride < 0 for stride in memory.strides) else "strided"
    return f"{found}, read-only" if memory.readonly else found


def key_of(description: Description) -> Key:
    """The key of a description."""
    extents: list[int] = []

    def without_extents(value: Any) -> Any:
        if isinstance(value, dict) and "shape" in value:
            extents.extend(map(half_octave, value["shape"]))
            return {**value, "shape": len(value["shape"])}
        if isinstance(value, dict):
            return {name: without_extents(member) for name, member in value.items()}
        return list(map(without_extents, value)) if isinstance(value, list) else value

    kind = json.dumps(without_extents(description), sort_keys=True)
    return Key(kind, tuple(extents))


def is_description(value: Any) -> bool:
    """Whether a value that was read from a file describes a call."""
    if not isinstance(value, dict) or not {"verb", "library", "args", "kwargs"} <= value.keys():
        return False
    try:
        key_of(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return isinstance(value["args"], list) and isinstance(value["kwargs"], dict)


def half_octave(extent: int) -> int:
    """A number that grows by 1 when an extent grows by a factor of about the square root of 2; exact for 0 and 1."""
    return extent if extent < 2 else (extent * extent).bit_length()


def least_size(description: Description) -> int:
    """The least number of elements of the first array in calls that share the key of a description."""
    shape = next((part["shape"] for part in arrays_of(description)), ())
    return math.prod(n if n < 2 else math.isqrt(2 ** (half_octave(n) - 1) - 1) + 1 for n in shape)


def made_of(description: Description, own: Backend, make: Callable[[dict[str, Any]], Any]) -> tuple[list[Any], Any]:
    """The arguments and the keywords of a call like the described one; ``make`` makes an array of its description."""

    def value(part: Any) -> Any:
        match part:
            case {"shape": _}:
                return make(part)
            case {"number": kind}:
                return 1.5 if kind == "float" else 1.5j
            case {"record": place, "fields": fields}:
                module, _, name = place.partition(":")
                if not module.startswith(_RECORDS):
                    raise NotDescribed(place)
                return getattr(import_module(module), name)(*map(value, fields))
            case {"tuple": members}:
                return tuple(map(value, members))
            case {"list": members}:
                return list(map(value, members))
            case {"dtype of": name}:
                return own.native_dtype(name)
        return part

    return [value(each) for each in description["args"]], {n: value(x) for n, x in description["kwargs"].items()}


def arrays_of(description: Any) -> Iterator[dict[str, Any]]:
    """The descriptions of the arrays of a call."""
    if isinstance(description, dict) and "shape" in description:
        yield description
    elif isinstance(description, (dict, list)):
        for member in description.values() if isinstance(description, dict) else description:
            yield from arrays_of(member)


def shown(description: Description) -> str:
    """The call as a person reads it: ``sort(float32[1000, 1000], axis=0) on numpy``."""
    arguments = [_shown(each) for each in description["args"]]
    arguments += [f"{name}={_shown(each)}" for name, each in description["kwargs"].items()]
    return f"{description['verb']}({', '.join(arguments)}) on {description['library']}"


def _shown(part: Any) -> str:
    match part:
        case {"shape": shape, "dtype": dtype, "layout": layout}:
            return f"{dtype}{shape}{'' if layout == 'C' else f' {layout}'}"
        case {"number": kind}:
            return str(kind)
        case {"record": place, "fields": fields}:
            return f"{place.rpartition(':')[2]}({', '.join(map(_shown, fields))})"
        case {"tuple": members} | {"list": members}:
            return f"({', '.join(map(_shown, members))})"
        case {"dtype of": name}:
            return str(name)
    return repr(part)
