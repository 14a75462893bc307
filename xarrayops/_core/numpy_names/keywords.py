"""The message for a call with arguments that NumPy or PyTorch accepts and our function does not."""

from __future__ import annotations

import inspect
from collections.abc import Container, Iterator, Mapping
from importlib import import_module
from typing import Any

from xarrayops._core.dispatch.arguments import OPTIONS, roles, signature
from xarrayops._core.numpy_names.renamed import RENAMED
from xarrayops._surface import CREATION

RENAMED_KEYWORDS = {
    "a_max": ("max",),
    "a_min": ("min",),
    "ddof": ("correction",),
    "interpolation": ("method",),
    "rcond": ("rtol",),
    "dim": ("axis", "axes"),
    "dims": ("axis", "axes"),
    "keepdim": ("keepdims",),
    "unbiased": ("correction",),
}
"""Our keywords, by the keyword of NumPy or PyTorch. The first one that the function has is used."""
REASONS = {"casting": "test xo.can_cast(x.dtype, dtype) first", "order": 'xo.contiguous(x, order="F") of the result'}
"""The equivalents of keywords that only NumPy's methods have."""


def answer(verb: str, given: dict[str, Any]) -> str:
    """The message for a call. ``given`` has its arguments by name; ``extra`` is an excess positional argument."""
    if verb == "where":
        return "xo.where takes three arguments. Instead of np.where(condition): xo.nonzero(condition)"
    if verb == "squeeze" and given.get("dim") is None:
        return "xo.squeeze needs the axes. Instead: xo.squeeze(x, axis), or xarrayops.numpy.squeeze"
    if "extra" in given:
        return _by_position(verb, given)
    ours = parameters(verb)
    refused = sorted(name for name, value in given.items() if name not in ours and value is not None)
    renamed = [found for name in refused if (found := renamed_keyword(name, ours))]
    theirs = next((name for name, known in _of_numpy(verb) if known.keys() >= {*refused}), None)
    hints = [_listed([f"{name}=" for name in renamed])] if renamed else []
    if theirs is not None:
        hints.append(f"xarrayops.numpy.{theirs}, which has {'it' if len(refused) == 1 else 'them'}")
    elif not renamed:
        hints.append(" and ".join(REASONS[name] for name in refused if name in REASONS))
    remark = _remark(verb, given) if "dim" in refused else ""
    return f"xo.{verb} has no {_listed([f'{name}=' for name in refused])}. Instead: {', or '.join(hints)}{remark}"


def renamed_keyword(name: str, ours: Container[str]) -> str | None:
    """Our keyword for one of NumPy or PyTorch; None if the function has none."""
    return next((option for option in RENAMED_KEYWORDS.get(name, ()) if option in ours), None)


def _remark(verb: str, given: dict[str, Any]) -> str:
    """How PyTorch's function differs if it gets an axis."""
    if verb in ("std", "var") and not given.get("correction") and given.get("unbiased") is None:
        return "; PyTorch's default is correction=1, and ours is 0"
    if verb in ("max", "min", "sort"):
        indices = f"arg{verb}"
        return f"; it returns the values, and xo.{indices} the indices"
    return ""


def _by_position(verb: str, given: dict[str, Any]) -> str:
    """The message for an excess positional argument, which Python passed as ``extra``."""
    ours = parameters(verb)
    places = _by_place(ours)
    if "arrays" in roles(verb).values() and hasattr(given["extra"], "shape"):
        return f"xo.{verb} takes one sequence of arrays: xo.{verb}([x1, x2])"
    if places[-1] == "shape" and type(given["extra"]) is int:
        return f"xo.{verb} takes the shape as one tuple, such as {(given['shape'], given['extra'])}"
    options = _listed([f"{name}=" for name in ours if name not in places])
    theirs = next((name for name, known in _of_numpy(verb) if len(_by_place(known)) > len(places)), None)
    by_position = "" if theirs is None else f"; xarrayops.numpy.{theirs} takes NumPy's arguments"
    return f"xo.{verb} takes {options} by keyword{by_position}"


def _by_place(known: Mapping[str, inspect.Parameter]) -> list[str]:
    """The parameters that accept a positional argument."""
    return [name for name, p in known.items() if p.kind is not p.KEYWORD_ONLY]


def _of_numpy(verb: str) -> Iterator[tuple[str, Mapping[str, inspect.Parameter]]]:
    """The functions of `xarrayops.numpy` for a verb, each with its parameters."""
    for name in (verb, *(theirs for theirs, ours in RENAMED.items() if ours == verb)):
        found: Any = import_module("xarrayops.numpy")
        for part in name.split("."):
            found = getattr(found, part, None)
        if callable(found):
            yield name, inspect.signature(found).parameters


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def parameters(verb: str) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function, with those that select the library and the option that we add."""
    ours = {name: _with_default(p) for name, p in signature(verb).parameters.items()}
    more = ("like", "backend") if verb in CREATION else OPTIONS.get(verb, ())[:1]
    return ours | {name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in more}


def _with_default(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter of a hook has no default, because hooks get all options: it is None, or False."""
    if parameter.kind is not parameter.KEYWORD_ONLY or parameter.default is not parameter.empty:
        return parameter
    return parameter.replace(default=False if parameter.annotation == "bool" else None)
