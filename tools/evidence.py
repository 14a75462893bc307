"""The evidence for each library and kind of accelerator: run, compiled or not run, from benchmarks/results.

The tests that ran are in gpu-*/summary.json, what was compiled for devices that were not there in compiled/*.json.
`tools/readme.py` writes the result into the package, the README and the docs.
"""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
DATA = ROOT / "xarrayops" / "_system" / "evidence.json"
KINDS = ("cuda", "rocm", "tpu")
LIBRARIES = {"cupy": KINDS[:2], "jax": KINDS, "torch": KINDS[:2], "torch_xla": KINDS[2:]}
"""The libraries with accelerators, and the kinds that each can use."""
NAMES = {"cupy": "CuPy", "jax": "JAX", "torch": "PyTorch", "torch_xla": "PyTorch/XLA"}
STEPS = {
    "xla_cuda": ("jax", "cuda", "compiled"),
    "xla_rocm": ("jax", "rocm", "compiled"),
    "xla_tpu": ("jax", "tpu", "compiled"),
    "torch_xla_tpu": ("torch_xla", "tpu", "compiled"),
    "fake_cuda": ("torch", "cuda", "traced on fake tensors"),
    "cuda_sources": ("cupy", "cuda", "compiled"),
}
"""What a step of benchmarks/compile_devices is evidence for, and what it did."""
COUNTED = ("passed", "compiled", "failed", "declared", "skipped")
NOT_RUN = "not run"
Evidence = dict[str, dict[str, str]]


def gather(results: Path = RESULTS) -> Evidence:
    """By library and kind: "run on ...; compiled: ...", or "not run"."""
    found = {library: dict.fromkeys(kinds, "") for library, kinds in LIBRARIES.items()}
    for path in sorted(results.glob("gpu-*/summary.json")):
        known = json.loads(path.read_text())
        for library, kinds in found.items():
            for kind in kinds:
                tests = [
                    counts for name, counts in known["tests"].items() if f"{name}-".startswith(f"{library}-{kind}-")
                ]
                if tests:
                    _add(
                        kinds,
                        kind,
                        f"run on {known['machine'].partition(',')[0]}: {_counted(tests)} ({path.parent.name})",
                    )
    for step, (library, kind, done) in STEPS.items():
        path = results / "compiled" / f"{step}.json"
        known = json.loads(path.read_text()) if path.exists() else {"counts": {}}
        if known["counts"].get("compiled"):
            versions = ", ".join(f"{name} {version}" for name, version in known["versions"].items())
            _add(found[library], kind, f"{done}: {_counted([known['counts']])} ({step}, {versions})")
    return {library: {kind: text or NOT_RUN for kind, text in kinds.items()} for library, kinds in found.items()}


def _add(kinds: dict[str, str], kind: str, text: str) -> None:
    kinds[kind] = f"{kinds[kind]}; {text}" if kinds[kind] else text


def _counted(counts: list[dict[str, int]]) -> str:
    """The sums of counts by name, as text, without zeros."""
    sums = {name: sum(each.get(name, 0) for each in counts) for name in COUNTED}
    return ", ".join(f"{number:,} {name}" for name, number in sums.items() if number)


def written(found: Evidence) -> str:
    """The data of the package."""
    return json.dumps(found, indent=1) + "\n"


def short_rows(found: Evidence) -> list[tuple[str, ...]]:
    """A row for each library, with the state for each kind."""
    cells = {
        library: [_state(kinds[kind]) if kind in kinds else "" for kind in KINDS] for library, kinds in found.items()
    }
    return [(NAMES[library], *states) for library, states in cells.items()]


def long_rows(found: Evidence) -> list[tuple[str, ...]]:
    """A row for each library and kind."""
    return [(NAMES[library], kind, text) for library, kinds in found.items() for kind, text in kinds.items()]


def _state(text: str) -> str:
    return text if text == NOT_RUN else text.split()[0].rstrip(":")
