"""The explanations of the sparse verbs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xarrayops._core.backends import find
from xarrayops._ops.engines.explain import with_engines
from xarrayops._ops.engines.functions import SPARSE
from xarrayops._ops.exchange.convert import explain_convert
from xarrayops._ops.explained import explain_call
from xarrayops._ops.explanation import Explanation, candidates, chosen_name
from xarrayops._ops.sparse.convert import plan_sparse_convert
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.sparse import Container

if TYPE_CHECKING:
    from xarrayops._core.backends.sparse_backend import SparseBackend


def explain_prepared(function: Callable[..., Any]) -> Callable[..., Explanation]:
    """The explanation of a verb made by `sparse_verb`: its ``prepare`` gives the backend and the arguments."""

    def explain(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
        sparse, arguments = vars(function)["prepare"](*args, **kwargs)
        return _explain_kernels(verb, sparse, function.__name__, *arguments)

    return explain


def explain_sparse_convert(
    verb: str, s: Container, /, format: Any = None, backend: Any = None, *, block: Any = None
) -> Explanation:
    """The kernels that change the format; if it does not change, how the arrays are converted."""
    plan = plan_sparse_convert(s, format, backend, block=block)
    there = plan.target.backend.name
    if plan.at != "source":
        found = explain_convert(verb, s, there)
        return (
            found._replace(summary=f"{found.summary}; then {there} converts it to {plan.format}") if plan.at else found
        )
    found = _explain_kernels(verb, plan.source, "convert", s, plan.format, block)
    if plan.source is plan.target:
        return found._replace(summary=f"{found.summary}, in new arrays")
    way = f"{plan.source.backend.name}->{there}"
    return found._replace(summary=f"{found.summary}, in new arrays; then {way}, array by array")


def explain_matmul(verb: str, /, *args: Any) -> Explanation:
    """The kernels that serve a product: kernels of sparse containers if an operand is sparse."""
    sparse = next(filter(None, map(find.sparse_of, args)), None)
    return explain_call(verb, *args) if sparse is None else _explain_kernels(verb, sparse, "matmul", *args)


def _explain_kernels(verb: str, sparse: SparseBackend, name: str, *arguments: Any) -> Explanation:
    """The kernels that a library has for a verb, and whether each can serve a call."""
    library = sparse.backend.name
    listed = candidates(library, sparse.kernels[name], Call(arguments, {}))
    chosen = chosen_name(listed)
    summary = f"{library} serves its own containers" if chosen else f"{library} cannot serve this call"
    found = Explanation(verb, summary, listed, chosen)
    is_served = verb == "matmul" or name in SPARSE
    return with_engines(found, find.named(library), arguments, {}) if is_served else found
