"""Functions of other packages in the namespaces of a program, such as SciPy's, replaced for a while."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import ModuleType
from typing import Any

from xarrayops.testing._verify._values import is_installed

Call = Callable[..., Any]
"""It gets a function and its arguments."""
_ROUNDING = ("numpy", "xarrayops", "array_api_compat")
"""The packages whose functions call those of NumPy step by step."""


class _Module:
    """A module of another package, whose functions are replaced."""

    def __init__(self, module: ModuleType, call: Call) -> None:
        self._module = module
        self._call = call

    def __getattr__(self, name: str) -> Any:
        return _replaced(getattr(self._module, name), self._call)


def _replaced(x: Any, call: Call) -> Any:
    """A module or a function of another package that is called by ``call``; everything else is returned."""
    if isinstance(x, ModuleType):
        return _Module(x, call) if _is_foreign(x.__name__) else x
    is_function = callable(x) and not isinstance(x, type) and hasattr(x, "__name__")
    return partial(call, x) if is_function and _is_foreign(getattr(x, "__module__", None)) else x


def _is_foreign(name: Any) -> bool:
    """Whether a module belongs to another installed package, and not to NumPy, whose functions round at random."""
    root = name.partition(".")[0] if isinstance(name, str) else "numpy"
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return root not in _ROUNDING and root not in sys.stdlib_module_names and is_installed(file)


@contextmanager
def calling(namespaces: Iterable[dict[str, Any]], call: Call) -> Iterator[None]:
    """A context in which ``call`` calls the functions of other packages that the namespaces name."""
    with ExitStack() as patches:
        for namespace in namespaces:
            for name, x in list(namespace.items()):
                replacement = _replaced(x, call)
                if replacement is not x:
                    patches.callback(namespace.__setitem__, name, x)
                    namespace[name] = replacement
        yield
