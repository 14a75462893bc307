"""explain: what a call would run and copy, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops import fft, linalg, standard
from xarrayops._core.dispatch.arguments import roles, signature
from xarrayops._core.dispatch.errors import FAILURES, add_call
from xarrayops._core.modes import tables as modes
from xarrayops._ops.creation import explain_creation
from xarrayops._ops.explained import explain_call, refuse_wrong_arguments
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops._ops.extended import module_of
from xarrayops._ops.operations.define import defined
from xarrayops._ops.operations.definition import Definition
from xarrayops._ops.verb import Verb
from xarrayops._ops.verbs import VERBS as TABLE
from xarrayops._surface import CREATION, EXTENDED, MAIN_NAMESPACE_ALIASES, SURFACE
from xarrayops.errors import Unsupported


def explain(verb: str | Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain a call without running it: what would serve it, which candidates cannot and why, and what is copied.

    Parameters
    ----------
    verb : str or function
        The name of the verb as users write it, "matmul", "linalg.det", "convert" …, or the function, ``xo.matmul``.
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
        return defined[name].explain(name, *args, **kwargs)
    if name in MAIN_NAMESPACE_ALIASES:
        name = name.removeprefix("linalg.")
    explainer = _explainer(name)
    if name not in _OF_LATER_CALLS:
        refuse_wrong_arguments(name, _function_of(name), args, kwargs)
    if modes.active():
        from xarrayops._ops.precision.explain import with_precision  # not needed by `import xarrayops`

        explainer = with_precision(name, explainer)
    try:
        return explainer(name, *args, **kwargs)
    except FAILURES as error:
        if name not in TABLE:  # the functions of this table name themselves
            add_call(error, name, *_shown(name, args, kwargs))
        raise


def _shown(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments that an error of the call shows: its arrays, or all but the options of a creation function."""
    options = ("like", "backend") if name in CREATION else ()
    bound = signature(name).bind(*args, **{each: value for each, value in kwargs.items() if each not in options})
    bound.apply_defaults()
    shown: list[Any] = []
    for each, role in roles(name).items():
        shown += bound.arguments[each] if role == "operands" else [bound.arguments[each]]
    return shown or [*bound.args]


def _function_of(name: str) -> Callable[..., Any]:
    """The function that users call, by its name."""
    if name in TABLE:
        return TABLE[name].function
    module, _, function = name.rpartition(".")
    is_extended = not module and name in EXTENDED
    home = module_of(name) if is_extended else {"linalg": linalg, "fft": fft}.get(module, standard)
    found: Callable[..., Any] = getattr(home, function)
    return found


def _explainer(name: str) -> Callable[..., Explanation]:
    """The function that explains a verb: from the verb's row, or the common one for functions of the standard.

    Raises
    ------
    Unsupported
        No verb has that name, or the verb never chooses among kernels, so there is nothing to explain.
    """
    row = TABLE.get(name)
    if row is not None and row.explain is not None:
        return row.explain
    if row is not None:
        raise Unsupported(f"xo.explain has nothing to explain for {name!r}: it never chooses among kernels.")
    if name in SURFACE or name in EXTENDED:
        return explain_creation if name in CREATION else explain_call
    from difflib import get_close_matches

    explained = [*SURFACE, *EXTENDED, *(each for each, row in TABLE.items() if row.explain)]
    near = [each for each in explained if each.endswith(f".{name}")] or get_close_matches(name, explained, n=1)
    raise Unsupported(f"xo.explain knows no verb {name!r}{f'; did you mean {near[0]!r}?' if near else '.'}")


def _name_of(function: Callable[..., Any]) -> str:
    """The name of a function of xarrayops, as users write it."""
    for row in TABLE.values():
        if row.function is function:
            return row.name
    definition = getattr(function, "operation", None)
    if isinstance(definition, Definition):
        return definition.name
    extension = getattr(function, "__module__", "").rpartition(".")[2]
    name = getattr(function, "__name__", repr(function))
    return f"{extension}.{name}" if f"{extension}.{name}" in SURFACE | EXTENDED else name


_OF_LATER_CALLS = frozenset(("at", "export", "jit"))
"""The verbs whose explanation takes other arguments: those of a call of what they return, or no path."""
VERBS = (Verb("explain", explain, results=(Candidate, Explanation)),)
