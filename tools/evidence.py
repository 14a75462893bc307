"""The evidence for each library and kind of accelerator: run, compiled or not run, from benchmarks/results.

The tests that ran are in gpu-*/summary.json, what was compiled for devices that were not there in compiled/*.json.
`tools/readme.py` writes the result into the package, the README and the docs.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from xarrayops._surface import EXTRA, OWN, SURFACE

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
DATA = ROOT / "xarrayops" / "_system" / "evidence.json"
KINDS = {"cuda": "CUDA", "rocm": "ROCm", "tpu": "TPU"}
NAMES = {"cupy": "CuPy", "jax": "JAX", "torch": "PyTorch", "torch_xla": "PyTorch/XLA"}
PAIRS = (
    *(("cupy", "cuda"), ("cupy", "rocm")),
    *(("jax", "cuda"), ("jax", "rocm"), ("jax", "tpu")),
    *(("torch", "cuda"), ("torch", "rocm")),
    ("torch_xla", "tpu"),
)
"""The libraries with accelerators, and the kinds that each can use."""
NOT_RUN = "not run"


class Step(NamedTuple):
    """What a step of benchmarks/compile_devices shows for a pair: its level, and in words, also of a record.

    Only records and targets count whose device matches the pattern.
    """

    name: str
    pair: tuple[str, str]
    level: str = "compiled"
    done: str = "compiled for"
    record: str = "calls compiled"
    devices: str = ""


_SOURCES = ("sources compiled", "sources compiled for", "compilations of sources")
STEPS = (
    Step("xla_cuda", ("jax", "cuda")),
    Step("xla_rocm", ("jax", "rocm")),
    Step("xla_tpu", ("jax", "tpu")),
    Step("torch_xla_tpu", ("torch_xla", "tpu")),
    Step("fake_cuda", ("torch", "cuda"), "traced", "traced on", "rows and calls traced"),
    Step("cuda_sources", ("cupy", "cuda"), *_SOURCES, "sm_|no device"),
    Step("cuda_sources", ("cupy", "rocm"), *_SOURCES, "gfx"),
)


class Proof(NamedTuple):
    """The evidence for a pair by one file: its level, what it is in words, and the state of each record."""

    level: str
    text: str
    records: list[tuple[str, str, str]]
    """The function, the state and the reason."""

    def count(self, state: str, function: str | None = None) -> int:
        """The number of records in a state, of all functions or of one."""
        return sum(each == state and function in (None, name) for name, each, _ in self.records)


Evidence = dict[tuple[str, str], list[Proof]]


def gather(results: Path = RESULTS) -> Evidence:
    """The proofs for each pair of a library and a kind of accelerator."""
    found: Evidence = {pair: [] for pair in PAIRS}
    for path, known in summaries(results):
        for pair, proofs in found.items():
            tests = [counts for name, counts in known["tests"].items() if f"{name}-".startswith(f"{'-'.join(pair)}-")]
            if tests:
                counts = {state: sum(each.get(state, 0) for each in tests) for state in ("passed", "failed", "skipped")}
                done = f"run on {' and '.join(known['devices'])} with {_listed(known['versions'][pair[0]])}"
                ran = [(name, "run", "") for name in known["functions"]]
                proofs.append(Proof("run", f"{done}: tests {_counted(counts)} ({path.parent.name})", ran))
    for step in STEPS:
        path = results / "compiled" / f"{step.name}.json"
        if path.exists():
            proof = _of_step(step, json.loads(path.read_text()))
            found[step.pair] += [proof] if proof.count(step.level) else []
    return found


def summaries(results: Path = RESULTS) -> list[tuple[Path, dict[str, Any]]]:
    """What is known of each run on devices."""
    return [(path, json.loads(path.read_text())) for path in sorted(results.glob("gpu-*/summary.json"))]


def _of_step(step: Step, known: dict[str, Any]) -> Proof:
    records = [r for r in known["records"] if re.match(step.devices, r.get("device", ""))]
    found = [(function_of(r), r["state"].replace("compiled", step.level), r.get("reason", "")) for r in records]
    proof = Proof(step.level, "", found)
    counts = {step.record: proof.count(step.level), **{state: proof.count(state) for state in ("failed", "declared")}}
    targets = ", ".join(target for target in known["targets"] if re.match(step.devices, target))
    done = f"{step.done} {targets} with {_listed(known['versions'])}"
    return proof._replace(text=f"{done}: {_counted(counts)} ({step.name})")


def function_of(record: dict[str, Any]) -> str:
    """The function of a record, the first word of its name; none for those of the namespace xarrayops.numpy."""
    name: str = record.get("row") or record["operation"]
    return "" if name.endswith(" of xarrayops.numpy") else name.split()[0]


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {state}" for state, number in counts.items() if number)


def written(found: Evidence) -> str:
    """The data of the package."""
    data: dict[str, Any] = {}
    for (library, kind), proofs in found.items():
        levels = [proof.level for proof in proofs] or [NOT_RUN]
        data.setdefault(library, {})[kind] = {"levels": levels, "text": _text(proofs)}
    return json.dumps(data, indent=1) + "\n"


def _text(proofs: list[Proof]) -> str:
    return "; ".join(proof.text for proof in proofs) or NOT_RUN


def short_rows(found: Evidence) -> list[tuple[str, ...]]:
    """A row for each library, with the levels for each kind and the number of declared calls."""
    cells = {pair: "; ".join(map(_short, proofs)) or NOT_RUN for pair, proofs in found.items()}
    return [(name, *(cells.get((library, kind), "") for kind in KINDS)) for library, name in NAMES.items()]


def _short(proof: Proof) -> str:
    declared = proof.count("declared")
    return f"{proof.level}, {declared} declared" if declared else proof.level


def long_rows(found: Evidence) -> list[tuple[str, ...]]:
    """A row for each library and kind."""
    return [(NAMES[library], KINDS[kind], _text(proofs)) for (library, kind), proofs in found.items()]


def failed_rows(results: Path = RESULTS) -> list[tuple[str, ...]]:
    """The tests that failed on devices, and what is known of each."""
    known = [(path.parent.name, each) for path, summary in summaries(results) for each in summary["failed"]]
    return [(run, f"`{each['test'].rpartition('::')[2]}`", each["reason"]) for run, each in known]


def random_rows(results: Path = RESULTS) -> list[tuple[str, ...]]:
    """The numbers of xarrayops.random that were compared with NumPy's, and how many of them differ."""
    rows = [
        (
            known["random"]["source"],
            " and ".join(known["devices"]),
            known["random"]["numbers"],
            known["random"]["differing"],
        )
        for _, known in summaries(results)
    ]
    path = results / "compiled" / "cuda_sources.json"
    equal = [r for r in json.loads(path.read_text())["records"] if "numbers" in r and r["state"] == "compiled"]
    rows.append(("one kernel", "none: compiled for the CPU", sum(r["numbers"] for r in equal), 0))
    return [(*row[:2], *(f"{number:,}" for number in row[2:])) for row in rows]


