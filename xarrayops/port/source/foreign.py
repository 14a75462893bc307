"""Calls of other packages and other modules, and functions that packages compile: what takes NumPy's arrays only.

``foreign.json`` has the packages that take NumPy's arrays, what each needs to take others, and the functions that then
do. ``benchmarks/foreign_calls.py`` writes it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

from xarrayops.port.source.modules import ModulePlace, uses_numpy_itself
from xarrayops.port.source.names import OTHER_ARRAYS, Names, is_foreign
from xarrayops.port.source.parameters import is_of_arrays
from xarrayops.port.source.value import words

COMPILERS = ("numba", "pythran", "transonic", "cython", "numexpr")
_TABLE = json.loads(Path(__file__).with_name("foreign.json").read_text(encoding="utf-8"))
_SETTINGS: dict[str, str] = _TABLE["packages"]
_TAKES = {name: frozenset(taken.split()) for taken, names in _TABLE["takes"].items() for name in names}
_OF_ARRAYS = words("colour healpy mne nibabel obspy pyfftw statsmodels tifffile")
"""Other packages whose functions take arrays."""
_EAGER = frozenset(("cupy", "jax", "torch"))
_ELEMENTWISE = ("scipy.special.", "scipy.stats.", "matplotlib.", "PIL.")
"""Modules whose functions return no arrays for numbers."""


class Foreign:
    """The calls of a program that other packages serve, and the functions that they compile."""

    def __init__(self, tree: ast.Module, names: Names, path: str) -> None:
        self._names = names
        self._place = ModulePlace.of(Path(path))
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
        if isinstance(node, ast.Name):
            values = filter(None, self._names.bound_to(node))
            found |= {self._names.resolve(part) for value in values for part in ast.walk(value)}
        named = (name for name in found if name is not None and name.partition(".")[0] in COMPILERS)
        return min(named, default=None)

    def name(self, node: ast.AST) -> str | None:
        """The dotted name of an object of another package; None for NumPy, the standard library and the own package."""
        name = self._names.resolve(node)
        return name if name is not None and is_foreign(name) and not self._place.has(name) else None

    def called(self, call: ast.Call) -> str | None:
        """What another package serves: a function, a method of an object that it made, or that object itself."""
        return self._called(call, self.name)

    def unported(self, call: ast.Call) -> str | None:
        """The other module of the program that serves a call in the same way, if it uses NumPy itself."""
        file = self.own_file(call)
        if file is None or not uses_numpy_itself(file):
            return None
        place = ModulePlace.of(file)
        return place.package if file.stem == "__init__" else place.qualified(file.stem)

    def own_file(self, call: ast.Call) -> Path | None:
        """The file of the other module of the program that serves a call; None if it is not found."""
        name = self._called(call, self._own_name)
        return None if name is None else self._place.file_of(name.partition("()")[0])

    def is_own(self, call: ast.Call) -> bool:
        """Whether another module of the program serves a call."""
        return self._called(call, self._own_name) is not None

    def _own_name(self, node: ast.AST) -> str | None:
        name = self._names.resolve(node)
        return name if name is not None and self._place.has(name) else None

    def _called(self, call: ast.Call, name_of: Callable[[ast.AST], str | None]) -> str | None:
        name = name_of(call.func)
        if name is not None:
            return name
        made = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        if isinstance(call.func, ast.Attribute) and is_of_arrays(call.func.attr):
            return None  # the package may have returned an array
        owner = self._maker(made, name_of)
        if owner is None:
            return None
        return f"{owner}().{call.func.attr}" if isinstance(call.func, ast.Attribute) else f"{owner}()"

    def _maker(self, node: ast.expr, name_of: Callable[[ast.AST], str | None]) -> str | None:
        """The name of what made an object, if all that may have made it are calls of one name."""
        if isinstance(node, ast.Call):
            return name_of(node.func)
        values = (
            self._names.bound_to(node)
            if isinstance(node, ast.Name)
            else self._names.attributes.get(ast.unparse(node), ())
        )
        found = {name_of(each.func) if isinstance(each, ast.Call) else None for each in values}
        return found.pop() if len(found) == 1 else None

    def takes_arrays_of_numpy(self, name: str) -> bool:
        """Whether arguments of unknown kind may be arrays, because arrays are what the package is for."""
        return name.partition(".")[0] in {*_SETTINGS, *COMPILERS, *_OF_ARRAYS} - {"matplotlib", *OTHER_ARRAYS}

    def takes_eager_arrays(self, name: str) -> bool:
        """Whether a function of SciPy takes the arrays of PyTorch, JAX and CuPy on every device, if it is set to."""
        return name.startswith("scipy.") and _TAKES.get(name.partition("()")[0], frozenset()) >= _EAGER

    def what_it_takes(self, name: str) -> str:
        """Which arrays a function takes besides NumPy's, and with which setting; empty if none."""
        taken = sorted(_TAKES.get(name.partition("()")[0], ()))
        if not taken:
            return ""
        *several, last = (each.replace(":cpu", " (on the CPU)") for each in taken)
        libraries = f"{', '.join(several)} and {last}" if several else last
        setting = _SETTINGS[name.partition(".")[0]]
        return f"arrays of {libraries} with {setting}, if all of its arrays belong to one library"

    def makes_arrays_of_numpy(self, name: str) -> bool:
        """Whether a function of numbers may return arrays."""
        return name.partition(".")[0] in _SETTINGS and not name.startswith(_ELEMENTWISE)

    def is_of_library(self, name: str) -> bool:
        """Whether the package has arrays of its own."""
        return name.partition(".")[0] in OTHER_ARRAYS
