"""A backend module held against the contract of `xarrayops.plugin`, once, when it loads."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from types import ModuleType
from typing import Any

from xarrayops._namespace import implementation, verb_attribute
from xarrayops._surface import SURFACE
from xarrayops.errors import InvalidBackend
from xarrayops.plugin import HOOKS

REQUIRED = ("NAMESPACE", "ARRAY_TYPES")


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
        elif not name.startswith("_") and inspect.isfunction(value) and f"{value.__module__}.".startswith(package):
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
    close = get_close_matches(name, contract, n=1)
    return f" (did you mean {close[0]}{contract[close[0]]}?)" if close else ""