PAGE = """# Evidence by function

What is known of each function for each kind of accelerator. The [support page](support.md#hardware) says what the
words mean, and has the devices and versions. `tools/evidence.py` writes this page from `benchmarks/results/compiled`
and `benchmarks/results/gpu-*`.

- *run*: a test of the function ran on a device, at the time of that run. Later changes of the function have not run.
- *compiled*, *traced* and *sources compiled*: on a machine without the device, when the file was written.
  For TPUs JAX's 64-bit types are off; functions whose tests have 64-bit numbers only were not compiled.
- *declared*: some calls, or all, cannot be compiled; the second table has the reasons.
- *not run*: no file has the function. {without}

`random.random`, `random.normal` and others that are not in `xo.random` are methods of `random.Generator`.

| function | {columns} |
|---|{lines}
{rows}

## Declared calls

| reason | functions | for |
|---|---|---|
{declared}
"""


def page(found: Evidence) -> str:
    """The evidence by function, in Markdown."""
    shown = {pair: found[pair] for kind in KINDS for pair in PAIRS if pair[1] == kind and found[pair]}
    without = [_name(pair) for pair, proofs in found.items() if not proofs]
    records = {name for proofs in shown.values() for proof in proofs for name, *_ in proof.records}
    functions = sorted({*SURFACE, *EXTRA, *OWN, *(name for name in records if name.startswith("random."))})
    rows = ((f"`{name}`", *(_cell(name, proofs) for proofs in shown.values())) for name in functions)
    return PAGE.format(
        without=f"There is nothing for {' and '.join(without)}." if without else "",
        columns=" | ".join(map(_name, shown)),
        lines="---|" * len(shown),
        rows="\n".join(f"| {' | '.join(row)} |" for row in rows),
        declared="\n".join(f"| {' | '.join(row)} |" for row in _declared_rows(shown)),
    )


def _name(pair: tuple[str, str]) -> str:
    return f"{NAMES[pair[0]]} on {KINDS[pair[1]]}"


def _cell(function: str, proofs: list[Proof]) -> str:
    parts = []
    for proof in proofs:
        if proof.count(proof.level, function):
            parts.append(proof.level)
        for state in ("declared", "failed"):
            number = proof.count(state, function)
            parts += [f"{number} {state}" if proof.count(proof.level, function) else state] if number else []
    return ", ".join(parts) or NOT_RUN


def _declared_rows(found: Evidence) -> list[tuple[str, ...]]:
    """A row for each reason."""
    functions: dict[str, dict[str, None]] = {}
    places: dict[str, dict[str, None]] = {}
    for pair, proofs in found.items():
        for name, state, reason in (record for proof in proofs for record in proof.records):
            if state == "declared":
                text = " ".join(re.sub(r"[|<>{}\[\]`*]", " ", reason).split())
                functions.setdefault(text, {})[f"`{name}`"] = None
                places.setdefault(text, {})[_name(pair)] = None
    return [(text, ", ".join(names), ", ".join(places[text])) for text, names in functions.items()]
