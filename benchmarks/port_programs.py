"""How many public NumPy programs run on other libraries after ``python -m xarrayops.port rewrite``, untouched by hand.

    python benchmarks/port_programs.py --npbench DIR --pyhpc DIR [--only NAME,...] [--limit 60] [--out FILE]

The folders are checkouts of spcl/npbench and dionhaefner/pyhpc-benchmarks. Each NumPy program is rewritten, and then
the original and the result run on the same small inputs: the result on NumPy, PyTorch (float64) and JAX (64 bits).
Results, dtypes and the arguments after the call must be those of the original. Where the result does not run, the line
that raises must have a note in the text, or use a variable that a line with a note binds. npbench's nbody is left out:
its licence is GPL.

The bars: no program whose meaning changed without an error and a note; of those that write no argument, at least 60 %
run everywhere; every other is announced at its line; in programs that run everywhere, at most 10 % of the lines have a
note. Ends with 3 if one is missed.
"""

from __future__ import annotations

import argparse
import ast
import json
import runpy
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import xarrayops as xo
from xarrayops.port.rewrite import rewrite
from xarrayops.port.rewrite.edits import MARK

MISSED = 3
LIBRARIES = ("numpy", "torch", "jax")
LEFT_OUT = ("nbody",)
"""Programs under the GPL."""
KEPT = {
    "gramschm": {"M": 9},  # as many rows as columns
    "lenet": {"H": 20, "W": 20},
    "mandel2": {"maxiter": 12},
    "spmv": {"nnz": 30},
    "sthamfft": {"K": 4},
}
"""Sizes that the program needs, by program; other integers become at most 8."""
SAME, DIFFERS, RAISES, SLOW = "same", "differs", "raises", "slow"


@dataclass
class Program:
    """A program, its file, its function, and what makes its arguments."""

    name: str
    path: Path
    function: str
    inputs: Callable[[], list[Any]]


@dataclass
class Row:
    """What came out of one program."""

    name: str
    writes_arguments: bool
    lines: int
    notes: int
    lines_with_notes: int
    outcomes: dict[str, str]
    details: dict[str, str] = field(default_factory=dict)
    announced: bool = True

    @property
    def runs(self) -> bool:
        """Whether the result does the same everywhere."""
        return all(each in (SAME, SLOW) for each in self.outcomes.values())

    @property
    def changed(self) -> bool:
        """Whether the meaning changed on a library without an error."""
        return DIFFERS in self.outcomes.values() or self.outcomes["numpy"] != SAME


def npbench(folder: Path) -> Iterator[Program]:
    """The programs of npbench, by their descriptions."""
    for description in sorted((folder / "bench_info").glob("*.json")):
        info = json.loads(description.read_text())["benchmark"]
        name = info["short_name"]
        base = folder / "npbench" / "benchmarks" / info["relative_path"] / info["module_name"]
        if name not in LEFT_OUT:
            yield Program(
                name, Path(f"{base}_numpy.py"), info["func_name"], lambda i=info, b=base: _npbench_inputs(i, b)
            )


def _npbench_inputs(info: dict[str, Any], base: Path) -> list[Any]:
    values = _small(info["short_name"], info["parameters"]["S"])
    if "init" in info:
        init = info["init"]
        make = runpy.run_path(f"{base}.py")[init["func_name"]]
        made = make(*(values[name] for name in init["input_args"]))
        values |= zip(init["output_args"], made if len(init["output_args"]) > 1 else [made], strict=False)
    return [values[name] for name in info["input_args"]]


