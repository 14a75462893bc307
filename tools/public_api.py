"""Write the public API as data: every public name, and the signature of what can be called.

    python tools/public_api.py > tests/policy/public_api.json

Annotations are left out: they may become more exact, and no call depends on them.
"""

from __future__ import annotations

import inspect
import json
from typing import Any

import xarrayops as xo

MODULES = ("linalg", "fft", "random", "sparse")


def signature(function: Any) -> str:
    """The names, kinds and defaults of the parameters."""
    found = inspect.signature(function)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    return str(inspect.Signature(bare))


def described(value: Any) -> str:
    """The description of a public object: a signature, a class, or a value."""
    if inspect.isclass(value):
        is_error = issubclass(value, Exception)
        fields = getattr(value, "_fields", ())
        return "error" if is_error else f"class({', '.join(fields)})" if fields else f"class{signature(value)}"
    return repr(value) if isinstance(value, str) or not callable(value) else signature(value)


def public_api() -> dict[str, str]:
    """Every public name of the package and of its modules of functions."""
    found = {name: getattr(xo, name) for name in dir(xo) if name not in MODULES and not name.startswith("__")}
    for module in MODULES:
        found |= {f"{module}.{name}": getattr(getattr(xo, module), name) for name in dir(getattr(xo, module))}
    return {name: described(value) for name, value in sorted(found.items())}


if __name__ == "__main__":
    print(json.dumps(public_api(), indent=1))
