"""Calls of other packages, and functions that they compile: code that takes NumPy's arrays only."""

from __future__ import annotations

import ast
from pathlib import Path

from xarrayops.port.source.names import OTHER_ARRAYS, Names, is_foreign
from xarrayops.port.source.parameters import is_of_arrays
from xarrayops.port.source.value import words

COMPILERS = ("numba", "pythran", "transonic", "cython", "numexpr")
_OF_NUMPY = words("cv2 imageio librosa matplotlib numba PIL pywt scipy skimage sklearn soundfile")
"""Packages that take NumPy's arrays: an argument of unknown kind may be one."""


class Foreign:
    """The calls of a program that other packages serve, and the functions that they compile."""

    def __init__(self, tree: ast.Module, names: Names, path: str) -> None:
        self._names = names
        self._own = _package_of(path)
        found = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        self.compiled: dict[ast.FunctionDef | ast.AsyncFunctionDef, str] = {}
        """The functions that another package compiles, with the name of what compiles them."""
        for node in found:
            for decorator in node.decorator_list:
                name = self._compiler(decorator.func if isinstance(decorator, ast.Call) else decorator)
                if name is not None:
                    self.compiled[node] = name
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = self._compiler(call.func.func if isinstance(call.func, ast.Call) else call.func)
            if name is not None:
                given = (names.functions.get(each.id) for each in call.args if isinstance(each, ast.Name))
                self.compiled |= {node: name for node in given if node is not None}

    def _compiler(self, node: ast.AST) -> str | None:
        """The name of a function that compiles, or may: ``compile = numba.njit if is_quick else skip``."""
        found = {self._names.resolve(node)}
        if isinstance(node, ast.Name) and (owner := self._names.scope_of(node).owner(node.id)) is not None:
            values = [each.value for each in owner.bindings.get(node.id, ()) if each.value is not None]
            found |= {self._names.resolve(part) for value in values for part in ast.walk(value)}
        named = (name for name in found if name is not None and name.partition(".")[0] in COMPILERS)
        return min(named, default=None)

    def name(self, node: ast.AST) -> str | None:
        """The dotted name of an object of another package; None for NumPy, the standard library and the own package."""
        name = self._names.resolve(node)
        is_own = name is not None and name.partition(".")[0] == self._own
        return name if name is not None and not is_own and is_foreign(name) else None

    def called(self, call: ast.Call) -> str | None:
        """What another package serves: a function, a method of an object that it made, or that object itself."""
        name = self.name(call.func)
        if name is not None:
            return name
        made = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        if isinstance(call.func, ast.Attribute) and is_of_arrays(call.func.attr):
            return None  # the package may have returned an array
        owner = self._maker(made)
        if owner is None:
            return None
        return f"{owner}().{call.func.attr}" if isinstance(call.func, ast.Attribute) else f"{owner}()"

    def _maker(self, node: ast.expr) -> str | None:
        """The name of what made an object, if all that may have made it are calls of one name."""
        if isinstance(node, ast.Call):
            return self.name(node.func)
        if not isinstance(node, ast.Name):
            return None
        owner = self._names.scope_of(node).owner(node.id)
        values = [] if owner is None else [each.value for each in owner.bindings.get(node.id, ())]
        found = {self.name(each.func) if isinstance(each, ast.Call) else None for each in values}
        return found.pop() if len(found) == 1 else None

    def takes_arrays_of_numpy(self, name: str) -> bool:
        """Whether arguments of unknown kind may be arrays, because arrays are what the package is for."""
        return name.partition(".")[0] in _OF_NUMPY

    def is_of_library(self, name: str) -> bool:
        """Whether the package has arrays of its own."""
        return name.partition(".")[0] in OTHER_ARRAYS


def _package_of(path: str) -> str | None:
    """The package that a file is a part of, by the ``__init__.py`` of the folders around it; None for a script."""
    found = None
    for folder in Path(path).absolute().parents:
        if not (folder / "__init__.py").is_file():
            break
        found = folder.name
    return found
