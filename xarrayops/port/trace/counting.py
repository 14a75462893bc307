"""The code of a program whose calls of NumPy and of other packages count, in all modules of the program."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from xarrayops.port.loading import Place
from xarrayops.port.source.names import Names, is_foreign
from xarrayops.port.trace.modules import foreign, importer
from xarrayops.port.trace.record import Trace

_FOREIGN = "__counted_foreign_call__"


def counting(trace: Trace) -> dict[str, Any]:
    """The variables of a module whose code counts: it imports NumPy's functions as those that count."""
    return {"__builtins__": {**vars(builtins), "__import__": importer(trace)}, _FOREIGN: foreign(trace)}


def counted_code(text: str, path: str, place: Place) -> CodeType:
    """The code of a text with calls of packages that are no part of the program counted."""
    tree = ast.parse(text)
    _CountForeign(Names(tree), place).visit(tree)
    return compile(tree, path, "exec")


class _CountForeign(ast.NodeTransformer):
    """Wraps the functions of other packages where they are called."""

    def __init__(self, names: Names, place: Place) -> None:
        self._names, self._place = names, place

    def visit_Call(self, node: ast.Call) -> ast.Call:
        name = self._names.resolve(node.func)
        self.generic_visit(node)
        if name is not None and is_foreign(name) and not self._place.has(name):
            counted = ast.Call(ast.Name(_FOREIGN, ast.Load()), [node.func], [])
            node.func = ast.copy_location(ast.fix_missing_locations(ast.copy_location(counted, node.func)), node.func)
        return node


@contextmanager
def counted_modules(place: Place, trace: Trace) -> Iterator[None]:
    """The other modules of the program are loaded so that they count, too."""
    finder = _Finder(place, trace)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    """Finds the modules of a program."""

    def __init__(self, place: Place, trace: Trace) -> None:
        self._place, self._trace = place, trace

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module with a loader that counts; None for modules of others."""
        spec = PathFinder.find_spec(name, path, target) if self._place.has(name) else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path, self._place, self._trace)
        return spec


class _Loader(SourceFileLoader):
    """Executes a module of a program so that it counts."""

    def __init__(self, name: str, path: str, place: Place, trace: Trace) -> None:
        super().__init__(name, path)
        self._place, self._trace = place, trace

    def get_code(self, fullname: str) -> CodeType:
        """The code, from the source alone: the cache of Python has code that does not count."""
        path = Path(self.get_filename(fullname))
        return counted_code(self.get_source(fullname) or "", str(path), self._place)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module."""
        vars(module).update(counting(self._trace))
        self._trace.modules.append(module)
        super().exec_module(module)
