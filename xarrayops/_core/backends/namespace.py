"""The namespace of a backend: the functions of the standard for its library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from xarrayops._generic import NAMESPACES
from xarrayops._generic.hooks import HOOKS
from xarrayops._surface import EXTRA, FAMILIES, MAIN_NAMESPACE_ALIASES, OWN, ROLES
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Record, gap_of, unsupported
from xarrayops.plugin.candidates import Kernel, KnownBad, always, first_able, screened
from xarrayops.plugin.dtypes import DTYPE_NAMES
from xarrayops.plugin.hooks import WRAPPED_HOOKS

EXTENSIONS = ("linalg", "fft")
CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")
ONLY_IN_XO = frozenset({"backends", "device", "export", "jit"})
"""Functions of ours that namespaces have in ``xo`` only: PyTorch has other objects under these names."""
GENERIC = "xarrayops' generic function, written on the standard alone"
"""The origin of a generic function."""
COMPLETED = "the library's own function, completed by the backend"


def verb_attribute(verb: str) -> str:
    """The name of the function of a verb in a backend module."""
    return verb.replace(".", "_")


def lookup(namespace: Any, verb: str) -> Callable[..., Any] | None:
    """The function of a verb in a standard namespace, extensions included; None if missing."""
    for part in verb.split("."):
        namespace = getattr(namespace, part, None)
    return namespace


class Implementation(Record):
    """The implementation of a verb in a backend: the function, its kernels, and its origin."""

    function: Callable[..., Any]
    kernels: list[Kernel]
    """The kernels that the backend lists, best first, or none."""
    origin: str
    """In the words of `explain`."""


def has_implementation(module: ModuleType, verb: str) -> bool:
    """Whether the backend or its library defines a function of the standard. A declared gap counts."""
    own = (getattr(module, name, None) for name in (candidates_attribute(verb), verb_attribute(verb)))
    return any(own) or lookup(module.NAMESPACE, verb) is not None


def implementation_of_function(module: ModuleType, verb: str) -> Implementation:
    """The implementation of a standard function: the backend's candidates or function, the library's, or a gap."""
    kernels = candidates(module, verb)
    own = first_able(verb, kernels) if kernels else getattr(module, verb_attribute(verb), None)
    theirs = lookup(module.NAMESPACE, verb)
    function = _wrapped(module, verb, own or theirs or _absent(module, verb))
    return Implementation(function, kernels, _origin(function, theirs))


def implementation_of_hook(
    module: ModuleType, source: ModuleType, hook: str, twin: Callable[..., Any]
) -> Implementation:
    """The implementation of a hook: the backend's candidates and the generic function, or one function of either.

    ``source`` is the `hook_module`.
    """
    kernels = candidates(module, hook, source)
    own = getattr(source, hook, None)
    if kernels:
        kernels = [*kernels, ("generic", twin, always)]
        own = first_able(hook, kernels)
    function = twin if own is None else own
    if hook in WRAPPED_HOOKS:
        function = _wrapped(module, hook, function)
    if function is twin:
        return Implementation(function, kernels, GENERIC)
    return Implementation(function, kernels, _origin(function, lookup(module.NAMESPACE, hook)))


def hook_modules(module: ModuleType) -> Mapping[str, str]:
    """The names of the modules that a backend imports when a hook is first needed, by hook."""
    named: Mapping[str, str] = getattr(module, "HOOK_MODULES", {})
    return named


def hook_module(module: ModuleType, hook: str) -> ModuleType:
    """The module of a backend that defines a hook, if the backend defines it."""
    name = hook_modules(module).get(hook)
    return module if name is None else import_module(name)


def extra_module(module: ModuleType, verb: str) -> ModuleType | None:
    """The module that a backend names in ``EXTRA``; if it is a package, its module for the verb's family, if any.

    It is imported when one of its functions is needed.
    """
    name = getattr(module, "EXTRA", None)
    found = None if name is None else import_module(name)
    if found is None or not hasattr(found, "__path__"):
        return found
    family = f"{name}.{FAMILIES[verb].rpartition('.')[2]}"
    try:
        return import_module(family)
    except ModuleNotFoundError as error:
        if error.name != family:
            raise
        return None


def implementation_of_extra(module: ModuleType, verb: str, namespace: ModuleType) -> Implementation:
    """The implementation of a function of `EXTRA`: the backend's function, or the generic one, which it imports."""
    modules = [m for m in (module, extra_module(module, verb)) if m is not None]
    own = next((f for m in modules if (f := getattr(m, verb_attribute(verb), None)) is not None), None)
    if own is not None:
        function = _wrapped(module, verb, own)
        return Implementation(function, [], _origin(function, lookup(module.NAMESPACE, verb)))
    generic = getattr(import_module(f"xarrayops._generic.{FAMILIES[verb]}"), verb.rpartition(".")[2])
    twin: Callable[..., Any] = partial(generic, namespace)
    kernels = [kernel for m in modules for kernel in candidates(module, verb, m)]
    if not kernels:
        return Implementation(_wrapped(module, verb, twin), [], GENERIC)
    kernels = [*kernels, ("generic", twin, always)]
    return Implementation(_wrapped(module, verb, first_able(verb, kernels)), kernels, COMPLETED)


