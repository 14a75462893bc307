"""The results of `explain`, and the explanation of a call that a backend serves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from xarrayops._core.arguments import array_arguments, common_backend, signature
from xarrayops._core.refused import wrong_call
from xarrayops._core.registry import Backend
from xarrayops._protocol.candidates import Call, Kernel, copies_of, refusal
from xarrayops._protocol.records import Record
from xarrayops._protocol.surface import OWN
from xarrayops._protocol.types import gap_of
from xarrayops.errors import Unsupported

if TYPE_CHECKING:
    import inspect


class Candidate(Record):
    """One way to serve a call: its name (``library:kernel``), whether it can, the reason, and what it copies."""

    name: str
    ok: bool
    reason: str = ""
    copies: tuple[str, ...] = ()


class Explanation(Record):
    """What a call would do. ``str()`` gives a table, ``as_dict()`` gives plain data.

    ``candidates`` are in order of preference; ``chosen`` is the name of the one that would serve the call, or None.
    Conversions, updates and changes of layout also have ``action`` ("zero-copy", "copy" or "refuse"), ``nbytes``, the
    number of bytes that would be copied (None if unknown), and ``reason``.
    """

    verb: str
    summary: str
    candidates: tuple[Candidate, ...]
    chosen: str | None
    action: str | None = None
    nbytes: int | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data."""
        return self._asdict() | {"candidates": tuple(c._asdict() for c in self.candidates)}

    def __str__(self) -> str:
        rows = [
            (
                "->" if c.name == self.chosen else "",
                c.name,
                "yes" if c.ok else "no",
                "; ".join(t for t in (c.reason, *c.copies) if t),
            )
            for c in self.candidates
        ]
        table = [("", "candidate", "can", "why"), *rows]
        widths = [max(len(row[i]) for row in table) for i in range(3)]
        lines = [
            "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]]).rstrip()
            for row in table
        ]
        return "\n".join([f"{self.verb}: {self.summary}", *lines])


def explain_call(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain a standard function, or a verb that a hook serves: the candidates are those of the arrays' library.

    Each candidate checks the call that it would get: every argument, with native dtype and device.
    """
    hook = hook_of(verb)
    bound = signature(hook).bind(*args, **kwargs)
    backend = common_backend(verb, dict(array_arguments(hook, args, kwargs)))
    bound.apply_defaults()
    for name, native in (("dtype", backend.native_dtype), ("device", backend.native_device)):
        if bound.arguments.get(name) is not None:
            bound.arguments[name] = native(bound.arguments[name])
    return explain_served(verb, backend, Call(bound.args, bound.kwargs))


def explain_served(verb: str, backend: Backend, call: Call, *, hook: str | None = None) -> Explanation:
    """The candidates of a backend for a verb, or for a hook that serves some of its calls."""
    name, hook = hook or verb, hook or hook_of(verb)
    gap, kernels = gap_of(backend.functions[hook]), backend.kernels.get(hook)
    if kernels:
        listed = candidates(backend.name, kernels, call)
    else:
        listed = (Candidate(f"{backend.name}:{name}", gap is None, str(gap) if gap else backend.origins[hook]),)
    chosen = chosen_name(listed)
    return Explanation(verb, _summary(backend.name, chosen), listed, chosen)


def candidates(library: str, kernels: Iterable[Kernel], call: Call) -> tuple[Candidate, ...]:
    """The kernels of a library, and whether each can serve the call."""
    return tuple(_candidate(f"{library}:{kernel[0]}", kernel, call) for kernel in kernels)


def _candidate(name: str, kernel: Kernel, call: Call) -> Candidate:
    reason = refusal(kernel, call)
    return Candidate(name, reason is None, reason or "", copies_of(kernel, call) if reason is None else ())


def chosen_name(listed: Iterable[Candidate]) -> str | None:
    """The name of the candidate that would serve the call; None if none can."""
    return next((candidate.name for candidate in listed if candidate.ok), None)


def explain_with_dry_run(found: Explanation, dry_run: Callable[[], Any]) -> Explanation:
    """The explanation, corrected by a dry run, which copies and reads nothing.

    It is for verbs that may refuse a call because of the values of its arguments.
    """
    if found.chosen is None:
        return found
    try:
        dry_run()
    except Unsupported as error:
        library, _, _ = found.chosen.partition(":")
        refused = tuple(c._replace(ok=False, reason=str(error)) for c in found.candidates)
        return Explanation(found.verb, _summary(library, None), refused, None)
    return found


def bound_arguments(
    verb: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    """The arguments of a call, bound to the parameters of one of the functions of xarrayops."""
    from inspect import signature as signature_of  # imported here: it takes a quarter of `import xarrayops`

    try:
        return signature_of(function).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"xo.{verb}: {error}") from None


def refuse_wrong_arguments(
    verb: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Raise as the call itself would, if it has arguments of NumPy's function that ours does not take."""
    from inspect import signature as signature_of

    whole = signature_of(function, follow_wrapped=False)
    refused = [name for name, parameter in whole.parameters.items() if parameter.annotation == "Refused"]
    try:
        bound = whole.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"xo.{verb}: {error}") from None
    bound.apply_defaults()
    given = bound.arguments
    if any(given[name] is not whole.parameters[name].default for name in refused):
        raise wrong_call(verb, given)


def hook_of(verb: str) -> str:
    """The name of the backend's function that serves a verb."""
    return OWN.get(verb) or verb


def _summary(library: str, chosen: str | None) -> str:
    return f"{library} serves its own arrays" if chosen else f"{library} cannot serve this call"
