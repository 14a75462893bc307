"""Check a backend module against the contract of `xarrayops.plugin`, once, when it loads."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from functools import cache
from types import ModuleType
from typing import Any

from xarrayops._core.backends.namespace import candidates_attribute, has_implementation, verb_attribute
from xarrayops._generic.hooks import HOOKS, signature as hook_signature
from xarrayops._surface import EXTRA, SURFACE
from xarrayops.errors import InvalidBackend
from xarrayops.plugin.arrays import Gap
from xarrayops.plugin.sparse import SparseSupport

REQUIRED = ("NAMESPACE", "ARRAY_TYPES")
OPTIONAL = {
    "UNTRACEABLE": (dict, "a dict of Gap by function name"),
    "IMMUTABLE": (bool, "True or False"),
    "IGNORES_VALUES": (bool, "True or False"),
    "READS_CAPTURED_ARRAYS": (bool, "True or False"),
    "COMPILATION_SECONDS": (float, "a number of seconds, as a float"),
    "WRAPS_INTEGERS": (bool, "True or False"),
    "CASTS_INTEGERS": (tuple, "a tuple of names of functions"),
    "ORDERS_COMPLEX": (bool, "True or False"),
    "CANNOT_OVERFLOW": (tuple, "a tuple of names of functions"),
    "COMPUTES_IN_DOUBLE": (tuple, "a tuple of names of functions"),
    "NO_STRIDES": (Gap, "a Gap"),
    "SHARED_ENVIRONMENT": (dict, "a dict of strings"),
    "ENVIRONMENT": (tuple, "a tuple of names of environment variables"),
    "SETTINGS": (dict, "a dict of environment variables by the name of the setting"),
    "KNOWN_BAD": (tuple, "a tuple of KnownBad"),
    "SPARSE": (SparseSupport, "a SparseSupport"),
    "EXTRA": (str, "the name of a module or a package"),
    "ALTERNATIVES": (str, "the name of a module"),
    "HOOK_MODULES": (dict, "a dict of names of modules by hook"),
}


def validate(module: ModuleType) -> None:
    """Check a backend module against the contract of `xarrayops.plugin`.

    Raises
    ------
    InvalidBackend
        The module breaks the contract. The message has the file, the name and the expected signature.
    """
    where = getattr(module, "__file__", None) or module.__name__
    for name in REQUIRED:
        if not hasattr(module, name):
            raise InvalidBackend(f"{where} must define {name}; see xarrayops.plugin.")
    contract = {verb_attribute(verb): signature for verb, signature in (SURFACE | EXTRA).items()}
    contract |= {hook: str(hook_signature(hook)) for hook in HOOKS}
    _check_data(where, module, contract)
    _check_names(where, module, contract, "neither a function of the standard nor a hook of xarrayops.plugin")
    for hook in getattr(module, "HOOK_MODULES", {}).keys() - HOOKS.keys():
        raise InvalidBackend(
            f"{where}: HOOK_MODULES has {hook!r}, which is not a hook{_near(hook, dict.fromkeys(HOOKS, ''))}."
        )
    for verb, signature in SURFACE.items():
        if not has_implementation(module, verb):
            raise InvalidBackend(
                f"{where} has no {verb_attribute(verb)} and {module.NAMESPACE.__name__} has none; expected: "
                f"def {verb_attribute(verb)}{signature}. If the library cannot do it: "
                f'{verb_attribute(verb)} = unsupported("why", instead="...").'
            )


@cache
def validate_extra(module: ModuleType) -> None:
    """Check a module that a backend names in ``EXTRA``: its functions are of `EXTRA`, with their parameters.

    Raises
    ------
    InvalidBackend
        As for `validate`.
    """
    where = getattr(module, "__file__", None) or module.__name__
    contract = {verb_attribute(verb): signature for verb, signature in EXTRA.items()}
    _check_names(where, module, contract, "not a function of tools/extra.pyi")
    known = {candidates_attribute(verb) for verb in EXTRA}
    for name in vars(module):
        if name.endswith("_CANDIDATES") and not name.startswith("_") and name not in known:
            raise InvalidBackend(f"{where} defines {name}, which no function of tools/extra.pyi uses.")


@cache
def validate_hook(module: ModuleType, hook: str) -> None:
    """Check a module that a backend names in ``HOOK_MODULES``: it defines the hook, or lists kernels for it.

    Raises
    ------
    InvalidBackend
        As for `validate`.
    """
    where = getattr(module, "__file__", None) or module.__name__
    expected, listed = f"{hook}{hook_signature(hook)}", candidates_attribute(hook)
    if not hasattr(module, hook) and not hasattr(module, listed):
        raise InvalidBackend(f"{where} must define {expected} or {listed}, as HOOK_MODULES of the backend says.")
    if hasattr(module, hook):
        _check_signature(where, hook, getattr(module, hook), expected)
    if hasattr(module, listed):
        _check_candidates(where, listed, getattr(module, listed), expected)


def _check_names(where: str, module: ModuleType, contract: dict[str, str], otherwise: str) -> None:
    """Check the functions and candidate lists of a module; ``otherwise`` describes any other function in the error."""
    package = f"{module.__name__}."
    candidates = {candidates_attribute(verb): f"{verb}{signature}" for verb, signature in contract.items()}
    for name, value in list(vars(module).items()):
        if name in contract:
            _check_signature(where, name, value, f"{name}{contract[name]}")
        elif name in candidates:
            _check_candidates(where, name, value, candidates[name])
        elif not name.startswith("_") and inspect.isfunction(value) and f"{value.__module__}.".startswith(package):
            raise InvalidBackend(
                f"{where} defines {name}, which is {otherwise}{_near(name, contract)}. "
                f"Begin a helper's name with an underscore."
            )


def _check_data(where: str, module: ModuleType, contract: dict[str, str]) -> None:
    """Check the backend's constants. Its own constants must not have names similar to those of the contract."""
    types = module.ARRAY_TYPES
    if not (isinstance(types, tuple) and types and all(isinstance(cls, type) for cls in types)):
        raise InvalidBackend(f"{where}: ARRAY_TYPES must be a tuple of classes, but it is {types!r}.")
    known = (*REQUIRED, *OPTIONAL, *map(candidates_attribute, contract))
    for name, value in list(vars(module).items()):
        if name in OPTIONAL:
            cls, what = OPTIONAL[name]
            if not isinstance(value, cls):
                raise InvalidBackend(f"{where}: {name} must be {what}, but it is {value!r}.")
        elif name.isupper() and not name.startswith("_") and name not in known:
            close = get_close_matches(name, known, n=1, cutoff=0.75)
            if close or name.endswith("_CANDIDATES"):
                meant = f" (did you mean {close[0]}?)" if close else ""
                raise InvalidBackend(
                    f"{where} defines {name}, which is not a constant of xarrayops.plugin{meant}. "
                    f"Begin the names of your own constants with an underscore."
                )


