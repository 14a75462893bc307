"""``python -m xarrayops.port``: move a NumPy program to other libraries.

The commands are ``check``, ``rewrite`` and ``verify``, which runs a function of two files, the original and the port,
and compares them on every library.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from xarrayops._cli.arguments import INTERRUPTED, console, names
from xarrayops._cli.terminal import Text
from xarrayops._system.texts import counted
from xarrayops.port.basics import DEVICES, STYLES, UNUSABLE, PortError
from xarrayops.port.folders import as_dict, check_folder, rewrite_folder, verify_folder
from xarrayops.port.project import replace

_DIFFERENT = 1
"""The exit status of ``verify`` if the results differ."""


def _printer() -> Callable[..., None]:
    """What prints a line made of parts: texts, or pairs of a text and its style."""
    shown = console()
    return lambda *parts: shown.print(Text.assemble(*parts), soft_wrap=True)


def _folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a folder of results of python -m xarrayops.bench")
    return path


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "The exit status is 2 if a file cannot be read or a run raises, also one of a folder; else 0."
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="a Python file, a notebook or a folder; by default it is only read")
    what = parser.add_mutually_exclusive_group()
    call = "execute the program, and this call at most 5 times: 'f(np.ones(9))', in a folder 'module:f(np.ones(9))'"
    what.add_argument("--call", metavar="CALL", help=call)
    what.add_argument(
        "--run", action="store_true", help="execute the script or the notebook as a whole, at most 5 times"
    )
    machine = "forecast for the machine that measured these results of the benchmark"
    add("--machine", type=_folder, metavar="DIR", help=machine)
    add(
        "--for",
        dest="device",
        type=str.lower,
        choices=DEVICES,
        help="a model of the run on a device, and what to port first",
    )
    add("--remeasure", action="store_true", help="measure this machine again for the forecast")
    add("--format", choices=("terminal", "json"), default="terminal", help="the output (default: %(default)s)")
    add("--page", type=Path, metavar="OUT.html", help="also write a page with the source and its findings")


def _check(arguments: argparse.Namespace) -> int:
    """Print the findings line by line, and the verdicts."""
    from xarrayops.port.checking import check, page
    from xarrayops.port.checking.verdict import READY, SMALL_FIXES
    from xarrayops.port.findings import alike, times, unless
    from xarrayops.port.source import write
    from xarrayops.port.trace.functions import answer

    if arguments.file.is_dir():
        return check_folder(arguments)
    if arguments.machine is not None and arguments.call is None and not arguments.run:
        raise PortError("--machine is for the forecast of a run. Instead: --run or --call 'f(np.ones(10))' with it")
    if arguments.device is not None and arguments.machine is not None:
        raise PortError("--for is a model, and --machine takes measured rates. Instead: one of them")
    options = {"machine": arguments.machine, "remeasure": arguments.remeasure, "device": arguments.device}
    report = check(arguments.file, arguments.call, script=arguments.run, **options)
    if arguments.page is not None:
        write(arguments.page, page.html(report).encode())
    if arguments.format == "json":
        print(json.dumps(report.as_dict(), indent=1))
        return 0
    show, source = _printer(), report.source
    colours = {READY: "green", SMALL_FIXES: "yellow"}
    for title, findings in (("", report.findings), ("lines that the call did not reach:", report.unreached)):
        if title and findings:
            show((title, "bold"))
        for line, found in groupby(findings, key=lambda finding: finding.line):
            show((f"{source.place(line)}: {source.lines[line - 1].strip()}", "bold"))
            for finding, count in alike(found).items():
                show(
                    (f"  {finding.kind}", "yellow" if finding.certain else "dim"),
                    (f" [{', '.join(finding.backends)}]{unless(finding)}: ", "dim"),
                    f"{finding.what}. Instead: {finding.instead}{times(count)}",
                )
    show(f"{source.path}: {report.summary()}")
    for forecast in report.forecasts:
        show(f"{forecast.backend} {forecast.device}: {forecast.text()}")
    for note in report.notes:
        show(note)
    for backend, verdict, reasons in report.verdicts:
        show(f"{backend}: ", (verdict, colours.get(verdict, "bold red")), f" ({'; '.join(reasons)})")
    for line in answer(report.models) if report.models else ():
        show(line)
    return 0


def _add_rewrite(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="a Python file, a notebook or a folder")
    style = "numpy: NumPy's names, from xarrayops.numpy; xo: the functions of xarrayops (default: numpy)"
    add("--style", choices=STYLES, default="numpy", help=style)
    returned = "functions that write into their arguments return them, and the calls in the file take them"
    add("--return-arguments", action="store_true", help=returned)
    stays = (
        "leave calls of SciPy that take the arrays of every library, and set SCIPY_ARRAY_API where the program starts"
    )
    add("--scipy-array-api", action="store_true", help=stays)
    whole = "masked assignments and loops become functions of whole arrays, where this is proved or --call shows it"
    add("--vectorize", action="store_true", help=whole)
    steps = "with --vectorize and --call: loops whose steps need the step before become xo.scan, for compilers"
    add("--scan", action="store_true", help=steps)
    add("--call", metavar="CALL", help="execute the program and this call on NumPy: it decides on edits of --vectorize")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("-o", "--out", type=Path, metavar="OUT", help="write the result to this file or new folder")
    in_place = "write the result over the program; it must be committed in git, or use --backup"
    output.add_argument("--in-place", action="store_true", help=in_place)
    output.add_argument("--diff", action="store_true", help="print the change as a diff")
    add("--backup", action="store_true", help="with --in-place: keep each original as FILE.bak")
    add("--format", choices=("terminal", "json"), default="terminal", help="the output (default: %(default)s)")


def _rewrite(arguments: argparse.Namespace) -> int:
    """Print the result without an output; otherwise the edits with their reasons, and the places to decide."""
    from xarrayops.port.rewriting import rewrite
    from xarrayops.port.source import write
    from xarrayops.port.vectorizing.offers import KIND

    if arguments.call is not None and not arguments.vectorize:
        raise PortError("--call decides on the edits of --vectorize. Instead: --vectorize with it")
    if arguments.scan and arguments.call is None:
        raise PortError("--scan needs a call that decides on its edits. Instead: --vectorize --scan --call CALL")
    if arguments.backup and not arguments.in_place:
        raise PortError("--backup is for --in-place. Instead: use both")
    given = "style", "return_arguments", "scipy_array_api", "vectorize", "scan", "call"
    options = {name: getattr(arguments, name) for name in given}
    if arguments.file.is_dir():
        if arguments.call is not None:
            raise PortError("--call executes one program. Instead: the file of the program, not its folder")
        return rewrite_folder(arguments, options)
    result = rewrite(arguments.file, **options)
    out = arguments.file if arguments.in_place else arguments.out
    if arguments.diff or out is None:
        if arguments.vectorize:
            reasons = [f"line {each.line}: {each.kind}: {each.reason}" for each in result.edits if each.kind == KIND]
            print("\n".join([*reasons, *result.notes]), file=sys.stdout if arguments.diff else sys.stderr)
        print(result.diff() if arguments.diff else result.text, end="")
        return 0
    if arguments.in_place:
        replace({out: result.content()}, backup=arguments.backup)
    else:
        write(out, result.content())
    if arguments.format == "json":
        print(json.dumps({**as_dict(result), "out": str(out)}, indent=1))
        return 0
    show = _printer()
    for line, edit in sorted((result.line_of(each), each) for each in result.edits):
        show(f"line {line}: {edit.kind}: {edit.reason}")
    for line, todo in sorted((result.line_of(each), each) for each in result.todos):
        show(f"line {line}: TODO(port): {todo.problem}")
    direct = sum("--scipy-array-api" in edit.reason for edit in result.edits)
    if direct:
        served = f"SciPy takes the arrays of every library in {counted(direct, 'call')}"
        show(f"{served}: --scipy-array-api leaves them as they are")
    for note in result.notes:
        show(note)
    show(f"{out}: {counted(len(result.edits), 'edit')}, {counted(len(result.todos), 'place')} to decide")
    return 0


def _add_verify(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    original = "the Python file that uses NumPy; it is executed. With --run also a notebook or a folder"
    add("original", type=Path, metavar="ORIGINAL", help=original)
    add("--port", type=Path, metavar="FILE", help="the port; by default ORIGINAL itself on all libraries")
    call = "a call of a function that both files define; arguments are evaluated with the names of ORIGINAL"
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--call", metavar='"f(args)"', help=call)
    run = "run the files as scripts, or the cells of notebooks in order, and compare their variables"
    what.add_argument("--run", action="store_true", help=run)
    add("--libraries", type=names, metavar="A,B", help='such as "torch,jax:jit"; by default all')
    add("--seconds", type=float, default=120.0, metavar="S", help="the time limit of each run (default: %(default)g)")
    add("--no-replay", action="store_true", help="do not search for the first line that differs")
    add("--time", action="store_true", help="time the port in alternation with the original, also by line")
    add("--format", choices=("text", "json"), default="text", help="how the report is printed")


def _verify(arguments: argparse.Namespace) -> int:
    """Compare the files, or the scripts and notebooks of folders, and print the report."""
    from xarrayops.port.comparing import compared

    if arguments.original.is_dir():
        return verify_folder(arguments, compared)
    report, times = compared(arguments)
    if arguments.format == "json":
        as_dicts = [{**each._asdict(), "change": each.change} for each in times]
        print(json.dumps({**report.as_dict(), **({"times": as_dicts} if arguments.time else {})}, indent=2))
    else:
        print(report, *times, sep="\n")
    return 0 if report.ok else _DIFFERENT


_OF_REWRITE = "rewrite a NumPy program for every library, with only those edits that keep its meaning"
COMMANDS = {
    "check": (_check, _add_check, "list what differs by library, line by line, with a verdict for each backend"),
    "rewrite": (_rewrite, _add_rewrite, _OF_REWRITE),
    "verify": (_verify, _add_verify, "compare a port with its original, on every library of this machine"),
}
"""What runs each command and returns its exit status, what adds its options, and its help text."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m xarrayops.port", description="Move a NumPy program to the libraries that xarrayops knows."
    )
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for name, (_, add, text) in COMMANDS.items():
        add(commands.add_parser(name, help=text, description=text))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 2 for files and calls that cannot be used, 130 after Ctrl-C."""
    given = _parser().parse_args(arguments)
    try:
        return COMMANDS[given.command][0](given)
    except PortError as error:
        print(f"error: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
