"""explain for `jit`. Nothing is compiled, and no array is copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.compilation.captured import Captured
from xarrayops._ops.compilation.compilers import compiler_for
from xarrayops._ops.compilation.tokens import NotConstant
from xarrayops._ops.engines import passing
from xarrayops._ops.explanation import Candidate, Explanation, chosen_name
from xarrayops._ops.transformations.arguments import library_of, name_of
from xarrayops.errors import XArrayOpsError
from xarrayops.plugin.arrays import gap_of


def explain_jit(verb: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """The libraries that can compile the function for these arguments, the first one by default.

    Whether the compiler can trace the function is not known before it compiles.
    """
    original = getattr(function, "__wrapped__", function)
    own = library_of(verb, (args, kwargs))
    if own is None:
        return Explanation(verb, "the call has no arrays: the function runs eagerly", (), None)
    listed = tuple(_candidates(own, original, args, kwargs))
    asked = getattr(getattr(function, "programs", None), "engine", None) or own.name
    chosen = chosen_name(tuple(each for each in listed if each.name == f"{asked}:jit"))
    summary = f"{name_of(original)} runs eagerly" if chosen is None else f"{asked} compiles {name_of(original)}"
    return Explanation(verb, summary, listed, chosen)


def _candidates(
    own: Backend, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[Candidate]:
    """The arrays' own library, and the installed libraries with a compiler."""
    for engine in dict.fromkeys((own, *_installed())):
        if engine is not own and gap_of(engine.functions["compiled"]) is not None:
            continue
        compiler = compiler_for(own, engine.name, (args, kwargs), is_required=False)
        reason = compiler.refusal or _constants(function, engine)
        copies = () if reason or engine is own else passing.copies({"args": args, **kwargs}, engine)
        yield Candidate(f"{engine.name}:jit", reason is None, reason or "", copies)


def _installed() -> Iterator[Backend]:
    for name in registry.entry_points():
        with suppress(XArrayOpsError):
            yield find.named(name)


def _constants(function: Callable[..., Any], engine: Backend) -> str | None:
    """Why a variable that the function reads cannot be a constant of compiled code."""
    try:
        Captured(function).version(engine)
    except NotConstant as error:
        return str(error)
    return None
