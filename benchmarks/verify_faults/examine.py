"""One program: its right port and its faults, given to the command `verify`."""

from __future__ import annotations

import ast
import contextlib
import io
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mutations import faults
from oracle import PLACES, compare, module, outcome
from ports import FAULTS, ONLY, PROGRAMS, port

from xarrayops.port.__main__ import main as command

LIBRARIES = "numpy,torch:eager,torch:meta,jax:eager"
RIGHT = f"{LIBRARIES},dask:chunks,array_api_strict"
"""Right ports run on more libraries than ports with a fault."""


@dataclass
class Row:
    """What came out of a program: why its right port was refused, its faults by kind, and those that passed."""

    program: str
    refused: str = ""
    faults: Counter[str] = field(default_factory=Counter)
    equivalent: int = 0
    passed: list[dict[str, str]] = field(default_factory=list)


def examined(file: Path, name: str, per_kind: int) -> Row:
    """Verify the right port of a program, and as many faults of each kind."""
    original, text, row = module(file.read_text(), file.stem), port(file), Row(name)
    call = original.CALLS[name]
    status, printed = verified(file, text, call, ONLY.get(name, RIGHT))
    row.refused = printed if status else ""
    for kind, fault in chosen(text, name, call, original, per_kind):
        if kind == "equivalent":
            row.equivalent += 1
            continue
        row.faults[kind] += 1
        if not is_refused(file, fault, call, ONLY.get(name, LIBRARIES)):
            row.passed.append({"program": name, "kind": kind, "fault": lines_of_fault(text, fault)})
    return row


def programs() -> list[tuple[Path, str]]:
    """The file and the name of each program."""
    files = sorted(PROGRAMS.glob("*.py"))
    return [(file, name) for file in files for name in module(file.read_text(), file.stem).CALLS]


def verified(original: Path, text: str, call: str, libraries: str) -> tuple[int, str]:
    """The exit status of the command, and what it printed."""
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, original.name)
        path.write_text(text)
        options = ("--call", call, "--libraries", libraries, "--no-replay")
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = command(["verify", str(original), "--port", str(path), *options])
    return status, printed.getvalue()


def chosen(text: str, name: str, call: str, original: Any, per_kind: int) -> Iterator[tuple[str, str]]:
    """Faults of each kind that change something, and those that change nothing with the kind "equivalent"."""
    libraries = [each for each in PLACES if each in ONLY.get(name, LIBRARIES)]
    want = {library: outcome(text, original, call, library) for library in libraries}
    assert not any(isinstance(each, str) for each in want.values()), (name, want)
    found = [(kind, text.replace(old, new)) for kind, old, new in FAULTS.get(name, ()) if old in text]
    planted = list(faults(text, name))
    random.Random(name).shuffle(planted)  # the same ones in each run
    counts: Counter[str] = Counter()
    for kind, fault in [*found, *planted]:
        if counts[kind] >= per_kind:
            continue
        relation = related(want, fault, original, call)
        if relation == "raises" and kind != "refused":
            continue  # any test finds it
        if relation != "equal":
            counts[kind] += 1
            yield kind, fault
        else:
            yield "equivalent", fault


def related(want: dict[str, Any], fault: str, original: Any, call: str) -> str:
    """Whether a fault "raises" on NumPy, is "different" on a library, or "equal" on all but for rounding."""
    for library, expected in want.items():
        got = outcome(fault, original, call, library)
        if library == "numpy" and isinstance(got, str):
            return "raises"
        if compare(expected, got) == "different":
            return "different"
    return "equal"


def is_refused(original: Path, text: str, call: str, libraries: str) -> bool:
    """Whether the command fails. What it refuses on NumPy alone it refuses on more libraries."""
    return any(verified(original, text, call, several)[0] for several in ("numpy", libraries))


def lines_of_fault(text: str, fault: str) -> str:
    """The lines of a fault that the right port does not have."""
    known = set(ast.unparse(ast.parse(text)).splitlines())
    return "\n".join(line.strip() for line in ast.unparse(ast.parse(fault)).splitlines() if line not in known)
