"""The kernels that may serve a verb: how they are asked, and what is known against them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from xarrayops.errors import Unsupported

_Function = TypeVar("_Function", bound=Callable[..., Any])


def constant_while_tracing(function: _Function) -> _Function:
    """Have torch.compile call the function while it traces, and take what it gives for a constant."""
    vars(function)["_dynamo_marked_constant"] = True
    return function


class Call(NamedTuple):
    """The arguments of one call, for a kernel to say whether it can serve them."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


Refusal = Callable[[Call], str | None]
"""Gives None, or the reason why a kernel cannot serve a call."""
Kernel = tuple[str, Callable[..., Any], Refusal]


class NotServed(Unsupported):
    """Raised by a kernel which finds, as it runs, that its library has no code for calls of such a form.

    The next candidate serves the call, and from then on all calls of that form. An error that says more than this (no
    memory, a fault of the device) is never one of these.
    """


_failures: dict[Callable[..., Any], dict[Hashable, str]] = {}
"""What kernels could not serve when they ran, by kernel and form of the call."""


class KnownBad(NamedTuple):
    """A fault of some versions of a library: ``versions`` is a PEP 440 range, ``device`` a kind or "any".

    ``kernel`` names the candidate that it affects: where such a version is installed, that candidate refuses the calls
    for which ``when`` is true.
    """

    library: str
    versions: str
    device: str
    condition: str
    issue: str
    kernel: str = ""
    when: Callable[[Call], bool] = lambda call: True


def affected(faults: Iterable[KnownBad], versions: Mapping[str, str]) -> list[KnownBad]:
    """Those of the faults that concern the installed versions, by library."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import InvalidVersion, Version

    found = []
    for fault in faults:
        try:
            version = Version(versions.get(fault.library, ""))
        except InvalidVersion:
            continue
        if SpecifierSet(fault.versions).contains(version, prereleases=True):
            found.append(fault)
    return found


def screened(own: Refusal, faults: Iterable[KnownBad], versions: Callable[[], Mapping[str, str]]) -> Refusal:
    """A kernel's own refusal, completed by those of calls that a known fault of the installed versions affects."""
    known = [(fault, _is_here(fault, versions)) for fault in faults]
    if not known:
        return own

    def refuse(call: Call) -> str | None:
        reason = own(call)
        if reason is not None:
            return reason
        for fault, is_here in known:
            if fault.when(call) and is_here():
                return f"known to fail: {fault.condition} ({fault.issue})"
        return None

    return refuse


def _is_here(fault: KnownBad, versions: Callable[[], Mapping[str, str]]) -> Callable[[], bool]:
    """Whether the installed versions have a fault; found when it is first asked, for to compare versions takes long."""
    found: list[bool] = []

    @constant_while_tracing
    def is_here() -> bool:
        if not found:
            found.append(bool(affected([fault], versions())))
        return found[0]

    return is_here


def refusal(kernel: Kernel, call: Call) -> str | None:
    """Why a kernel cannot serve a call, or could not when it ran on one of the same form; None if it can."""
    reason = kernel[2](call)
    if reason is not None or not _failures or kernel[1] not in _failures:
        return reason
    is_traced = getattr(kernel[1], "is_traced", None)
    if is_traced is not None and is_traced():  # sizes may be symbols, of which no form is known
        return None
    return _failures[kernel[1]].get(_form(call))


def remember(kernel: Kernel, call: Call, error: NotServed) -> str:
    """The reason why a kernel failed, which from now on is its refusal of calls of this form."""
    reason = f"it failed when it ran: {error}"
    _failures.setdefault(kernel[1], {})[_form(call)] = reason
    return reason


def _form(x: Any) -> Hashable:
    """What decides on the code that serves a value: of an array all but its values; else the value."""
    if isinstance(x, (tuple, list)):
        return tuple(map(_form, x))
    if isinstance(x, dict):
        return tuple((name, _form(value)) for name, value in sorted(x.items()))
    if hasattr(x, "shape"):
        return type(x), tuple(x.shape), _strides(x), str(x.dtype), str(getattr(x, "device", ""))
    return x if isinstance(x, Hashable) else repr(x)


def _strides(x: Any) -> Hashable:
    """How an array lies in memory, as its library says it; None of sparse arrays and of those that do not say."""
    try:
        return tuple(x.stride()) if hasattr(x, "stride") else getattr(x, "strides", None)
    except RuntimeError:  # a sparse tensor has the method, which raises
        return None


def first_able(verb: str, kernels: list[Kernel]) -> Callable[..., Any]:
    """A function that hands each call to the first kernel that can serve it."""

    def choose(*args: Any, **kwargs: Any) -> Any:
        call = Call(args, kwargs)
        reasons = []
        for kernel in kernels:
            reason = refusal(kernel, call)
            if reason is None:
                try:
                    return kernel[1](*args, **kwargs)
                except NotServed as error:
                    reason = remember(kernel, call, error)
            reasons.append(f"{kernel[0]}: {reason}")
        raise Unsupported(f"no kernel of this library can serve {verb}: {'; '.join(reasons)}")

    return choose


def always(call: Call, /) -> None:
    """What a kernel says that serves every call."""
