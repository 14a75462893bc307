"""The interface of `xarrayops.numpy`: its names and signatures."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from types import ModuleType

import xarrayops.numpy as ours


@cache
def has(name: str, owner: object = ours) -> bool:
    """Whether xarrayops.numpy, or another module, has one of NumPy's names, which may be dotted."""
    for part in name.split("."):
        is_listed = not isinstance(owner, ModuleType) or part in dir(owner)  # not ``np.__file__``, which modules have
        if not is_listed or not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True


@cache
def signature(name: str) -> inspect.Signature | None:
    """The signature of a function by its NumPy name; None if it has none."""
    function = attrgetter(name)(ours) if has(name) else type
    try:
        return None if isinstance(function, type) else inspect.signature(function)
    except (TypeError, ValueError):
        return None


def parameters(name: str) -> tuple[str, ...]:
    """The names of the parameters of a function; empty without a signature."""
    found = signature(name)
    return () if found is None else tuple(found.parameters)


def refusal(name: str, arguments: Sequence[ast.expr | None], keywords: Sequence[ast.keyword]) -> str | None:
    """Why a function does not take these arguments; None if it does, or if that is not known."""
    taken = signature(name)
    unpacked = any(isinstance(each, ast.Starred) for each in arguments) or any(each.arg is None for each in keywords)
    if taken is None or unpacked:
        return None
    try:
        taken.bind(*arguments, **{str(each.arg): each.value for each in keywords})
    except TypeError as error:
        return str(error)
    return None
