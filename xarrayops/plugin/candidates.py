"""The kernels that may serve a verb: their capability tests, known bugs, and the choice of a kernel for a call."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar

from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Record

_Function = TypeVar("_Function", bound=Callable[..., Any])


def constant_while_tracing(function: _Function) -> _Function:
    """Make torch.compile call the function while tracing, and treat the result as a constant."""
    vars(function)["_dynamo_marked_constant"] = True
    return function


class Call(Record):
    """The arguments of one call, as the capability test of a kernel gets them."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


Refusal = Callable[[Call], str | None]
"""A capability test: returns None, or the reason why the kernel cannot serve the call."""
Kernel = tuple[str, Callable[..., Any], Refusal]


class NotServed(Unsupported):
    """Raised by a kernel that finds, while it runs, that its library cannot compute this kind of call.

    The next candidate serves this call and all later calls of the same form. Do not raise it for other errors (out of
    memory, a device fault).
    """


_failures: dict[Callable[..., Any], dict[Hashable, str]] = {}
"""The reasons why kernels failed when they ran, by kernel and form of the call."""


class KnownBad(Record):
    """A bug of some versions of a library: ``versions`` is a PEP 440 range, ``device`` a kind or "any".

    ``kernel`` is the name of the affected candidate: if such a version is installed, that candidate refuses the calls
    for which ``when`` returns True. If the backend cannot avoid the bug, ``advice`` says what users should do, for the
    warning at the first use of the library, for the doctor and for ``explain``; and ``cured`` returns whether a setting
    of this process avoids it.
    """

    library: str
    versions: str
    device: str
    condition: str
    issue: str
    kernel: str = ""
    when: Callable[[Call], bool] = lambda call: True
    advice: str = ""
    cured: Callable[[], bool] = lambda: False


def affected(faults: Iterable[KnownBad], versions: Mapping[str, str]) -> list[KnownBad]:
    """The bugs that affect the installed versions; ``versions`` maps a library to its version."""
    return [fault for fault in faults if includes(fault.versions, versions.get(fault.library, ""))]


_COMPARISONS = {"==": operator.eq, "<=": operator.le, ">=": operator.ge, "<": operator.lt}


def includes(specifiers: str, version: str) -> bool:
    """Whether a version satisfies all specifiers, such as ``">=2.9,<2.14"``. Text that is not a version does not.

    A development version and a candidate are before their release. As in packaging, ``<2.14`` does not include 2.14rc1.
    """
    number = _number(version)
    for operation, bound in re.findall(r"([=<>]+)\s*([^,\s]+)", specifiers):
        limit = _number(bound)
        if operation == "<" and number[0] == limit[0] and limit[1]:
            return False
        if not _COMPARISONS[operation](number, limit):
            return False
    return bool(number[0])


def _number(version: str) -> tuple[tuple[int, ...], bool]:
    """The numbers of the release without zeros at the end, and whether it is a release."""
    found = re.match(r"(\d+(?:\.\d+)*)([.]?(?:a|b|rc|dev)\d*)?", version)
    if found is None:
        return (), True
    release = [int(part) for part in found[1].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    return tuple(release), found[2] is None


def screened(own: Refusal, faults: Iterable[KnownBad], versions: Callable[[], Mapping[str, str]]) -> Refusal:
    """The capability test of a kernel, which also refuses calls that a known bug of the installed versions affects."""
    known = [(fault, _is_installed(fault, versions)) for fault in faults]
    if not known:
        return own

    def refuse(call: Call) -> str | None:
        reason = own(call)
        if reason is not None:
            return reason
        for fault, is_installed in known:
            if fault.when(call) and is_installed():
                return f"known to fail: {fault.condition} ({fault.issue})"
        return None

    return refuse


def _is_installed(fault: KnownBad, versions: Callable[[], Mapping[str, str]]) -> Callable[[], bool]:
    """Whether an installed version has the bug. Comparing versions is slow, so the result is cached."""
    found: list[bool] = []

    @constant_while_tracing
    def is_installed() -> bool:
        if not found:
            found.append(bool(affected([fault], versions())))
        return found[0]

    return is_installed


def refusal(kernel: Kernel, call: Call) -> str | None:
    """Why a kernel cannot serve a call, or failed on an earlier call of the same form; None if it can serve it."""
    reason = kernel[2](call)
    if reason is not None or not _failures or kernel[1] not in _failures:
        return reason
    is_traced = getattr(kernel[1], "is_traced", None)
    if is_traced is not None and is_traced():  # sizes may be symbolic, and then the form is unknown
        return None
    return _failures[kernel[1]].get(_form(call))


def copies_of(kernel: Kernel, call: Call) -> tuple[str, ...]:
    """The lines that a kernel, which can serve a call, reports about its copies."""
    describe = getattr(kernel[1], "copies", None)
    return tuple(describe(call)) if describe is not None else ()


def remember(kernel: Kernel, call: Call, error: NotServed) -> str:
    """Record why a kernel failed, so that it refuses later calls of this form; returns the reason."""
    reason = f"it failed when it ran: {error}"
    _failures.setdefault(kernel[1], {})[_form(call)] = reason
    return reason


def _form(x: Any) -> Hashable:
    """The form of an argument: for an array its class, shape, strides, dtype and device; otherwise the value."""
    if isinstance(x, (tuple, list)):
        return tuple(map(_form, x))
    if isinstance(x, dict):
        return tuple((name, _form(value)) for name, value in sorted(x.items()))
    if hasattr(x, "shape"):
        return type(x), tuple(x.shape), _strides(x), str(x.dtype), str(getattr(x, "device", ""))
    return x if isinstance(x, Hashable) else repr(x)


def _strides(x: Any) -> Hashable:
    """The strides in the units of the library; None for sparse tensors and arrays without strides."""
    try:
        return tuple(x.stride()) if hasattr(x, "stride") else getattr(x, "strides", None)
    except RuntimeError:  # a sparse tensor has the method, which raises
        return None


def first_able(verb: str, kernels: list[Kernel]) -> Callable[..., Any]:
    """A function that calls the first kernel that can serve the call."""

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
    """The capability test of a kernel that can serve every call."""
