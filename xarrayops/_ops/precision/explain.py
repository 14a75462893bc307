"""explain for precision policies: their effect on a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes.precision import policy, widens
from xarrayops._ops.explanation import Explanation
from xarrayops.plugin.precision import AUTOCAST, HALVES, PRODUCTS, Policy

Explainer = Callable[..., Explanation]
_OPERANDS = {"attention": 3, "qmatmul": 1}
"""The number of arrays that a policy casts, if not all."""


def with_precision(verb: str, explainer: Explainer) -> Explainer:
    """The explainer of a verb; in a block of `precision` or `autocast` it also shows the casts."""
    if verb in PRODUCTS and policy.value(None) is not None:
        return _of_product(explainer)
    if AUTOCAST.get(verb) == "float32" and widens.value(False):
        return _of_widened(explainer)
    return explainer


def _of_product(explainer: Explainer) -> Explainer:
    def explain(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
        places = [i for i, x in enumerate(args) if hasattr(x, "dtype")][: _OPERANDS.get(verb)]
        backend = _common(args[i] for i in places)
        current = policy.value(None)
        if backend is None or current is None:
            return explainer(verb, *args, **kwargs)
        plan = backend.precision_plan(current, tuple(args[i].dtype for i in places))
        if plan is None:
            return _noted(explainer(verb, *args, **kwargs), "the precision policy does not affect these dtypes")
        compute, work, output, _ = plan
        backend.functions["product_precision"](plan[3], *(args[i] for i in places))  # raises if it cannot be followed
        given, casts = list(args), []
        for i in places:
            if compute is not None and {args[i].dtype, compute, work} != {args[i].dtype}:
                steps = [backend.functions["dtype_name"](dtype) for dtype in (args[i].dtype, compute, work)]
                casts.append(f"casts operand {i + 1 - places[0]}, {_path(steps)}")
                given[i] = backend.namespace.empty_like(args[i], dtype=work)
        if output is not None and output != work:
            casts.append(f"casts the result, {_path(map(backend.functions['dtype_name'], (work, output)))}")
        return _noted(explainer(verb, *given, **kwargs), _described(Policy(*current)), casts)

    return explain


def _of_widened(explainer: Explainer) -> Explainer:
    def explain(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
        given, casts = list(args), []
        for i, x in enumerate(args):
            backend = _common([x]) if hasattr(x, "dtype") else None
            name = None if backend is None else backend.functions["dtype_name"](x.dtype)
            if backend is not None and name in HALVES:
                casts.append(f"casts operand {i + 1}, {name} -> float32")
                given[i] = backend.namespace.empty_like(x, dtype=backend.native_dtype("float32"))
        return _noted(explainer(verb, *given, **kwargs), "autocast computes it in float32", casts)

    return explain


def _common(arrays: Iterator[Any] | list[Any]) -> Backend | None:
    """The backend of all arrays; None if there is none, or several."""
    found = {find.of(x) for x in arrays if find.sparse_of(x) is None}
    return found.pop() if len(found) == 1 else None


def _path(names: Any) -> str:
    """The sequence of dtypes of an array, as text."""
    return " -> ".join(name for name, _ in groupby(names))


def _described(found: Policy) -> str:
    """The policy, in the words of `precision`."""
    fields = ("compute", "accumulate", "output", "products")
    return f"precision: {', '.join(f'{name} {value}' for name in fields if (value := getattr(found, name)))}"


def _noted(found: Explanation, note: str, casts: list[str] | None = None) -> Explanation:
    """The explanation with a note, and with the casts at the candidate that is chosen."""
    candidates = tuple(
        c._replace(copies=(*(casts or ()), *c.copies)) if c.name == found.chosen else c for c in found.candidates
    )
    return found._replace(summary=f"{found.summary}; {note}", candidates=candidates)
