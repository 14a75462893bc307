"""The namespace of a backend: the functions of the standard for its library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from xarrayops._protocol.candidates import Kernel, KnownBad, always, first_able, screened
from xarrayops._protocol.dtypes import DTYPE_NAMES
from xarrayops._protocol.hooks import WRAPPED_HOOKS
from xarrayops._protocol.surface import MAIN_NAMESPACE_ALIASES
from xarrayops._protocol.types import gap_of, unsupported
from xarrayops.errors import Unsupported

EXTENSIONS = ("linalg", "fft")
CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")
GENERIC = "xarrayops' generic function, written on the standard alone"
"""The origin of a generic function."""


def verb_attribute(verb: str) -> str:
    """The name of the function of a verb in a backend module."""
    return verb.replace(".", "_")


def lookup(namespace: Any, verb: str) -> Callable[..., Any] | None:
    """The function of a verb in a standard namespace, extensions included; None if missing."""
    for part in verb.split("."):
        namespace = getattr(namespace, part, None)
    return namespace


class Implementation(NamedTuple):
    """The implementation of a verb in a backend: the function, its kernels, and its origin."""

    function: Callable[..., Any]
    kernels: list[Kernel]
    """The kernels that the backend lists, best first; may be empty."""
    origin: str
    """In the words of `explain`."""


def has_implementation(module: ModuleType, verb: str) -> bool:
    """Whether the backend or its library defines a function of the standard; a gap counts."""
    own = (getattr(module, name, None) for name in (candidates_attribute(verb), verb_attribute(verb)))
    return any(own) or lookup(module.NAMESPACE, verb) is not None


def implementation_of_function(module: ModuleType, verb: str) -> Implementation:
    """The implementation of a standard function: the backend's candidates or function, the library's, or a gap."""
    kernels = candidates(module, verb)
    own = first_able(verb, kernels) if kernels else getattr(module, verb_attribute(verb), None)
    theirs = lookup(module.NAMESPACE, verb)
    function = _wrapped(module, verb, own or theirs or _absent(module, verb))
    return Implementation(function, kernels, _origin(function, theirs))


def implementation_of_hook(module: ModuleType, hook: str, twin: Callable[..., Any]) -> Implementation:
    """The implementation of a hook: the backend's candidates and the generic function, or one function of either."""
    kernels = candidates(module, hook)
    own = getattr(module, hook, None)
    if kernels:
        kernels = [*kernels, ("generic", twin, always)]
        own = first_able(hook, kernels)
    function = twin if own is None else own
    if hook in WRAPPED_HOOKS:
        function = _wrapped(module, hook, function)
    if function is twin:
        return Implementation(function, kernels, GENERIC)
    return Implementation(function, kernels, _origin(function, lookup(module.NAMESPACE, hook)))


def _wrapped(module: ModuleType, verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, changed by the backend's hook `wrap`. A gap is not wrapped."""
    wrap = getattr(module, "wrap", None)
    if wrap is None or gap_of(function) is not None:
        return function
    wrapped: Callable[..., Any] = wrap(verb, function)
    return wrapped


def _origin(function: Callable[..., Any], theirs: Callable[..., Any] | None) -> str:
    if function is not theirs:
        return "the library's own function, completed by the backend"
    completed = (getattr(theirs, "__module__", None) or "").startswith("array_api_compat.")
    return "the library's own function, completed by array-api-compat" if completed else "the library's own function"


def candidates(module: ModuleType, verb: str) -> list[Kernel]:
    """The kernels of a verb or a hook in a backend, best first. Each refuses calls that trigger a known fault."""
    kernels: list[Kernel] = list(getattr(module, candidates_attribute(verb), ()))
    faults: list[KnownBad] = [fault for fault in getattr(module, "KNOWN_BAD", ()) if fault.kernel]
    return [
        (name, function, screened(refusal, [f for f in faults if f.kernel == name], lambda: module.versions()))
        for name, function, refusal in kernels
    ]


def candidates_attribute(verb: str) -> str:
    """The name of the list of kernels of a verb or a hook in a backend module."""
    return f"{verb_attribute(verb).upper()}_CANDIDATES"


def build_namespace(module: ModuleType, functions: Mapping[str, Callable[..., Any]]) -> ModuleType:
    """A module with the functions of the standard for one backend.

    It has the name of the library's namespace, by which array-api-compat and array-api-extra recognise it.
    """
    base = module.NAMESPACE
    information = getattr(module, "__array_namespace_info__", None) or _information(base)
    namespace = ModuleType(base.__name__, doc=f"The array API of {module.__name__}, as xarrayops completes it.")
    for extension in EXTENSIONS:
        setattr(namespace, extension, ModuleType(f"{base.__name__}.{extension}"))
    for verb, function in functions.items():
        path, _, name = verb.rpartition(".")
        setattr(getattr(namespace, path) if path else namespace, name, function)
    for verb in MAIN_NAMESPACE_ALIASES:
        name = verb.removeprefix("linalg.")
        setattr(namespace.linalg, name, getattr(namespace, name))
    for name in (*CONSTANTS, *DTYPE_NAMES):
        if hasattr(base, name):
            setattr(namespace, name, getattr(base, name))
    attributes: dict[str, Any] = {
        "__array_api_version__": "2025.12",
        "__array_namespace_info__": information,
        "__getattr__": lambda name: getattr(base, name),
    }
    vars(namespace).update(attributes)
    return namespace


def _information(base: ModuleType) -> Callable[[], Any]:
    """The inspection API of the standard. It exists since version 2023.12; older namespaces are not supported."""
    found: Callable[[], Any] | None = getattr(base, "__array_namespace_info__", None)
    if found is None:
        version = getattr(base, "__array_api_version__", None)
        known_version = "states no version" if version is None else f"follows version {version}"
        raise Unsupported(
            f"{base.__name__} {known_version} of the array API standard, and it has no __array_namespace_info__, "
            f"which the standard requires since version 2023.12. "
            f"Instead: a newer {base.__name__.partition('.')[0]}, or convert its arrays with numpy.asarray(x)"
        )
    return found


def _absent(module: ModuleType, verb: str) -> Callable[..., Any]:
    """A gap like those that backends declare, for a function that the library lacks."""
    instead = 'convert to a library that has it, for example with xo.convert(x, "numpy")'
    return unsupported(f"{module.NAMESPACE.__name__} has no {verb}", instead=instead)
