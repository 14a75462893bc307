"""How many public NumPy programs run on other libraries after ``python -m xarrayops.port rewrite``, untouched by hand.

    python benchmarks/port_programs.py --npbench DIR --pyhpc DIR [--only NAME,...] [--limit 60] [--out FILE]

The folders are checkouts of spcl/npbench and dionhaefner/pyhpc-benchmarks. Each NumPy program is rewritten, and then
the original and the result run on the same small inputs: the result on NumPy, PyTorch (float64) and JAX (64 bits).
Results, dtypes and the arguments after the call must be those of the original. Where the result does not run, the line
that raises must have a note in the text, or use a variable that a line with a note binds. npbench's nbody is left out:
its licence is GPL. The same for ``--style xo``, and for ``--return-arguments``, where the arrays that a program returns
stand instead of its arguments. port_patches.json has edits by hand of the programs that do not run everywhere.

The bars: no program whose meaning changed without an error and a note; of those that write no argument, at least 60 %
run everywhere, and 85 % after edits by hand of at most 10 lines; every other is announced at its line; in programs that
run everywhere, at most 10 % of the lines have a note. Ends with 3 if one is missed.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import numpy as np
import torch
from port_outcomes import differ, leaves, noted_lines, run
from rich.console import Console
from rich.table import Table

from xarrayops.port.rewriting import Returned, rewrite

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
WAYS: dict[str, dict[str, Any]] = {
    "numpy": {},
    "xo": {"style": "xo"},
    "return_arguments": {"return_arguments": True},
}
"""The options of the rewrites."""
PATCHES = Path(__file__).with_name("port_patches.json")
"""Edits by hand, by program: the hash of its source, and for each line a pattern and what takes its place."""
MOST_EDITS = 10
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
    returned: list[str] = field(default_factory=list)
    """The functions that return the arguments that they write."""
    edited_by_hand: int = 0
    """The number of lines that the edits by hand change."""
    edited_outcomes: dict[str, str] = field(default_factory=dict)
    edited_details: dict[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> bool:
        """Whether the result does the same everywhere."""
        return all(each == SAME for each in self.outcomes.values())

    @property
    def runs_after_edits(self) -> bool:
        """Whether it does the same everywhere after edits by hand of at most MOST_EDITS lines."""
        edited = bool(self.edited_outcomes) and all(each == SAME for each in self.edited_outcomes.values())
        return self.runs or (edited and self.edited_by_hand <= MOST_EDITS)

    @property
    def changed(self) -> bool:
        """Whether the meaning changed on a library without an error."""
        return DIFFERS in self.outcomes.values() or self.outcomes["numpy"] != SAME


def npbench(folder: Path, *, is_small: bool = True) -> Iterator[Program]:
    """The programs of npbench, by their descriptions, with small inputs or with those of its preset S."""
    for description in sorted((folder / "bench_info").glob("*.json")):
        info = json.loads(description.read_text())["benchmark"]
        name = info["short_name"]
        base = folder / "npbench" / "benchmarks" / info["relative_path"] / info["module_name"]
        if name not in LEFT_OUT:
            values = info["parameters"]["S"]
            values = _small(name, values) if is_small else values
            yield Program(
                name,
                Path(f"{base}_numpy.py"),
                info["func_name"],
                lambda i=info, b=base, v=values: _npbench_inputs(i, b, dict(v)),
            )


def _npbench_inputs(info: dict[str, Any], base: Path, values: dict[str, Any]) -> list[Any]:
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


def pyhpc(folder: Path, size: int = 512) -> Iterator[Program]:
    """The programs of pyhpc-benchmarks."""
    for path in sorted((folder / "benchmarks").glob("*/*_numpy.py")):
        inputs = runpy.run_path(str(path.parent / "__init__.py"))["generate_inputs"]
        yield Program(path.stem.removesuffix("_numpy"), path, "run", lambda make=inputs: list(make(size)))


def examine(program: Program, limit: float, patches: dict[str, Any]) -> Iterator[tuple[str, Row]]:
    """Rewrite a program in each way, and run the original and the results."""
    args = program.inputs()
    wanted = run(program.path, program.function, args, "numpy", 10 * limit)
    both = zip(leaves(args), leaves(wanted[1]), strict=True)
    writes = any(not np.array_equal(x, y, equal_nan=False) for x, y in both)
    for way, options in WAYS.items():
        new = rewrite(program.path, **options)  # type: ignore[arg-type]
        lines = sum(bool(line.strip()) and not line.strip().startswith("#") for line in new.original.splitlines())
        row = Row(program.name, writes, lines, len(new.todos), len({todo.line for todo in new.todos}), {})
        row.returned = [each.name for each in new.returned]
        returned = next((each for each in new.returned if each.name == program.function), None)
        for library in LIBRARIES:
            _examine_on(row, library, new.text, program, args, wanted, limit, returned)
        if way == "numpy" and not row.runs:
            _patch(row, patches.get(program.name), new.text, program, args, wanted, limit)
        yield way, row


def _patch(
    row: Row,
    patch: dict[str, Any] | None,
    text: str,
    program: Program,
    args: list[Any],
    wanted: list[Any],
    limit: float,
) -> None:
    """Make the edits by hand of a program that does not run everywhere, and run it again."""
    if patch is None or sha256(program.path.read_bytes()).hexdigest() != patch["sha256"]:
        return
    row.edited_by_hand = len(patch["edits"])
    for pattern, replacement in patch["edits"]:
        text, count = re.subn(pattern, replacement, text, count=1, flags=re.MULTILINE)
        if not count:
            raise ValueError(f"{program.name}: no line for {pattern}")
    edited = Row(row.name, row.writes_arguments, row.lines, row.notes, row.lines_with_notes, {})
    for library in LIBRARIES:
        _examine_on(edited, library, text, program, args, wanted, limit, None)
    row.edited_outcomes, row.edited_details = edited.outcomes, edited.details


def _examine_on(
    row: Row,
    library: str,
    text: str,
    program: Program,
    args: list[Any],
    wanted: list[Any],
    limit: float,
    returned: Returned | None,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(text)
        try:
            found = run(file, program.function, args, library, limit, returned)
        except TimeoutError:
            row.outcomes[library] = SLOW
        except Exception as error:
            row.outcomes[library] = RAISES
            frames = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno or 0 for frame in frames if frame.filename == str(file)]
            row.details[library] = f"{type(error).__name__} at line {lines[-1]}: {str(error)[:160]}"
            row.announced &= bool(noted_lines(text) & set(lines))
        else:
            both = zip(leaves(wanted), leaves(found), strict=False)
            is_same = len(leaves(wanted)) == len(leaves(found)) and not any(differ(x, y) for x, y in both)
            row.outcomes[library] = SAME if is_same else DIFFERS
            row.announced &= is_same or row.notes > 0


def summary(rows: list[Row], way: str) -> dict[str, Any]:
    """The figures of one way to rewrite."""
    pure = [row for row in rows if not row.writes_arguments]
    writing = [row for row in rows if row.writes_arguments]
    running = [row for row in rows if row.runs]
    noted = sum(row.lines_with_notes for row in running) / max(sum(row.lines for row in running), 1)
    return {
        "programs": len(rows),
        "changed_meaning": [row.name for row in rows if row.changed],
        "write_no_argument": len(pure),
        "of_these_run_everywhere": sum(row.runs for row in pure),
        **({"of_these_run_after_edits_by_hand": sum(row.runs_after_edits for row in pure)} if way == "numpy" else {}),
        "write_arguments": len(writing),
        "of_writing_run_everywhere": sum(row.runs for row in writing),
        "failing_runs": sum(outcome == RAISES for row in rows for outcome in row.outcomes.values()),
        "not_announced": [row.name for row in rows if not row.announced],
        "fraction_of_lines_with_notes_where_it_runs": round(noted, 4),
    }


def missed(figures: dict[str, dict[str, Any]]) -> list[str]:
    """The bars that are missed."""
    found = []
    for way, each in figures.items():
        if each["changed_meaning"]:
            found.append(f"{way}: the meaning changed: {', '.join(each['changed_meaning'])}")
        if each["not_announced"]:
            found.append(f"{way}: not announced: {', '.join(each['not_announced'])}")
    first = figures["numpy"]
    if first["of_these_run_everywhere"] < 0.6 * first["write_no_argument"]:
        found.append("less than 60 % of the programs that write no argument run everywhere")
    if first["of_these_run_after_edits_by_hand"] < 0.85 * first["write_no_argument"]:
        found.append("less than 85 % of them run everywhere after edits of at most 10 lines")
    if first["fraction_of_lines_with_notes_where_it_runs"] > 0.1:
        found.append("more than 10 % of the lines have notes in programs that run everywhere")
    return found


def show(way: str, rows: list[Row], console: Console) -> None:
    """Print a table."""
    table = Table(title=f"Rewritten programs: {way}", title_justify="left")
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
    parser.add_argument(
        "--patches", type=Path, default=PATCHES, metavar="FILE", help="edits by hand (default: port_patches.json)"
    )
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
    patches = json.loads(options.patches.read_text())
    rows: dict[str, list[Row]] = {way: [] for way in WAYS}
    for program in programs:
        for way, row in examine(program, options.limit, patches):
            rows[way].append(row)
            print(f"{program.name}, {way}: {row.outcomes} {row.edited_outcomes or ''}", file=sys.stderr, flush=True)
    figures = {way: summary(found, way) for way, found in rows.items()}
    for way, found in rows.items():
        show(way, found, Console(width=120))
    print(json.dumps(figures, indent=1))
    if options.out:
        versions = {name: version(name) for name in ("numpy", "torch", "jax")}
        programs_of = {way: [asdict(row) for row in found] for way, found in rows.items()}
        data = {"summary": figures, "versions": versions, "programs": programs_of}
        options.out.write_text(json.dumps(data, indent=1) + "\n")
    for each in missed(figures):
        print(f"missed: {each}", file=sys.stderr)
    return MISSED if missed(figures) else 0


if __name__ == "__main__":
    sys.exit(main())
