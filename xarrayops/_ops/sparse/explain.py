"""What a sparse call would run, and why."""

from __future__ import annotations

from typing import Any

from xarrayops._core.sparse_backend import SparseBackend
from xarrayops._ops.exchange.convert import explain_convert
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops._ops.sparse import build, operations
from xarrayops._ops.sparse.convert import planned
from xarrayops._protocol.candidates import Call
from xarrayops._protocol.sparse import VERBS, Container
from xarrayops.errors import Unsupported


def explain_sparse(verb: str, *args: Any, **kwargs: Any) -> Explanation:
    """The kernels that may serve a verb of xo.sparse, each with its verdict; errors of the call are raised."""
    name = verb.removeprefix("sparse.")
    if name == "convert":
        return _explain_convert(*args, **kwargs)
    served = {n: f for module in (build, operations) for n, f in vars(module).items() if hasattr(f, "prepare")}
    if name not in served:
        has = ", ".join(f"sparse.{each}" for each in VERBS if each in served or each == "convert")
        raise Unsupported(f"xo.explain knows no verb {verb!r}; there are {has}")
    sparse, arguments = served[name].prepare(*args, **kwargs)
    return explained(verb, sparse, name, *arguments)


def _explain_convert(s: Container, format: Any = None, backend: Any = None, *, block: Any = None) -> Explanation:
    """What changes the format; without such a change, how the arrays go over."""
    plan = planned(s, format, backend, block=block)
    there = plan.target.backend.name
    if plan.at != "source":
        found = explain_convert(s, there)._replace(verb="sparse.convert")
        return found._replace(summary=f"{found.summary}; then {there} makes {plan.format} of it") if plan.at else found
    found = explained("sparse.convert", plan.source, "convert", s, plan.format, block)
    if plan.source is plan.target:
        return found._replace(summary=f"{found.summary}, in new arrays")
    way = f"{plan.source.backend.name}->{there}"
    return found._replace(summary=f"{found.summary}, in new arrays; then {way}, array by array")


def explained(verb: str, sparse: SparseBackend, name: str, *arguments: Any) -> Explanation:
    """The kernels that a library has for a verb, with their verdicts on a call."""
    reasons = [(kernel, refusal(Call(arguments, {}))) for kernel, _, refusal in sparse.kernels[name]]
    home = sparse.backend.name
    listed = tuple(Candidate(f"{home}:{kernel}", reason is None, reason or "") for kernel, reason in reasons)
    chosen = next((candidate.name for candidate in listed if candidate.ok), None)
    summary = f"{home} serves its own containers" if chosen else f"{home} cannot serve this call"
    return Explanation(verb, summary, listed, chosen)
