"""explain for `export`: each exporter traces the function, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from xarrayops._ops.explanation import Candidate, Explanation, chosen_name
from xarrayops._ops.transformations.arguments import name_of

if TYPE_CHECKING:
    from xarrayops._ops.export.exporters import Tracing
    from xarrayops._ops.export.request import Request


def explain_export(
    verb: str,
    function: Callable[..., Any],
    /,
    *examples: Any,
    target: str | None = None,
    dynamic: Mapping[str, Mapping[int, str]] | None = None,
    path: object = None,
    samples: object = (),
) -> Explanation:
    """The exporters in the order in which they are tried, and what they cannot express."""
    if target is None:
        raise TypeError("xo.export: missing a required argument: 'target'")
    from xarrayops._ops.export.exporters import exporters_to
    from xarrayops._ops.export.request import Request  # not needed by `import xarrayops`

    request = Request(function, examples, dynamic or {})
    listed = tuple(_candidate(request, tracing) for tracing in exporters_to(target, request.own))
    chosen = chosen_name(listed)
    name = name_of(function)
    summary = f"{name} cannot be exported to {target}" if chosen is None else f"{name} is exported to {target}"
    return Explanation(verb, summary, listed, chosen)


def _candidate(request: Request, tracing: Tracing) -> Candidate:
    from xarrayops._ops.compilation.failures import place_of, reason_of
    from xarrayops._ops.export.exported import is_wide
    from xarrayops._ops.export.writing import program_of

    exporter = tracing.exporter
    reason = exporter.refusal()
    if reason is None:
        try:
            with exporter.settings(is_wide(request.own)):
                reason = exporter.obstacle(program_of(request, tracing))
        except Exception as error:  # exporters may raise anything
            reason = f"{reason_of(error)}{place_of(error, request.function)}"
    return Candidate(exporter.name, reason is None, reason or "the file is compared after it is written")
