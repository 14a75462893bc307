"""Published performance claims, measured on this machine with the benchmark.

    python benchmarks/claims [--size toy|default] [--only ID,ID] [--budget 600] [--out FILE.json]

Each claim is a ratio of two workloads, whose answers are checked against float64 as in the benchmark. A claim holds if
the interval of the ratio is within a tenth of the claimed value. It is undecided if the interval crosses a limit or has
too few rounds. Claims that this machine cannot measure are reported with the reason. Run it on an otherwise idle
machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from catalogue import CLAIMS, Claim
from judging import MEMORY_NOISE, NEAR, Finding, judge, unmeasured
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from xarrayops._cli import doctor
from xarrayops._cli.arguments import INTERRUPTED, console, names, seconds, select
from xarrayops.bench import workload_sources
from xarrayops.bench.results import Results, Row
from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import PROCESSES, ROUND_S, BenchPlan
from xarrayops.bench.run.progress import Watcher
from xarrayops.bench.run.runner import run

SOURCES = (str(Path(__file__).with_name("claim_workloads.py")),)
SIZES = ("toy", "default")
BUDGET_S = 600.0
TIMEOUT_S = 300.0
"""The limit for one answer: preparing the matrices of order 10000 takes two products on the CPU, one in float64."""
SHARED = ("xarrayops", "machine", "load", "settings")
"""The entries that the environments of all runs share."""
STYLES = {"holds": "green", "stronger": "bold green", "weaker": "yellow", "does not hold": "bold red"}


@dataclass(frozen=True)
class Settings:
    """The settings of the runs. ``budget_s`` applies to each set of libraries."""

    size: str = "default"
    budget_s: float = BUDGET_S
    processes: int = PROCESSES
    rounds: int = 12
    round_s: float = ROUND_S

    @classmethod
    def of(cls, size: str, budget_s: float) -> Settings:
        """The settings for a size. The toy size only shows that everything runs; two rounds decide nothing."""
        return cls(size, budget_s, processes=1, rounds=2, round_s=0.005) if size == "toy" else cls(size, budget_s)


@dataclass
class Here:
    """The kinds of devices of each library on this machine, or the reason why it has none."""

    devices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    @classmethod
    def look(cls, backends: Sequence[str]) -> Here:
        """Examine each library in a separate process."""
        here = cls()
        for found in doctor.examine_all(backends):
            if found["available"]:
                here.devices[found["name"]] = tuple(dict.fromkeys(device["kind"] for device in found["devices"]))
            else:
                here.reasons[found["name"]] = f"{found['name']}: {found['reason']}. {found['hint']}"
        return here

    def places(self, claim: Claim) -> list[tuple[str, str]]:
        """The libraries and kinds of devices on which the claim can be measured."""
        if claim.against and claim.against not in self.devices:
            return []
        return [(name, kind) for name in claim.backends for kind in self.devices.get(name, ()) if kind in claim.devices]

    def lacking(self, claim: Claim) -> list[tuple[str, str]]:
        """The libraries in which the claim cannot be measured, and the reasons."""
        found = {name: self.reasons.get(name, "") for name in (*claim.backends, claim.against) if name}
        for name in claim.backends:
            if name in self.devices and not set(self.devices[name]) & set(claim.devices):
                found[name] = f"{name} has no {' or '.join(claim.devices)} device here"
        return [(name, reason) for name, reason in found.items() if reason]


def measured(claims: Sequence[Claim], here: Here, settings: Settings) -> tuple[list[Finding], list[dict[str, Any]]]:
    """The findings in the order of the claims, and the environment of each run."""
    groups: dict[tuple[str, ...], list[Claim]] = {}
    for claim in claims:
        needed = dict.fromkeys(name for place in here.places(claim) for name in (claim.against, place[0]) if name)
        if needed:
            groups.setdefault(tuple(needed), []).append(claim)
    rows: dict[tuple[str, ...], list[Row]] = {}
    environments = []
    for backends, members in groups.items():
        results = _run(backends, members, settings)
        rows[backends] = results.rows
        environments.append(results.environment)
    group_of = {claim.id: backends for backends, members in groups.items() for claim in members}
    findings = []
    for claim in claims:
        table = _by_place(rows.get(group_of.get(claim.id, ()), []))
        findings += [judge(claim, backend, kind, table) for backend, kind in here.places(claim)]
        findings += [unmeasured(claim, reason, backend) for backend, reason in here.lacking(claim)]
    return findings, environments


def _run(backends: tuple[str, ...], claims: Sequence[Claim], settings: Settings) -> Results:
    """One run of the benchmark with all workloads of some claims."""
    wanted = {name for claim in claims for name in (claim.baseline, claim.contestant)}
    plan = BenchPlan(
        backends=backends,
        workloads=tuple(workload for workload in workload_sources.load(SOURCES) if workload.name in wanted),
        timeout_s=TIMEOUT_S,
        sources=SOURCES,
        command="python benchmarks/claims",
        **vars(settings),
    )
    with tempfile.TemporaryDirectory() as folder, Watcher([Path(folder)], Console(stderr=True)) as watcher:
        return run(plan, watcher, Journal(Path(folder)))


def _by_place(rows: Sequence[Row]) -> dict[tuple[str, str, str], list[Row]]:
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.size):
        found.setdefault((row.workload, row.backend, row.device_kind), []).append(row)
    return found


def report(findings: Sequence[Finding], environments: Sequence[Mapping[str, Any]], size: str) -> dict[str, Any]:
    """The content of the file: machine, date, rules and findings."""
    shared = {name: environments[0][name] for name in SHARED} if environments else {}
    return {
        **shared,
        "date": environments[0]["date"] if environments else None,
        "seconds": round(sum(each["seconds"] for each in environments), 1),
        "versions": {name: known for each in environments for name, known in each["versions"].items()},
        "devices": {name: known for each in environments for name, known in each["devices"].items()},
        "size": size,
        "rule": {
            "ratio": "the baseline's time or memory divided by the contestant's",
            "interval": "of the median ratio of the rounds; for memory, from the overhead of a process",
            "near": NEAR,
            "memory_noise_bytes": MEMORY_NOISE,
        },
        "claims": [asdict(finding) for finding in findings],
    }


def show(findings: Sequence[Finding], size: str, console: Console) -> None:
    """Print a line for each finding, and each claim's source once."""
    table = Table(title=f"Claims ({size} size)", title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for column in ("claim", "backend and device", "finding", "verdict", "reason"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        place = f"{finding.backend} {finding.device}".strip()
        verdict = Text(finding.verdict, style=STYLES.get(finding.verdict, "dim"))
        table.add_row(finding.id, place, finding.summary, verdict, Text(finding.reason))
    console.print(table)
    for finding in {finding.id: finding for finding in findings}.values():
        source = finding.source
        says = "which says" if source["has_figure"] else "which does not have the figure but says"
        console.print(Text(f"{finding.id}: {finding.claim}."))
        console.print(Text(f"  {source['origin']}; {source['url']}, {says}: {source['says']}."))
    if size == "toy":
        console.print(Text("Toy sizes only show that the claims can be measured.", style="yellow"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the claims, and print and write the findings. Returns 1 if nothing could be measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="default", help="size of the inputs (default: %(default)s)")
    parser.add_argument("--only", type=names, default=(), metavar="ID,ID", help="measure only these claims")
    parser.add_argument(
        "--budget",
        type=seconds,
        default=BUDGET_S,
        metavar="TIME",
        help="time limit for each set of libraries: 90 or 90s, 5m, 1h (default: %(default)g s)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="write the findings as JSON")
    options = parser.parse_args(arguments)
    try:
        chosen = select([claim.id for claim in CLAIMS], options.only, "claim")
    except ValueError as error:
        parser.error(str(error))
    claims = [claim for claim in CLAIMS if claim.id in chosen]
    here = Here.look(list(dict.fromkeys(name for claim in claims for name in (*claim.backends, claim.against) if name)))
    try:
        findings, environments = measured(claims, here, Settings.of(options.size, options.budget))
    except KeyboardInterrupt:
        print("Interrupted; nothing was written.", file=sys.stderr)
        return INTERRUPTED
    show(findings, options.size, console())
    if options.out:
        written = json.dumps(report(findings, environments, options.size), indent=1)
        options.out.write_text(written + "\n", encoding="utf-8")
    return 0 if any(finding.found is not None for finding in findings) else 1


if __name__ == "__main__":
    sys.exit(main())
