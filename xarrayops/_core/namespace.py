"""From a backend module to its namespace: the standard's functions, as this library does them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from xarrayops._protocol.candidates import Kernel, KnownBad, first_able, screened
from xarrayops._protocol.dtypes import DTYPE_NAMES
from xarrayops._protocol.hooks import HOOKS
from xarrayops._protocol.surface import MAIN_NAMESPACE_ALIASES, SURFACE
from xarrayops._protocol.types import unsupported
from xarrayops.errors import Unsupported

EXTENSIONS = ("linalg", "fft")
CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")


def verb_attribute(verb: str) -> str:
    """The name that a backend module gives to its implementation of a verb."""
    return verb.replace(".", "_")


def lookup(namespace: Any, verb: str) -> Callable[..., Any] | None:
    """The function of a standard namespace, extensions included; None if it has none."""
    for part in verb.split("."):
        namespace = getattr(namespace, part, None)
    return namespace


def implementation(module: ModuleType, verb: str) -> Callable[..., Any] | None:
    """What serves a verb: what the backend offers, or else the library's function."""
    offered = offer(module, verb)
    return offered if offered is not None else lookup(module.NAMESPACE, verb)


def offer(module: ModuleType, name: str) -> Callable[..., Any] | None:
    """What the backend module itself offers for a verb or a hook: its candidates, its function, or nothing."""
    kernels = candidates(module, name)
    return first_able(name, kernels) if kernels else getattr(module, verb_attribute(name), None)


def origin(module: ModuleType, name: str) -> str:
    """Where the function for a verb or a hook comes from, in the words of `explain`."""
    offered = offer(module, name)
    if offered is None and name in HOOKS:
        return "xarrayops' generic function, written on the standard alone"
    theirs = lookup(module.NAMESPACE, name)
    if offered is not None and offered is not theirs:
        return "the library's own function, completed by the backend"
    wrapped = (getattr(theirs, "__module__", None) or "").startswith("array_api_compat.")
    return "the library's own function, completed by array-api-compat" if wrapped else "the library's own function"


def candidates(module: ModuleType, verb: str) -> list[Kernel]:
    """The kernels that a backend lists for a verb or a hook, best first; each refuses what is known to make it fail."""
    kernels: list[Kernel] = list(getattr(module, candidates_attribute(verb), ()))
    faults: list[KnownBad] = [fault for fault in getattr(module, "KNOWN_BAD", ()) if fault.kernel]
    return [
        (name, function, screened(can, [fault for fault in faults if fault.kernel == name], lambda: module.versions()))
        for name, function, can in kernels
    ]


def candidates_attribute(verb: str) -> str:
    """The name that a backend module gives to the kernels of a verb or a hook."""
    return f"{verb_attribute(verb).upper()}_CANDIDATES"


def build_namespace(module: ModuleType) -> ModuleType:
    """A module that follows the standard, made of the backend's functions over those of its library.

    It bears the name of the library's namespace, by which array-api-compat and array-api-extra know it.
    """
    base = module.NAMESPACE
    information = getattr(module, "__array_namespace_info__", None) or _information(base)
    namespace = ModuleType(base.__name__, doc=f"The array API of {module.__name__}, as xarrayops completes it.")
    for extension in EXTENSIONS:
        setattr(namespace, extension, ModuleType(f"{base.__name__}.{extension}"))
    for verb in SURFACE:
        function = implementation(module, verb) or _absent(module, verb)
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
    """The inspection API, which came with the standard of 2023.12: who lacks it is older than what we can build on."""
    found: Callable[[], Any] | None = getattr(base, "__array_namespace_info__", None)
    if found is None:
        version = getattr(base, "__array_api_version__", None)
        stands = (
            "names no version of the array API standard" if version is None else f"follows the standard of {version}"
        )
        raise Unsupported(
            f"{base.__name__} {stands} and has no __array_namespace_info__, which 2023.12 and later ask for. "
            f"Instead: a newer {base.__name__.partition('.')[0]}, or its arrays as NumPy's: numpy.asarray(x)"
        )
    return found


def _absent(module: ModuleType, verb: str) -> Callable[..., Any]:
    """A gap as a backend file would declare it, so that it shows wherever gaps do."""
    instead = 'a library that has it, as by xo.convert(x, "numpy")'
    return unsupported(f"{module.NAMESPACE.__name__} has no {verb}", instead=instead)