def _check_candidates(where: str, name: str, kernels: Any, expected: str) -> None:
    if not isinstance(kernels, (list, tuple)):
        raise InvalidBackend(f"{where}: {name} must be a list of (name, function, refusal), but it is {kernels!r}.")
    for i, kernel in enumerate(kernels):
        if not (isinstance(kernel, tuple) and len(kernel) == 3 and isinstance(kernel[0], str)):
            raise InvalidBackend(
                f"{where}: {name}[{i}] must be a tuple (name, function, refusal), but it is {kernel!r}."
            )
        _check_signature(where, f"{name}[{i}][1]", kernel[1], expected)
        _check_signature(where, f"{name}[{i}][2]", kernel[2], "refusal(call, /)")


def _check_signature(where: str, what: str, function: Any, expected: str) -> None:
    message = f"{where}: {what} must accept {expected}"
    name, bracket, parameters = expected.partition("(")
    if not callable(function):
        raise InvalidBackend(f"{message}, but it is {function!r}.")
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return
    if not _accepts(found, _parse(bracket + parameters)):
        raise InvalidBackend(f"{message}, but it is {name}{found}.")


def _parse(signature: str) -> inspect.Signature:
    """The signature that a text shows, without annotations."""
    scope: dict[str, Any] = {}
    exec(f"from __future__ import annotations\ndef f{signature}: ...", scope)
    return inspect.signature(scope["f"])


def _accepts(found: inspect.Signature, expected: inspect.Signature) -> bool:
    """Whether the found signature accepts the shortest and the longest call that the expected one accepts."""
    kinds = inspect.Parameter
    wanted = list(expected.parameters.values())
    places = [p for p in wanted if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    options = [p for p in wanted if p.kind is kinds.KEYWORD_ONLY]
    more: list[Any] = [None, None] if any(p.kind is kinds.VAR_POSITIONAL for p in wanted) else []
    required = [[p for p in group if p.default is kinds.empty] for group in (places, options)]
    by_name = [p for p in places if p.kind is kinds.POSITIONAL_OR_KEYWORD]
    calls: tuple[tuple[list[inspect.Parameter], list[Any], list[inspect.Parameter]], ...] = (
        (required[0], [], required[1]),
        (places, more, options),
        (places[: len(places) - len(by_name)], [], [*by_name, *options]),
    )
    for by_place, others, named in calls:
        try:
            bound = found.bind(*([None] * len(by_place)), *others, **{p.name: None for p in named})
        except TypeError:
            return False
        names = [name for name in bound.arguments if found.parameters[name].kind not in _MANY]
        if any(p in by_name and p.name != name for name, p in zip(names, by_place, strict=False)):
            return False  # the names are in another order
    return True


_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _near(name: str, contract: dict[str, str]) -> str:
    close = get_close_matches(name, contract, n=1)
    return f" (did you mean {close[0]}{contract[close[0]]}?)" if close else ""
