"""``check``, ``rewrite`` and ``verify`` of whole folders: a row for each file, and one summary."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xarrayops._cli.arguments import console, table
from xarrayops._system.texts import counted
from xarrayops.port.basics import UNUSABLE, PortError
from xarrayops.port.project import copied, is_test, programs, replace

if TYPE_CHECKING:
    from xarrayops.port.trace.model import Modelled


def check_folder(given: Namespace) -> int:
    """Check each program of a folder, and print a row for each; `UNUSABLE` if one cannot be read or run."""
    from xarrayops.port.checking import check
    from xarrayops.port.findings import ALL
    from xarrayops.port.trace.functions import answer, as_dict as of_models

    if given.page or given.machine:
        raise PortError("--page and --machine are for one file. Instead: name the file")
    is_executed = given.run or given.call is not None
    if is_executed != (given.device is not None):
        raise PortError("--run and --call of a folder need --for. Instead: --for h100 --run")
    folder: Path = given.file
    found: list[dict[str, Any]] = []
    rows = []
    for path in _programs(folder):
        try:
            report = check(path)
        except PortError as error:
            found.append({"path": str(path), "error": str(error)})
            rows.append((_name(path, folder), "", "not read", *[""] * len(ALL)))
            continue
        found.append(report.as_dict())
        by_backend = {each.backend: each.verdict for each in report.verdicts}
        kept = "tests" if is_test(path, folder) else str(len(report.findings))
        rows.append((_name(path, folder), str(len(report.source.lines)), kept, *(by_backend[name] for name in ALL)))
    errors = [each["error"] for each in found if "error" in each]
    runs, failures = _models(given, folder) if is_executed else ({}, [])
    status = UNUSABLE if errors or failures else 0
    if given.format == "json":
        of_runs = [{"path": name, **of_models(each), "notes": notes} for name, (each, notes) in runs.items()]
        as_dicts = {"runs": of_runs} if is_executed else {}
        print(json.dumps({"folder": str(folder), "files": found, **as_dicts}, indent=1))
        return status
    console().print(table("", ("file", "lines", "findings", *ALL), rows))
    kinds = Counter(each["kind"] for report in found for each in report.get("findings", ()))
    total = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common(5))
    print(
        "\n".join([*errors, f"{folder}: {counted(len(found), 'file')}, {counted(kinds.total(), 'finding')}: {total}"])
    )
    for name, (models, notes) in runs.items():
        print(name, *answer(models), *notes, sep="\n")
    return status


def _models(
    given: Namespace, folder: Path
) -> tuple[dict[str, tuple[tuple[Modelled, ...], tuple[str, ...]]], list[str]]:
    """The models and notes of the call, or of each script and notebook, with all functions; and what raised."""
    from xarrayops.port.source import Program
    from xarrayops.port.trace.functions import functions_of
    from xarrayops.port.trace.model import Machine, of_functions
    from xarrayops.port.trace.run import run

    program_of, lines_before, functions, count = dict[Path, Program](), dict[str, int](), dict[str, frozenset[int]](), 0
    for path in _programs(folder):
        with suppress(PortError):
            program = program_of[path] = Program.read(path.resolve())
            lines_before[program.source.path] = count
            functions |= functions_of(program.source.tree, f"{_name(path, folder)}: ", count)
            count += len(program.source.lines)
    runs: dict[Path, str | None] = {path: None for path in program_of if _is_run(path) and not is_test(path, folder)}
    if given.call is not None:
        module, _, call = given.call.partition(":")
        runs = {folder / f"{module.replace('.', '/')}.py": call}
    if not runs or not runs.keys() <= program_of.keys():
        what = "script" if given.call is None else "such program"
        raise PortError(f"{folder} has no {what}. Instead: --call 'module:f(np.ones(9))' with a module of it")
    device = Machine.published(given.device)
    found, failures = {}, list[str]()
    for path, call in runs.items():
        print(f"{_name(path, folder)} ...", file=sys.stderr, flush=True)
        try:
            trace = run(program_of[path], call, lines_before)
            found[_name(path, folder)] = of_functions(trace, device, functions), trace.notes
        except PortError as error:
            failures.append(f"{_name(path, folder)}: {error}")
    if not found:
        raise PortError("\n".join(failures))
    print(*failures, sep="\n", end="\n" if failures else "", file=sys.stderr)
    return found, failures


def rewrite_folder(given: Namespace, options: dict[str, Any]) -> int:
    """Rewrite each program of a folder except its tests, into a copy of the folder or in place."""
    from xarrayops.port.rewriting import rewrite

    folder: Path = given.file
    if given.out is None and not given.in_place and not given.diff:
        raise PortError(f"{folder} is a folder. Instead: -o OUT, a new folder, --in-place or --diff")
    results, found, rows = {}, list[dict[str, Any]](), []
    for path in _programs(folder):
        name = _name(path, folder)
        if is_test(path, folder):
            rows.append((name, "", "", "tests stay"))
            continue
        try:
            result = results[path] = rewrite(path, **options)
        except PortError as error:
            found.append({"path": str(path), "error": str(error)})
            rows.append((name, "", "", str(error)))
            continue
        found.append(as_dict(result))
        rows.append((name, str(len(result.edits)), str(len(result.todos)), ""))
    if given.diff:
        print("".join(result.diff() for result in results.values()), end="")
        return 0
    contents = {path: result.content() for path, result in results.items()}
    if given.in_place:
        replace(contents, backup=given.backup)
    else:
        copied(folder, given.out)
        for path, content in contents.items():
            (given.out / path.relative_to(folder)).write_bytes(content)
    out = given.file if given.in_place else given.out
    if given.format == "json":
        print(json.dumps({"folder": str(folder), "out": str(out), "files": found}, indent=1))
        return 0
    console().print(table("", ("file", "edits", "to decide", "note"), rows))
    edits, todos = (sum(len(getattr(each, name)) for each in results.values()) for name in ("edits", "todos"))
    print(f"{out}: {counted(len(results), 'file')}, {counted(edits, 'edit')}, {counted(todos, 'place')} to decide")
    return 0


def verify_folder(given: Namespace, compared: Callable[[Namespace], Any]) -> int:
    """Compare each script and notebook of a folder with its port in another one; 1 if a row is not the same."""
    folder: Path = given.original
    if given.time:
        raise PortError(f"{folder} is a folder. Instead: --time with a file")
    if not given.run or given.port is None or not given.port.is_dir():
        raise PortError(f"{folder} is a folder. Instead: --port FOLDER --run, or name the file of a call")
    found: list[dict[str, Any]] = []
    rows, differences = [], list[str]()
    for path in filter(_is_run, _programs(folder)):
        port = given.port / path.relative_to(folder)
        print(_name(path, folder), file=sys.stderr, flush=True)
        try:
            report, _ = compared(Namespace(**{**vars(given), "original": path, "port": port}))
        except PortError as error:
            found.append({"path": str(path), "ok": False, "error": str(error)})
            rows.append((_name(path, folder), "error", str(error)))
            continue
        found.append({"path": str(path), **report.as_dict()})
        outcomes = ", ".join(f"{each.run} {each.status}" for each in report.outcomes)
        result = "same" if report.ok else "different" if report.failures else "not compared"
        rows.append((_name(path, folder), result, outcomes))
        differences += [
            f"{_name(path, folder)}: {each.run}: {each.divergence or each.what}" for each in report.failures
        ]
    if not found:
        raise PortError(f"{folder} has no script or notebook that uses NumPy. Instead: --call with a file")
    is_ok = all(each["ok"] for each in found)
    if given.format == "json":
        print(json.dumps({"ok": is_ok, "files": found}, indent=1))
    else:
        console().print(table("", ("file", "result", "runs"), rows))
        print(*differences, sep="\n", end="\n" if differences else "")
    return 0 if is_ok else 1


def as_dict(result: Any) -> dict[str, Any]:
    """The edits and notes of a rewritten program as plain data, with the lines of the new text."""
    return {
        "path": result.path,
        "edits": [{**each._asdict(), "line": result.line_of(each)} for each in result.edits],
        "todos": [{**each._asdict(), "line": result.line_of(each)} for each in result.todos],
        "notes": list(result.notes),
    }


def _programs(folder: Path) -> list[Path]:
    found = programs(folder)
    if not found:
        raise PortError(f"{folder} has no Python file or notebook that uses NumPy. Instead: name another folder")
    return found


def _is_run(path: Path) -> bool:
    return path.suffix == ".ipynb" or b'if __name__ == "__main__"' in path.read_bytes().replace(b"'", b'"')


def _name(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder))
