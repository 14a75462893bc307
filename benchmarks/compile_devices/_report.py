"""The records of a step: kept while it runs, so that it can continue, and written as evidence at its end."""

from __future__ import annotations

import hashlib
import json
import re
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from benchmarks.compile_devices._workers import Case, Record, compile_cases

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "compiled"
KEPT = ROOT / "bench-results" / "compiled"
_SOURCES = ("xarrayops", "backends", "benchmarks/compile_devices")
_LAST_WORDS = re.compile(r"(?<=ended by SIGABRT): .*", re.DOTALL)
"""The last line that a process wrote before it was ended, which differs between equal runs."""
STATES = ("compiled", "declared", "failed")


def run(
    step: str,
    cases: Sequence[Case],
    versions: Mapping[str, str],
    arguments: Namespace,
    *,
    targets: Sequence[str],
    environment: Mapping[str, str] | None = None,
    declared: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Compile the cases of a step that are not kept from an earlier run, write the evidence, and return it.

    ``targets`` names the devices, with their architectures; ``declared`` has the reason for each row or operation that
    must fail.
    """
    module = f"benchmarks.compile_devices.{step}"
    cases = [case for case in cases if arguments.cases in _name(case)]
    journal = _Journal(KEPT / f"{step}.jsonl", {**versions, "sources": _fingerprint()}, fresh=arguments.fresh)
    missing = [case for case in cases if _name(case) not in journal.records]
    compile_cases(module, missing, arguments, journal.keep, environment)
    records = [_as_declared(journal.records[_name(case)], declared or {}) for case in cases]
    print(f"{step}: {sum(record.get('seconds', 0.0) for record in records):.0f} s of CPU time")
    found = evidence(step, targets, versions, records)
    if not arguments.cases:
        write(step, found)
    return found


def _as_declared(record: Record, declared: Mapping[str, str]) -> Record:
    """The record; one that fails as declared is not a failure, and one that does not fail is."""
    reason = declared.get(str(record.get("row", record.get("operation"))))
    if reason is None:
        return record
    if record["state"] == "failed":
        cause = _LAST_WORDS.sub("", record["reason"])[:80]
        return {**record, "state": "declared", "reason": f"{reason} ({cause})"}
    return {**record, "state": "failed", "reason": f"it works, but is declared: {reason}"}


def evidence(
    step: str, targets: Sequence[str], versions: Mapping[str, str], records: Sequence[Record]
) -> dict[str, Any]:
    """The evidence of a step: targets, versions, counts and records, without what differs between equal runs."""
    rows: dict[str, set[str]] = {}
    for record in records:
        if "row" in record:
            rows.setdefault(record["row"], set()).add(record["state"])
    return {
        "step": step,
        "targets": list(targets),
        "versions": dict(versions),
        "counts": _counts(record["state"] for record in records),
        "rows": _counts(max(states, key=STATES.index) for states in rows.values()),
        "operations": _counts(record["state"] for record in records if "operation" in record),
        "records": [{name: value for name, value in record.items() if name != "seconds"} for record in records],
    }


def write(step: str, found: Mapping[str, Any]) -> None:
    """Write the evidence, with a line for each record, which gives readable diffs."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    head = json.dumps({name: value for name, value in found.items() if name != "records"}, indent=1)
    lines = ",\n  ".join(map(json.dumps, found["records"]))
    (RESULTS / f"{step}.json").write_text(f'{head[:-2]},\n "records": [\n  {lines}\n ]\n}}\n', encoding="utf-8")


def _counts(states: Iterable[str]) -> dict[str, int]:
    found = Counter(states)
    return {state: found[state] for state in STATES if found[state]}


def _name(case: Mapping[str, Any]) -> str:
    """What tells a case, or its record, from the others."""
    return " ".join(str(case[part]) for part in ("row", "operation", "dtype", "device") if part in case)


def _fingerprint() -> str:
    """A digest of the sources that decide what is compiled."""
    files = sorted(path for folder in _SOURCES for path in (ROOT / folder).rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


class _Journal:
    """A file with a line for each record. Its first line says for what they hold; another one starts it anew."""

    def __init__(self, path: Path, holds_for: Mapping[str, str], *, fresh: bool) -> None:
        self.path, self._lock = path, Lock()
        self.records: dict[str, Record] = {}
        first, *rest = path.read_text(encoding="utf-8").splitlines() if path.exists() else ("",)
        if fresh or first != json.dumps(holds_for):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(holds_for) + "\n", encoding="utf-8")
            return
        self.records = {_name(record): record for record in map(json.loads, rest)}

    def keep(self, record: Record) -> None:
        """Add a record."""
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            self.records[_name(record)] = record
            file.write(json.dumps(record) + "\n")
