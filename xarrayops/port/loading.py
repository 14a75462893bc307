"""Executing a program: loads its files as modules of their package or folder, and parses calls."""

from __future__ import annotations

import ast
import importlib
import sys
import traceback
from collections.abc import Container, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from xarrayops.port.source import PortError, read
from xarrayops.port.source.modules import ModulePlace


@contextmanager
def importable(place: ModulePlace) -> Iterator[None]:
    """Make the modules of a program importable in this block; afterwards the process is as before.

    Modules of the same names from other folders, such as an original and its port, are hidden.
    """
    known = set(sys.modules)
    elsewhere = [name for name in known if place.has(name) and not place.is_from_here(name)]
    hidden = {name: sys.modules.pop(name) for name in elsewhere}
    folder = str(place.folder)
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    try:
        if place.package:
            importlib.import_module(place.package)
        yield
    finally:
        sys.path.remove(folder)
        for name in [name for name in sys.modules if place.has(name) and (name not in known or name in hidden)]:
            del sys.modules[name]
        sys.modules.update(hidden)


@contextmanager
def registered(name: str, module: ModuleType) -> Iterator[None]:
    """``import name`` gives this module in the block. Modules that the block imports stay loaded."""
    known = sys.modules.get(name)
    sys.modules[name] = module
    try:
        yield
    finally:
        sys.modules.pop(name, None)
        if known is not None:
            sys.modules[name] = known


def loaded(path: Path, role: str, modules: ExitStack, text: str | None = None) -> ModuleType:
    """The module of a file, which is executed; it may import the other modules of its program.

    ``text`` is executed instead of what is in the file.
    """
    if path.suffix != ".py":
        raise PortError(f"{path} is not a Python file. Instead: a file whose name ends in .py")
    read(path)  # for the messages about files that cannot be read
    place = ModulePlace.of(path)
    modules.enter_context(importable(place))
    spec = spec_from_file_location(place.qualified(f"{role}_{path.stem}"), path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    modules.enter_context(registered(spec.name, module))
    if text is None:
        spec.loader.exec_module(module)
    else:
        exec(compile(text, str(path.resolve()), "exec"), vars(module))
    return module


def calls_of(call: ast.Call) -> list[ast.Call]:
    """The calls that a call consists of, the first one last: of a method, the call that makes its object."""
    found = [call]
    node = call.func
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            found.append(node)
        if not isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
            raise PortError(f'--call: {ast.unparse(node)} is not a name. Instead: --call "Class(3).method(np.ones(3))"')
        node = node.func if isinstance(node, ast.Call) else node.value
    return found


def function_of(module: ModuleType, path: Path, call: ast.Call) -> Any:
    """The function that a call calls, of a module or of a class in it.

    Of several calls, such as ``Class(3).method(x)``, it is a function of the arguments of each, the last call's first.
    """
    several = calls_of(call)
    try:
        if len(several) == 1:
            return attrgetter(ast.unparse(call.func))(module)
        attrgetter(ast.unparse(several[-1].func))(module)
    except AttributeError:
        name = ast.unparse(several[-1].func)
        raise PortError(f"{path} has no function {name!r}. Instead: the name of a function of the file") from None
    given = {id(each): f"given[{i}]" for i, each in enumerate(several)}
    text = f"lambda *given: {_with_arguments(call, given)}"
    function = eval(compile(text, "<call>", "eval"), vars(module))
    function.__qualname__ = _with_arguments(call, {})
    return function


def _with_arguments(node: ast.expr, given: dict[int, str]) -> str:
    """The text of a call with the arguments of its calls from variables, or left out."""
    match node:
        case ast.Call():
            variable = given.get(id(node))
            inner = "..." if variable is None else f"*{variable}[0], **{variable}[1]"
            return f"{_with_arguments(node.func, given)}({inner})"
        case ast.Attribute():
            return f"{_with_arguments(node.value, given)}.{node.attr}"
        case ast.Subscript():
            return f"{_with_arguments(node.value, given)}[{ast.unparse(node.slice)}]"
    return ast.unparse(node)


def last_line(error: BaseException, files: Container[str]) -> tuple[str, int] | None:
    """The file and the line that ran last before an error, among these files; None if none of them did."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    return (frames[-1].filename, frames[-1].lineno or 1) if frames else None


def parsed_call(text: str) -> ast.Call:
    """The call that the text of ``--call`` describes."""
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise PortError(f'--call {text!r} is not Python: {error.msg}. Instead: --call "f(np.ones(3))"') from None
    if not isinstance(call, ast.Call):
        raise PortError(f'--call {text!r} is not a call of a function. Instead: --call "f(np.ones(3))"')
    return call


def arguments_of(call: ast.Call, variables: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, by position and by keyword, evaluated with these variables."""
    collect = ast.Call(ast.Name("collect arguments", ast.Load()), call.args, call.keywords)
    expression = ast.fix_missing_locations(ast.copy_location(ast.Expression(collect), call))
    known = {**variables, "collect arguments": lambda *args, **keywords: (args, keywords)}
    found: tuple[tuple[Any, ...], dict[str, Any]] = eval(compile(expression, "<call>", "eval"), known)
    return found
