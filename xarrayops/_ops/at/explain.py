"""explain for indexed updates: whether x is written in place, or why it is copied."""

from __future__ import annotations

from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.arguments import signature
from xarrayops._ops.at import operands
from xarrayops._ops.explained import explain_call
from xarrayops._ops.explanation import Explanation
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.indexing import Index


def explain_at(verb: str, /, *args: Any, copy: bool | None = True, **kwargs: Any) -> Explanation:
    """Explain an update of x. The arguments are x, the index, the operation and the value."""
    x, index, op, value = signature("update").bind(*args, copy=copy, **kwargs).args
    backend = operands.check(x, index, op, value)[0]
    operands.read(backend, x, index, op)
    if copy is not None and type(copy) is not bool:
        raise operands.wrong_copy(op, copy)
    served = explain_call(verb, *args, copy=copy, **kwargs)
    obstacle = "copy=True" if copy else _obstacle(backend, x, op, value, copy)
    if served.chosen is None or (obstacle is not None and copy is False):
        reason = served.candidates[0].reason if served.chosen is None else obstacle
        refused = tuple(c._replace(ok=False, reason=reason or "") for c in served.candidates)
        return Explanation(verb, f"{backend.name} cannot serve this call", refused, None, "refuse", None, reason)
    action, reason = ("zero-copy", "x is updated in place") if obstacle is None else ("copy", obstacle)
    nbytes = 0 if obstacle is None else _nbytes(backend, x)
    copies = ("copies x" if nbytes is None else f"copies {nbytes} bytes",) if nbytes != 0 else ()
    listed = tuple(c._replace(reason=f"{c.reason}; {reason}", copies=copies) for c in served.candidates)
    return Explanation(verb, f"{action}: {reason}", listed, served.chosen, action, nbytes, reason)


def _obstacle(backend: Backend, x: Array, op: str, value: Any, copy: bool | None) -> str | None:
    """Why an update cannot or, under ``copy=None``, would not write x: a dry run updates no element."""
    f = backend.functions
    nothing = (slice(0, 0),) if x.ndim else (f["asarray"](False, device=f["device"](x)),)
    index = Index(nothing, f, is_basic=x.ndim > 0)
    if hasattr(value, "dtype"):
        value = f["reshape"](value, (-1,))[0:1]
    try:
        f["update"](x, index, op, value, copy=False)
    except Unsupported as error:
        return str(error) if copy is False else str(error).partition(". Instead:")[0]
    kept = copy is False or f["update"](x, index, op, value, copy=None) is x
    return None if kept else "the library does not write x in place here"


def _nbytes(backend: Backend, x: Array) -> int | None:
    memory = backend.functions["memory"](x)
    return None if memory is None else int(memory.nbytes)
