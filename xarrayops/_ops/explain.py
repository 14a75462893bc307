"""explain: what a call would do, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops._ops.creation import explain_creation
from xarrayops._ops.explanation import Candidate, Explanation, explain_call
from xarrayops._ops.verb import Verb
from xarrayops._ops.verbs import VERBS as TABLE
from xarrayops._protocol.surface import CREATION, MAIN_NAMESPACE_ALIASES, SURFACE
from xarrayops.errors import Unsupported


def explain(verb: str | Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """What a call would run, what was rejected and why, and what would be copied; nothing runs.

    Parameters
    ----------
    verb : str or function
        The verb as users write it, "matmul", "linalg.det", "convert" …, or the function itself, ``xo.matmul``.
    *args, **kwargs
        The arguments that the verb would be called with. For "at" they are x, the index, the operation, the value, and
        ``copy=``: ``explain("at", x, index, "add", 1.0)`` explains ``at(x)[index].add(1.0)``.

    Returns
    -------
    Explanation

    Raises
    ------
    Unsupported
        No verb has that name. Errors of the call itself (mixed libraries, no array, an unknown dtype or device) are
        raised as it would raise them.

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
    if name in MAIN_NAMESPACE_ALIASES:
        name = name.removeprefix("linalg.")
    return _explaining(name)(name, *args, **kwargs)


def _explaining(name: str) -> Callable[..., Explanation]:
    """What explains a verb: what its row says, and one rule for the functions of the standard.

    Raises
    ------
    Unsupported
        No verb has that name, or none of its calls has a choice to explain.
    """
    row = TABLE.get(name)
    if row is not None and row.explain is not None:
        return row.explain
    if row is not None:
        raise Unsupported(f"xo.explain has nothing to explain for {name!r}: its calls have no choice of kernel.")
    if name in SURFACE:
        return explain_creation if name in CREATION else explain_call
    from difflib import get_close_matches

    explained = [*SURFACE, *(each for each, row in TABLE.items() if row.explain)]
    near = [each for each in explained if each.endswith(f".{name}")] or get_close_matches(name, explained, n=1)
    raise Unsupported(f"xo.explain knows no verb {name!r}{f'; did you mean {near[0]!r}?' if near else '.'}")


def _name_of(function: Callable[..., Any]) -> str:
    """The name of one of our functions, as users write it."""
    for row in TABLE.values():
        if row.function is function:
            return row.name
    extension = getattr(function, "__module__", "").rpartition(".")[2]
    name = getattr(function, "__name__", repr(function))
    return f"{extension}.{name}" if f"{extension}.{name}" in SURFACE else name


VERBS = (Verb("explain", explain, results=(Candidate, Explanation)),)
