"""The edits with the greatest gain: masked assignments and loops as functions of whole arrays.

`masks` has ``a[m] = f(a[m])``; `loops` finds the loops whose steps are independent, and `rows` writes what all steps
compute at once. `scans` has the loops whose steps need those before, and `step` writes one step as a function. An edit
without a proof asks questions, which `confirming` answers by a call of the program.
"""

from __future__ import annotations

from xarrayops.port.rewriting.context import Context
from xarrayops.port.source import Program
from xarrayops.port.vectorizing import loops, masks
from xarrayops.port.vectorizing.offers import Offer, Refused

__all__ = ["Offer", "Refused", "offered"]


def offered(program: Program, call: str | None = None, *, scan: bool = False) -> tuple[list[Offer], list[Refused]]:
    """The edits that keep the meaning of a program, and the places that stay, each with its reason.

    Without a call these are the edits with a proof. ``scan`` offers calls of `xo.scan` as well.
    """
    context = Context(program, {}, is_xo=False)
    numpy = context.imported("numpy") or context.imported("xarrayops.numpy")
    if numpy is None:
        return [], []
    of_loops = [*loops.offers(context, numpy, scan=scan)]
    edits = [each for each in of_loops if isinstance(each, Offer)]
    inside = {line for each in edits for line in range(each.line, each.last + 1)}
    edits += [each for each in masks.offers(context, numpy) if each.line not in inside]
    found = sorted(edits, key=lambda each: each.line)
    stay = [each for each in of_loops if isinstance(each, Refused)]
    if call is not None:
        from xarrayops.port.vectorizing.confirming import confirmed

        kept, refused = confirmed(program, found, call)
        for more_axes in (1, 2):
            edited = {line for each in kept for line in range(each.line, each.last + 1)}
            again = loops.offers(context, numpy, scan=scan, more_axes=more_axes)
            others = (each for each in again if isinstance(each, Offer) and each.asks)
            if found := [each for each in others if edited.isdisjoint(range(each.line, each.last + 1))]:
                kept, _ = confirmed(program, sorted([*kept, *found], key=lambda each: each.line), call)
        done = {each.line for each in kept}
        refused, stay = ([each for each in some if each.line not in done] for some in (refused, stay))
    else:
        kept = [each for each in found if not each.asks]
        refused = [
            Refused(each.line, f"{each.reason}, if a --call shows that {' and '.join(each.asks)}")
            for each in found
            if each.asks
        ]
    return kept, sorted([*stay, *refused])
