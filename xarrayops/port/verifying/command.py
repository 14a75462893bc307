"""The command ``verify``: run a function of two files, the original and the port, and compare them on every library."""

from __future__ import annotations

import argparse
import ast
import json
import sys
import traceback
from contextlib import ExitStack
from importlib.util import module_from_spec, spec_from_file_location
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from xarrayops._cli.arguments import names
from xarrayops.plugin.arrays import Record
from xarrayops.port.loading import Place, importable
from xarrayops.port.source import PortError, read

HELP = "compare a port with its original, on every library of this machine"
DIFFERENT = 1
"""The exit status if the results differ."""


class _Call(Record):
    """A call of the command line: the function's name, and the values of the arguments."""

    function: str
    args: tuple[Any, ...]
    keywords: dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    parser.add_argument(
        "original", type=Path, metavar="ORIGINAL", help="the Python file that uses NumPy; it is executed"
    )
    parser.add_argument(
        "--port", type=Path, metavar="FILE", help="the port; by default ORIGINAL itself on all libraries"
    )
    parser.add_argument(
        "--call",
        required=True,
        metavar='"f(args)"',
        help="a call of a function that both files define; arguments are evaluated with the names of ORIGINAL",
    )
    parser.add_argument("--libraries", type=names, metavar="A,B", help='such as "torch,jax:jit"; by default all')
    parser.add_argument("--no-replay", action="store_true", help="do not search for the first line that differs")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the report is printed")


def run(arguments: argparse.Namespace) -> int:
    """Compare, print the report, and return the exit status."""
    from xarrayops.testing import verify  # it imports NumPy

    with ExitStack() as modules:
        try:
            original = _loaded(arguments.original, "original", modules)
            port = original if arguments.port is None else _loaded(arguments.port, "port", modules)
            call = _parsed(arguments.call, original)
            expected = _function(original, arguments.original, call.function)
            function = _function(port, arguments.port or arguments.original, call.function)
            report = verify(
                function,
                *call.args,
                expected=None if function is expected else expected,
                keywords=call.keywords,
                libraries=arguments.libraries,
                replay=not arguments.no_replay,
            )
        except PortError:
            raise
        except (Exception, SystemExit) as error:  # the files of users may raise anything
            raise PortError(f"{_place(error, arguments)}{type(error).__name__}: {error}") from None
    print(json.dumps(report.as_dict(), indent=2) if arguments.format == "json" else report)
    return 0 if report.ok else DIFFERENT


def _place(error: BaseException, arguments: argparse.Namespace) -> str:
    """The last line of the files that ran before an error; empty if none did."""
    files = {str(path.resolve()): path for path in (arguments.original, arguments.port) if path is not None}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    return f"{files[frames[-1].filename]}, line {frames[-1].lineno}: " if frames else ""


def _loaded(path: Path, role: str, modules: ExitStack) -> ModuleType:
    """The module of a file, which is executed; it may import the other modules of its program."""
    if path.suffix != ".py":
        raise PortError(f"{path} is not a Python file. Instead: a file whose name ends in .py")
    read(path)  # for the messages about files that cannot be read
    place = Place.of(path)
    modules.enter_context(importable(place))
    spec = spec_from_file_location(place.qualified(f"{role}_{path.stem}"), path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    modules.callback(sys.modules.pop, spec.name, None)
    spec.loader.exec_module(module)
    return module


def _parsed(text: str, original: ModuleType) -> _Call:
    """The call that a text describes; its arguments are evaluated with the names of the original and ``np``."""
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise PortError(f'--call {text!r} is not Python: {error.msg}. Instead: --call "f(np.ones(3))"') from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
        raise PortError(f'--call {text!r} is not a call of a function. Instead: --call "f(np.ones(3))"')
    import numpy

    scope = {"np": numpy, "numpy": numpy, **vars(original)}
    arguments = eval(f"(lambda *args, **keywords: (args, keywords))({_inside(call)})", scope)
    return _Call(ast.unparse(call.func), *arguments)


def _inside(call: ast.Call) -> str:
    """The arguments of a call, as text."""
    parts = [ast.unparse(each) for each in call.args]
    parts += [
        f"{each.arg}={ast.unparse(each.value)}" if each.arg else f"**{ast.unparse(each.value)}"
        for each in call.keywords
    ]
    return ", ".join(parts)


def _function(module: ModuleType, path: Path, name: str) -> Any:
    try:
        return attrgetter(name)(module)
    except AttributeError:
        raise PortError(f"{path} has no function {name!r}. Instead: name one that both files define") from None
