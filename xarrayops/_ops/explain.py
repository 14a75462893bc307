"""explain: the kernels and copies of a call, with reasons."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from xarrayops._core.backends import known_bugs, registry
from xarrayops._core.dispatch.arguments import roles, signature
from xarrayops._core.dispatch.errors import FAILURES, add_call
from xarrayops._core.modes import tables as modes
from xarrayops._ops.creation import explain_creation
from xarrayops._ops.explained import explain_call, refuse_wrong_arguments
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops._ops.operations.define import defined
from xarrayops._ops.operations.definition import Definition
from xarrayops._ops.verb import Verb
from xarrayops._surface import CREATION, EXTRA, LATE, MAIN_NAMESPACE_ALIASES, SURFACE, TABLES
from xarrayops.errors import Unsupported


def explain(verb: str | Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain a call without running it: which kernel would serve it, why other candidates cannot, and what is copied.

    Parameters
    ----------
    verb : str or function
        The name of the verb, such as "matmul", "linalg.det" or "convert", or the function, ``xo.matmul``.
    *args, **kwargs
        The arguments of the call. For "at" they are x, the index, the operation, the value and ``copy=``:
        ``explain("at", x, index, "add", 1.0)`` explains ``at(x)[index].add(1.0)``. For "jit" they are the function and
        the arguments of its call: ``explain("jit", f, x)``. "export" needs no ``path=``.

    Returns
    -------
    Explanation

    Raises
    ------
    Unsupported
        No verb has that name. Errors of the call itself (mixed libraries, no array, an unknown dtype or device) are
        raised as the call would raise them.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.explain("convert", np.zeros(3), "numpy").action
    'zero-copy'
    >>> print(xo.explain("matmul", np.eye(2), np.eye(2)))
    matmul: numpy serves its own arrays
        candidate     can  why
    ->  numpy:matmul  yes  the library's own function, completed by the backend
    """
    name = verb if isinstance(verb, str) else _name_of(verb)
    if name in defined:
        return _with_known_bugs(defined[name].explain(name, *args, **kwargs))
    if name in MAIN_NAMESPACE_ALIASES:
        name = name.removeprefix("linalg.")
    explainer = _explainer(name)
    if name not in _OF_LATER_CALLS:
        refuse_wrong_arguments(name, _function_of(name), args, kwargs)
    if modes.active():
        from xarrayops._ops.precision.blocks import with_precision  # not needed by `import xarrayops`

        explainer = with_precision(name, explainer)
    try:
        return _with_known_bugs(explainer(name, *args, **kwargs))
    except FAILURES as error:
        if name not in TABLES:  # the functions of these tables name themselves
            add_call(error, name, *_shown(name, args, kwargs))
        raise


def _with_known_bugs(found: Explanation) -> Explanation:
    """The explanation with the known bugs of the libraries of its candidates."""
    libraries = {part for candidate in found.candidates for part in re.split("->|:", candidate.name)}
    loaded = (backend for backend in list(registry.by_module.values()) if backend.name in libraries)
    return found._replace(warnings=tuple(text for backend in loaded for text in known_bugs.unavoided(backend)))


def _shown(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments that an error shows: the arrays, or for a creation function all arguments except the options."""
    options = ("like", "backend") if name in CREATION else ()
    bound = signature(name).bind(*args, **{each: value for each, value in kwargs.items() if each not in options})
    bound.apply_defaults()
    shown: list[Any] = []
    for each, role in roles(name).items():
        shown += bound.arguments[each] if role == "operands" else [bound.arguments[each]]
    return shown or [*bound.args]


def _function_of(name: str) -> Callable[..., Any]:
    """The public function of that name."""
    if name in TABLES:
        return row_of(name).function
    module, _, function = name.rpartition(".")
    home = LATE.get(name) or f"xarrayops.{module or 'standard'}"
    return getattr(import_module(home), function)


def row_of(verb: str) -> Verb:
    """The row of a verb in the table of its family; imports the family."""
    rows: tuple[Verb, ...] = import_module(TABLES[verb]).VERBS
    return next(row for row in rows if row.name == verb)


def _explainer(name: str) -> Callable[..., Explanation]:
    """The function that explains a verb: from the verb's row, or the common one for functions of the standard.

    Raises
    ------
    Unsupported
        No verb has that name, or the verb never chooses among kernels, so there is nothing to explain.
    """
    if name in TABLES:
        explainer = row_of(name).explain
        if explainer is None:
            raise Unsupported(f"xo.explain has nothing to explain for {name!r}: it never chooses among kernels.")
        return explainer
    if name in SURFACE or name in EXTRA:
        return explain_creation if name in CREATION else explain_call
    from difflib import get_close_matches

    explained = [*SURFACE, *EXTRA, *(verb for verb in TABLES if row_of(verb).explain)]
    near = [each for each in explained if each.endswith(f".{name}")] or get_close_matches(name, explained, n=1)
    raise Unsupported(f"xo.explain knows no verb {name!r}{f'; did you mean {near[0]!r}?' if near else '.'}")


def _name_of(function: Callable[..., Any]) -> str:
    """The name of a function of xarrayops, as users write it."""
    name = getattr(function, "__name__", repr(function))
    for verb in TABLES:
        if verb.rpartition(".")[2] == name and row_of(verb).function is function:
            return verb
    definition = getattr(function, "operation", None)
    if isinstance(definition, Definition):
        return definition.name
    extension = getattr(function, "__module__", "").rpartition(".")[2]
    return f"{extension}.{name}" if f"{extension}.{name}" in SURFACE | EXTRA else name


_OF_LATER_CALLS = frozenset(("at", "export", "jit"))
"""The verbs whose explanation takes different arguments than the call."""
VERBS = (Verb("explain", explain, results=(Candidate, Explanation)),)
