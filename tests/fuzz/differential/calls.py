"""Calls of the public names of `xarrayops.numpy`, drawn from NumPy's signatures."""

from __future__ import annotations

import inspect
import zlib
from typing import Any

import numpy

import xarrayops.numpy as ours
from tests.fuzz.differential import arguments, parameters, whole
from tests.fuzz.differential.draw import Call, Draw

MODULES = ("", "fft", "linalg")
METHODS = ("reduce", "accumulate", "reduceat", "outer")
"""The methods of ufuncs of two operands that are called too; `at` is in the table of whole calls."""

NOT_CALLED = {
    "ndarray": "NumPy's constructor takes memory; ours is for isinstance only",
    "from_dlpack": "it converts from other libraries, which NumPy cannot",
    **dict.fromkeys(("errstate", "seterr", "geterr"), "it sets what NumPy does with floating-point errors"),
    **dict.fromkeys(("empty", "empty_like"), "the values are undefined"),
    **dict.fromkeys(("shares_memory", "may_share_memory"), "copies for a library share no memory"),
    **dict.fromkeys(
        ("generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating", "complexfloating"),
        "an abstract class, which the calls of issubdtype use",
    ),
    "ufunc": "a class, which has no public constructor",
    "random.Generator": "NumPy's constructor takes a bit generator",
}
"""The names that are not called, and why."""


NEWER = frozenset((function, "descending") for function in ("sort", "argsort"))
"""Parameters of NumPy 2.5, which the supported older releases do not have."""


def names() -> list[str]:
    """Every public name of `xarrayops.numpy`, and the methods of ufuncs of two operands."""
    found = []
    for module in MODULES:
        where = getattr(ours, module) if module else ours
        for name in dir(where):
            if name.startswith("_") or inspect.ismodule(getattr(where, name)) or not _has_numpy(module, name):
                continue
            found.append(f"{module}.{name}" if module else name)
            function = getattr(where, name)
            if not module and isinstance(function, ours.ufunc) and _has_methods(name):
                found += [f"{name}.{method}" for method in METHODS]
    return found + [f"random.{name}" for name in parameters.RANDOM]


def _has_numpy(module: str, name: str) -> bool:
    """Whether this NumPy has the name: some that NumPy removed remain in `xarrayops.numpy`."""
    return hasattr(getattr(numpy, module) if module else numpy, name)


def _has_methods(name: str) -> bool:
    """Whether a function takes two operands of one dtype, elementwise; ldexp takes an integer beside a number."""
    function = getattr(numpy, name)
    return (function.nin, function.nout, function.signature) == (2, 1, None) and name != "ldexp"


def draw_call(name: str, seed: int) -> Call | None:
    """The call of a name for a seed; None if the name is not called."""
    rng = numpy.random.default_rng([seed, zlib.crc32(name.encode())])
    d = Draw(name, rng)
    d.style = d.one_of(*("plain",) * 5, "ties", "ties", "special", "special", "extreme")
    if name in whole.CALLS:
        expression = whole.CALLS[name](d)
        return Call(name, (), d.operands, expression).pruned()
    function = _of_numpy(name)
    if name in NOT_CALLED or not callable(function):
        return None
    chosen: list[tuple[str, str]] = []
    is_positional = True
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD or (name, parameter.name) in NEWER:
            continue
        required = parameter.default is parameter.empty
        if not required and not d.chance(0.3):
            is_positional = False
            continue
        code = arguments.argument(d, name, parameter.name)
        if code is None:
            is_positional = False
            continue
        d.given[parameter.name] = code
        if parameter.kind is parameter.VAR_POSITIONAL:
            if code:
                chosen.append(("", code))
        elif parameter.kind is parameter.KEYWORD_ONLY or (
            parameter.kind is not parameter.POSITIONAL_ONLY and not (is_positional and (required or d.chance(0.3)))
        ):
            is_positional = False
            chosen.append((parameter.name, code))
        elif is_positional:
            chosen.append(("", code))
    call = Call(name, tuple(chosen), d.operands)
    return arguments.with_out(d, call.pruned(), function)


def _of_numpy(name: str) -> Any:
    found: Any = numpy
    for part in name.split("."):
        found = getattr(found, part)
    return found