class Functions(dict[str, Callable[..., Any]]):
    """The functions of a backend by name. Those of `EXTRA`, and of `hook_modules`, are found at their first use."""

    def __init__(self, find: Callable[[str], Callable[..., Any]]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, verb: str) -> Callable[..., Any]:
        if verb not in EXTRA and verb not in HOOKS:
            raise KeyError(verb)
        self[verb] = function = self._find(verb)
        return function


def _wrapped(module: ModuleType, verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, changed by the backend's hook `wrap`. A gap is not wrapped."""
    wrap = getattr(module, "wrap", None)
    if wrap is None or gap_of(function) is not None:
        return function
    return wrap(verb, function)


def _origin(function: Callable[..., Any], theirs: Callable[..., Any] | None) -> str:
    if function is not theirs:
        return COMPLETED
    completed = (getattr(theirs, "__module__", None) or "").startswith("array_api_compat.")
    return "the library's own function, completed by array-api-compat" if completed else "the library's own function"


def candidates(module: ModuleType, verb: str, source: ModuleType | None = None) -> list[Kernel]:
    """The kernels of a verb or a hook in a backend, best first. Each refuses calls that trigger a known fault.

    ``source`` is the module that lists them, if that is not the backend's main module.
    """
    kernels: list[Kernel] = list(getattr(source or module, candidates_attribute(verb), ()))
    faults: list[KnownBad] = [fault for fault in getattr(module, "KNOWN_BAD", ()) if fault.kernel]
    return [
        (name, function, screened(refusal, [f for f in faults if f.kernel == name], lambda: module.versions()))
        for name, function, refusal in kernels
    ]


def candidates_attribute(verb: str) -> str:
    """The name of the list of kernels of a verb or a hook in a backend module."""
    return f"{verb_attribute(verb).upper()}_CANDIDATES"


class Namespace(ModuleType):
    """A namespace or an extension of it. Its name is not that of its module; `find` says what a pickle contains."""


def build_namespace(
    name: str,
    module: ModuleType,
    functions: Mapping[str, Callable[..., Any]],
    all_functions: Mapping[str, Callable[..., Any]],
) -> ModuleType:
    """A module with the functions of the standard for one backend and the functions of xarrayops; no others.

    Its attribute ``xo`` is the package `xarrayops`, which also has the functions that are in `ONLY_IN_XO`.

    ``functions`` has the functions of the standard; ``all_functions`` finds those of `EXTRA` when they are needed.

    Its name differs from the library's: for a namespace that they recognise, array-api-compat and array-api-extra would
    call functions of the library, with the library's signatures.
    """
    base = module.NAMESPACE
    information = getattr(module, "__array_namespace_info__", None) or _information(base)
    full_name = f"{NAMESPACES}{name}"
    namespace = Namespace(full_name, doc=f"The array API standard 2025.12 for {name}, with the functions of xarrayops.")
    for extension in EXTENSIONS:
        setattr(namespace, extension, Namespace(f"{full_name}.{extension}"))
    linalg = namespace.linalg
    vars(linalg)["__getattr__"] = lambda name: _extra(linalg, "linalg.", name, all_functions)
    for verb, function in functions.items():
        path, _, attribute = verb.rpartition(".")
        setattr(getattr(namespace, path) if path else namespace, attribute, function)
    for verb in MAIN_NAMESPACE_ALIASES:
        attribute = verb.removeprefix("linalg.")
        setattr(namespace.linalg, attribute, getattr(namespace, attribute))
    for constant in (*CONSTANTS, *DTYPE_NAMES):
        if hasattr(base, constant):
            setattr(namespace, constant, getattr(base, constant))
    attributes: dict[str, Any] = {
        "__array_api_version__": "2025.12",
        "__array_namespace_info__": information,
        "__getattr__": lambda name: _extra(namespace, "", name, all_functions),
        "__dir__": lambda: sorted({*vars(namespace), "xo", *(v for v in (*OWN, *EXTRA) if "." not in v)} - ONLY_IN_XO),
    }
    vars(namespace).update(attributes)
    return namespace


def _extra(namespace: ModuleType, prefix: str, name: str, functions: Mapping[str, Callable[..., Any]]) -> Any:
    """A function that is not in the standard: of `EXTRA`, which is then added to the namespace, or our own.

    The namespace has no other names of the library.
    """
    verb = f"{prefix}{name}"
    if verb in EXTRA:
        # The public function knows the defaults of its options, which the backend's function is always given.
        function = (ROLES.get(verb) and lookup(import_module("xarrayops"), verb)) or functions[verb]
        setattr(namespace, name, function)
        return function
    if prefix:
        raise AttributeError(f"module {namespace.__name__!r} has no attribute {name!r}")
    if name not in OWN or name in ONLY_IN_XO:
        if name == "xo":
            return import_module("xarrayops")
        from xarrayops._core.numpy_names import MAIN  # needed for errors only

        others = ": it has only the functions of the array API standard and of xarrayops"
        answer = f". Instead: xp.xo.{name}" if name in ONLY_IN_XO else MAIN.answer(name) or others
        # the error does not carry the name, because Python would suggest the most similar name
        raise AttributeError(f"{namespace.__name__} has no {name!r}{answer}", name=None, obj=None)
    return getattr(import_module("xarrayops"), name)


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
    """A gap for a function that the library lacks, like the gaps that backends declare."""
    instead = 'convert to a library that has it, for example with xo.convert(x, "numpy")'
    return unsupported(f"{module.NAMESPACE.__name__} has no {verb}", instead=instead)