def _small(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Small sizes that differ from each other."""
    small = {
        key: 6 + place % 3 if isinstance(value, int) and value > 8 else value
        for place, (key, value) in enumerate(parameters.items())
    }
    return small | KEPT.get(name, {})


def pyhpc(folder: Path) -> Iterator[Program]:
    """The programs of pyhpc-benchmarks."""
    for path in sorted((folder / "benchmarks").glob("*/*_numpy.py")):
        inputs = runpy.run_path(str(path.parent / "__init__.py"))["generate_inputs"]
        yield Program(path.stem.removesuffix("_numpy"), path, "run", lambda make=inputs: list(make(512)))


def examine(program: Program, limit: float) -> Row:
    """Rewrite a program and run both."""
    new = rewrite(program.path)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(new.text)
        args = program.inputs()
        wanted = run(program.path, program.function, args, "numpy", 10 * limit)
        row = Row(
            program.name,
            any(
                not np.array_equal(x, y, equal_nan=False)
                for x, y in zip(_leaves(args), _leaves(wanted[1]), strict=True)
            ),
            sum(bool(line.strip()) and not line.strip().startswith("#") for line in new.original.splitlines()),
            len(new.todos),
            len({todo.line for todo in new.todos}),
            {},
        )
        for library in LIBRARIES:
            _examine_on(row, library, file, program, args, wanted, limit)
    return row


def _examine_on(
    row: Row, library: str, file: Path, program: Program, args: list[Any], wanted: list[Any], limit: float
) -> None:
    try:
        found = run(file, program.function, args, library, limit)
    except TimeoutError:
        row.outcomes[library] = SLOW
    except Exception as error:
        row.outcomes[library] = RAISES
        lines = [
            frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)
        ]
        row.details[library] = f"{type(error).__name__} at line {lines[-1]}: {str(error)[:160]}"
        row.announced &= bool(noted_lines(file.read_text()) & set(lines))
    else:
        both = zip(_leaves(wanted), _leaves(found), strict=False)
        is_same = len(_leaves(wanted)) == len(_leaves(found)) and not any(_differ(x, y) for x, y in both)
        row.outcomes[library] = SAME if is_same else DIFFERS
        row.announced &= is_same or row.notes > 0


def run(path: Path, function: str, args: list[Any], library: str, limit: float) -> list[Any]:
    """What a program returns, and its arguments afterwards, as NumPy's arrays."""
    has_arrays = any(isinstance(each, np.ndarray) for each in args)
    with warnings.catch_warnings(), _limited(limit), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        given = [xo.convert(x.copy(), library, copy=True) if isinstance(x, np.ndarray) else x for x in args]
        if has_arrays:
            result = runpy.run_path(str(path))[function](*given)
        else:
            with xo.use(library):
                result = runpy.run_path(str(path))[function](*given)
        return [_on_numpy(result), _on_numpy(given)]


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _on_numpy(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_on_numpy(each) for each in value]
    return np.asarray(xo.convert(value, "numpy")).copy() if hasattr(value, "dtype") else value


def _leaves(value: Any) -> list[Any]:
    return [leaf for each in value for leaf in _leaves(each)] if isinstance(value, (list, tuple)) else [value]


def _differ(x: Any, y: Any) -> bool:
    """Whether values differ by more than rounding, or in dtype or shape; numbers and arrays without axes are alike."""
    if x is None or y is None or isinstance(x, str):
        return x is not y and x != y
    a, b = np.asarray(x), np.asarray(y)
    if a.shape != b.shape or (a.ndim > 0 and a.dtype != b.dtype):
        return True
    tolerance = 1e-4 if a.dtype in (np.float32, np.complex64) else 1e-9
    scale = float(np.nanmax(np.abs(a), initial=0, where=np.isfinite(a))) if a.dtype.kind in "fc" else 0.0
    return not np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def noted_lines(text: str) -> set[int]:
    """The lines of the statements with a note, and of those that use a variable that a statement with a note binds."""
    lines = text.splitlines()
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    noted = [each for each in statements if _has_note(lines, each)]
    bound = {
        name.id
        for each in noted
        for name in _names(each)
        if isinstance(each, ast.Assign) and isinstance(name.ctx, ast.Store)
    }
    using = [each for each in statements if bound & {name.id for name in _names(each)}]
    return {line for each in (*noted, *using) for line in _lines(each)}


def _has_note(lines: list[str], statement: ast.stmt) -> bool:
    above = statement.lineno - 1
    while above and lines[above - 1].strip().startswith("#"):
        if lines[above - 1].strip().startswith(f"# {MARK}"):
            return True
        above -= 1
    return False


def _names(statement: ast.stmt) -> list[ast.Name]:
    return [] if hasattr(statement, "body") else [n for n in ast.walk(statement) if isinstance(n, ast.Name)]


def _lines(statement: ast.stmt) -> range:
    """The lines of a statement; of a compound statement only its head."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno or statement.lineno
    return range(statement.lineno, max(last, statement.lineno) + 1)


def summary(rows: list[Row]) -> dict[str, Any]:
    """The figures that the bars are about."""
    pure = [row for row in rows if not row.writes_arguments]
    running = [row for row in rows if row.runs]
    noted = sum(row.lines_with_notes for row in running) / max(sum(row.lines for row in running), 1)
    return {
        "programs": len(rows),
        "changed_meaning": [row.name for row in rows if row.changed],
        "write_no_argument": len(pure),
        "of_these_run_everywhere": sum(row.runs for row in pure),
        "of_these_with_notes_at_10_lines_or_fewer": sum(row.runs or row.lines_with_notes <= 10 for row in pure),
        "not_announced": [row.name for row in rows if not row.announced],
        "fraction_of_lines_with_notes_where_it_runs": round(noted, 4),
    }


def missed(figures: dict[str, Any]) -> list[str]:
    """The bars that are missed."""
    found = []
    if figures["changed_meaning"]:
        found.append(f"the meaning changed: {', '.join(figures['changed_meaning'])}")
    if figures["of_these_run_everywhere"] < 0.6 * figures["write_no_argument"]:
        found.append("less than 60 % of the programs that write no argument run everywhere")
    if figures["not_announced"]:
        found.append(f"not announced: {', '.join(figures['not_announced'])}")
    if figures["fraction_of_lines_with_notes_where_it_runs"] > 0.1:
        found.append("more than 10 % of the lines have notes in programs that run everywhere")
    return found


def show(rows: list[Row], console: Console) -> None:
    """Print a table."""
    table = Table(title="Rewritten programs", title_justify="left")
    for column in ("program", "writes arguments", *LIBRARIES, "notes", "lines", "announced"):
        table.add_column(column)
    for row in rows:
        cells = ("yes" if row.writes_arguments else "no", *(row.outcomes[library] for library in LIBRARIES))
        table.add_row(row.name, *cells, str(row.notes), str(row.lines), "yes" if row.announced else "NO")
    console.print(table)
    for row in rows:
        for library, detail in row.details.items():
            if not (row.writes_arguments and row.announced):
                console.print(f"{row.name}, {library}: {detail}", markup=False, highlight=False)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--npbench", type=Path, metavar="DIR", help="a checkout of spcl/npbench")
    parser.add_argument("--pyhpc", type=Path, metavar="DIR", help="a checkout of dionhaefner/pyhpc-benchmarks")
    parser.add_argument("--only", default="", metavar="NAME,...", help="only these programs")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="the longest run (default: 60)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    options = parser.parse_args()
    programs = [
        *(npbench(options.npbench) if options.npbench else ()),
        *(pyhpc(options.pyhpc) if options.pyhpc else ()),
    ]
    chosen = set(filter(None, options.only.split(",")))
    programs = [each for each in programs if not chosen or each.name in chosen]
    if not programs:
        parser.error("no programs: give --npbench or --pyhpc with a checkout")
    torch.set_default_dtype(torch.float64)
    jax.config.update("jax_enable_x64", True)
    rows = []
    for program in programs:
        rows.append(examine(program, options.limit))
        print(f"{program.name}: {rows[-1].outcomes}", file=sys.stderr, flush=True)
    figures = summary(rows)
    show(rows, Console(width=120))
    print(json.dumps(figures, indent=1))
    if options.out:
        versions = {name: version(name) for name in ("numpy", "torch", "jax")}
        data = {"summary": figures, "versions": versions, "programs": [asdict(row) for row in rows]}
        options.out.write_text(json.dumps(data, indent=1) + "\n")
    for each in missed(figures):
        print(f"missed: {each}", file=sys.stderr)
    return MISSED if missed(figures) else 0


if __name__ == "__main__":
    sys.exit(main())
