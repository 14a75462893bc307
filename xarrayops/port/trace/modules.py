"""The modules of a traced program, and the counting modules that replace NumPy and xarrayops in them."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from xarrayops.port.source.modules import ModulePlace
from xarrayops.port.source.names import Names, is_foreign, numpy_name_of
from xarrayops.port.trace.array import At, Traced, call, plain, wrapped
from xarrayops.port.trace.kinds import GENERATORS
from xarrayops.port.trace.record import Trace, arrays_in, timed_call

_FOREIGN = "__counted_foreign_call__"


class NumPy(ModuleType):
    """A module of NumPy, or one of ours, whose functions count their calls."""

    def __init__(self, module: ModuleType, trace: Trace) -> None:
        super().__init__(module.__name__)
        self.__dict__.update({"_module": module, "_trace": trace, "__all__": getattr(module, "__all__", ())})

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            found = NumPy(found, self._trace) if _is_counted(found) else found
        elif callable(found) and not isinstance(found, type | str):  # our dtypes are names
            found = _counting(found, f"{self._module.__name__}.{name}", self._trace)
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        return dir(self._module)


def _is_counted(module: ModuleType) -> bool:
    return module.__name__.partition(".")[0] in ("numpy", "xarrayops")


def _counting(function: Any, name: str, trace: Trace) -> Any:
    """The function of a dotted name so that it counts, if it is NumPy's, has NumPy's name, or updates elements."""
    if name == "xarrayops.at":
        return lambda x: At(trace, x) if trace.counts else function(x)
    if name == "xarrayops.on_host":
        return lambda *args, **options: _foreign(trace, function(*args, **options))
    return Function(function, trace) if numpy_name_of(name) is not None else function


class Function:
    """A function of NumPy that counts its calls, or a generator of random numbers whose methods do."""

    def __init__(self, function: Any, trace: Trace) -> None:
        self._function, self._trace = function, trace
        self.__name__ = getattr(function, "__name__", "")
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, and count it while the trace counts."""
        if not self._trace.counts:
            return self._function(*args, **kwargs)
        with self._trace.of_function():
            is_elementwise = isinstance(self._function, np.ufunc) and any(isinstance(x, Traced) for x in args)
            if is_elementwise:
                return self._function(*args, **kwargs)
            result = call(self._trace, self._function, args, kwargs)
        return Function(result, self._trace) if isinstance(result, GENERATORS) else result

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._function, name)
        return Function(found, self._trace) if callable(found) else found


def _import(trace: Trace, name: str, *arguments: Any, **options: Any) -> Any:
    """The ``__import__`` of a program: it returns counting modules for NumPy and ours, and all others unchanged."""
    module = builtins.__import__(name, *arguments, **options)
    return NumPy(module, trace) if isinstance(module, ModuleType) and _is_counted(module) else module


def _foreign(trace: Trace, function: Any) -> Any:
    """A function of another package that is called with plain arrays, and counts their bytes."""

    def called(*args: Any, **kwargs: Any) -> Any:
        with trace.inside:
            given, options = plain(args), plain(kwargs)
            result, seconds = timed_call(function, *given, **options)
            trace.add_foreign(arrays_in([given, options, result]), seconds)
            return wrapped(result, trace)

    return called if trace.counts else function


def counting(trace: Trace) -> dict[str, Any]:
    """The variables of a module whose code counts: its imports return counting NumPy functions."""
    imports = {"__import__": partial(_import, trace)}
    return {"__builtins__": {**vars(builtins), **imports}, _FOREIGN: partial(_foreign, trace)}


def counted_code(text: str, path: str, place: ModulePlace) -> CodeType:
    """Compile a source so that calls of packages outside the program are counted."""
    tree = ast.parse(text)
    _CountForeign(Names(tree), place).visit(tree)
    return compile(tree, path, "exec")


class _CountForeign(ast.NodeTransformer):
    """Wraps the functions of other packages where they are called."""

    def __init__(self, names: Names, place: ModulePlace) -> None:
        self._names, self._place = names, place

    def visit_Call(self, node: ast.Call) -> ast.Call:
        name = self._names.resolve(node.func)
        self.generic_visit(node)
        if name is not None and is_foreign(name) and not self._place.has(name):
            counted = ast.Call(ast.Name(_FOREIGN, ast.Load()), [node.func], [])
            node.func = ast.copy_location(ast.fix_missing_locations(ast.copy_location(counted, node.func)), node.func)
        return node


@contextmanager
def counted_modules(place: ModulePlace, trace: Trace) -> Iterator[None]:
    """Load the other modules of the program so that they count, too."""
    finder = _Finder(place, trace)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    """Finds the modules of a program."""

    def __init__(self, place: ModulePlace, trace: Trace) -> None:
        self._place, self._trace = place, trace

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module with a counting loader; None for modules outside the program."""
        spec = PathFinder.find_spec(name, path, target) if self._place.has(name) else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path, self._place, self._trace)
        return spec


class _Loader(SourceFileLoader):
    """Executes a module of a program so that it counts."""

    def __init__(self, name: str, path: str, place: ModulePlace, trace: Trace) -> None:
        super().__init__(name, path)
        self._place, self._trace = place, trace

    def get_code(self, fullname: str) -> CodeType:
        """The code, always compiled from the source: Python's cached bytecode does not count."""
        path = Path(self.get_filename(fullname))
        return counted_code(self.get_source(fullname) or "", str(path), self._place)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module."""
        vars(module).update(counting(self._trace))
        self._trace.modules.append(module)
        super().exec_module(module)
