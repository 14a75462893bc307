"""From a backend module to its namespace: the standard's functions, as this library does them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from xarrayops._surface import SURFACE
from xarrayops.errors import InvalidBackend, Unsupported
from xarrayops.plugin import HOOKS, Call

EXTENSIONS = ("linalg", "fft")
CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")
STANDARD_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
EXTRA_DTYPES = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
MAIN_NAMESPACE_ALIASES = ("linalg.matmul", "linalg.matrix_transpose", "linalg.tensordot", "linalg.vecdot")
Kernel = tuple[str, Callable[..., Any], Callable[[Call], str | None]]
REQUIRED = ("NAMESPACE", "ARRAY_TYPES")


def verb_attribute(verb: str) -> str:
    """The name that a backend module gives to its implementation of a verb."""
    return verb.replace(".", "_")


def lookup(namespace: Any, verb: str) -> Callable[..., Any] | None:
    """The function of a standard namespace, extensions included; None if it has none."""
    for part in verb.split("."):
        namespace = getattr(namespace, part, None)
    return namespace


def implementation(module: ModuleType, verb: str) -> Callable[..., Any] | None:
    """What serves a verb: its candidates, the backend's own function, or the library's."""
    kernels = candidates(module, verb)
    if kernels:
        return _first_able(verb, kernels)
    own = getattr(module, verb_attribute(verb), None)
    return own if own is not None else lookup(module.NAMESPACE, verb)


def candidates(module: ModuleType, verb: str) -> list[Kernel]:
    """The kernels that a backend lists for a verb, best first."""
    kernels: list[Kernel] = getattr(module, f"{verb_attribute(verb).upper()}_CANDIDATES", [])
    return kernels


def build_namespace(module: ModuleType) -> ModuleType:
    """A module that follows the standard, made of the backend's functions over those of its library.

    It bears the name of the library's namespace, by which array-api-compat and array-api-extra know it.
    """
    base = module.NAMESPACE
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
    for name in (*CONSTANTS, *STANDARD_DTYPES, *EXTRA_DTYPES):
        if hasattr(base, name):
            setattr(namespace, name, getattr(base, name))
    attributes: dict[str, Any] = {
        "__array_api_version__": "2025.12",
        "__array_namespace_info__": getattr(module, "__array_namespace_info__", None) or base.__array_namespace_info__,
        "__getattr__": lambda name: getattr(base, name),
    }
    vars(namespace).update(attributes)
    return namespace


def validate(module: ModuleType) -> None:
    """Hold a backend module against the contract of `xarrayops.plugin`.

    Raises
    ------
    InvalidBackend
        It names the file, the name and the signature that was expected.
    """
    where = getattr(module, "__file__", None) or module.__name__
    for name in REQUIRED:
        if not hasattr(module, name):
            raise InvalidBackend(f"{where} must define {name}; see xarrayops.plugin.")
    contract = {verb_attribute(verb): signature for verb, signature in SURFACE.items()}
    contract |= {name: str(inspect.signature(hook)) for name, hook in HOOKS.items()}
    package = f"{module.__name__}."
    for name, value in list(vars(module).items()):
        if name in contract:
            _check_signature(where, name, value, contract[name])
        elif (
            not name.startswith("_") and inspect.isfunction(value) and f"{value.__module__}.".startswith(f"{package}.")
        ):
            raise InvalidBackend(
                f"{where} defines {name}, which is neither a function of the standard nor a hook of "
                f"xarrayops.plugin{_near(name, contract)}. Begin a helper's name with an underscore."
            )
    for verb, signature in SURFACE.items():
        if implementation(module, verb) is None:
            raise InvalidBackend(
                f"{where} has no {verb_attribute(verb)} and {module.NAMESPACE.__name__} has none either; expected: "
                f"def {verb_attribute(verb)}{signature}. If the library cannot do it, say so: "
                f'{verb_attribute(verb)} = unsupported("why", instead="...").'
            )


def _check_signature(where: str, name: str, function: Any, expected: str) -> None:
    message = f"{where}: {name} must accept {name}{expected}"
    if not callable(function):
        raise InvalidBackend(f"{message}, but it is {function!r}.")
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return
    if not _accepts(found, _parse(expected)):
        raise InvalidBackend(f"{message}, but it is {name}{found}.")


def _parse(signature: str) -> inspect.Signature:
    """The signature that a text shows; annotations and the result are left out."""
    scope: dict[str, Any] = {}
    exec(f"from __future__ import annotations\ndef f{signature}: ...", scope)
    return inspect.signature(scope["f"])


def _accepts(found: inspect.Signature, expected: inspect.Signature) -> bool:
    """Whether every call that the expected signature allows is one that the found one allows."""
    kinds = inspect.Parameter
    have = list(found.parameters.values())
    variadic = {p.kind for p in have}
    positional = [p for p in have if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    used = set()
    for i, want in enumerate(expected.parameters.values()):
        by_place = positional[i] if i < len(positional) else None
        by_name = found.parameters.get(want.name)
        if want.kind is kinds.VAR_POSITIONAL:
            match = next((p for p in have if p.kind is kinds.VAR_POSITIONAL), None)
        elif want.kind is kinds.KEYWORD_ONLY:
            match = by_name if by_name and by_name.kind in (kinds.KEYWORD_ONLY, kinds.POSITIONAL_OR_KEYWORD) else None
            if match is None and kinds.VAR_KEYWORD in variadic:
                continue
        elif want.kind is kinds.POSITIONAL_ONLY:
            match = by_place
            if match is None and kinds.VAR_POSITIONAL in variadic:
                continue
        else:
            same = by_place is not None and by_place is by_name and by_place.kind is kinds.POSITIONAL_OR_KEYWORD
            match = by_place if same else None
            if match is None and kinds.VAR_POSITIONAL in variadic and kinds.VAR_KEYWORD in variadic:
                continue
        if match is None or (want.default is not kinds.empty and match.default is kinds.empty and _named(match)):
            return False
        used.add(match.name)
    return all(p.name in used or p.default is not kinds.empty or not _named(p) for p in have)


def _named(parameter: inspect.Parameter) -> bool:
    return parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _near(name: str, contract: dict[str, str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, contract, n=1)
    return f" (did you mean {close[0]}{contract[close[0]]}?)" if close else ""


def _absent(module: ModuleType, verb: str) -> Callable[..., Any]:
    library = module.NAMESPACE.__name__

    def absent(*args: Any, **kwargs: Any) -> Any:
        raise Unsupported(f"{library} has no {verb}.")

    return absent


def _first_able(verb: str, kernels: list[Kernel]) -> Callable[..., Any]:
    """A function that hands each call to the first kernel that can serve it."""

    def choose(*args: Any, **kwargs: Any) -> Any:
        call = Call(args, kwargs)
        reasons = []
        for name, function, can in kernels:
            reason = can(call)
            if reason is None:
                return function(*args, **kwargs)
            reasons.append(f"{name}: {reason}")
        raise Unsupported(f"no kernel of this library can serve {verb}: {'; '.join(reasons)}")

    return choose
