"""Run the public conformance suite on every backend's namespace, and check that every deviation has a known reason.

    python benchmarks/conformance.py SUITE [--backends numpy,torch] [--seeds 0,1,2] [--baselines] [--out DIR]

SUITE is a checkout of https://github.com/data-apis/array-api-tests with its submodule. The namespace of each backend is
tested at version 2025.12 with each seed; the worst count is reported. Every failing test must match a reason in
DEVIATIONS, otherwise the exit status is 1. Writes conformance.json, which keeps the runs of other backends, and
conformance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import xarrayops as xo

RESULTS = Path(__file__).parent / "results"
NATIVE = "tests a method or operator of the native array, which stays native"
COMPLEX = "special value of a complex function, as the library computes it"
DIVISION = "special value of a division that the library computes; the correction costs over 10 % at 10**6 elements"
DEVIATIONS = [
    ("any", r"test_array_object\.py", NATIVE),
    ("any", r"test_has_names\.py.*array_(method|attribute)", NATIVE),
    ("any", r"test_signatures\.py::test_array_method", NATIVE),
    ("any", r"test_special_cases\.py::test_iop", NATIVE),
    ("any", r"test_operators.*\[__\w+__", NATIVE),
    ("any", r"test_special_cases\.py::test_(unary|binary)\[__\w+__", NATIVE),
    (
        "jax",
        r"test_creation_functions\.py::test_asarray_arrays",
        "the test writes to the array, and JAX arrays are immutable",
    ),
    ("jax", r"test_dlpack\.py::test_dunder_dlpack", NATIVE),
    ("dask", r"test_(unique_\w+|nonzero|repeat)$", "the size is unknown until Dask computes, and the test needs it"),
    ("dask", r"test_dlpack\.py|test_from_dlpack", "Dask arrays have no DLPack methods and no device; they stay native"),
    (
        "torch",
        r"test_linalg\.py::test_outer",
        "the test computes its expected value with the native operator * on uint16",
    ),
    ("any", r"test_special_cases\.py::test_unary\[\w+\(.*(real|imag)\(x_i\)", COMPLEX),
    ("any", r"test_special_cases\.py::test_binary\[(floor_divide|remainder)\(", DIVISION),
]
"""(backend or "any", pattern of the test's name, reason)."""
DEVIATIONS_OF_COMPAT = [
    ("numpy", r"test_finfo\[", "NumPy's own finfo, whose class and attributes callers use, has NumPy's scalars"),
    ("torch", r"TestBroadcastShapes::test_error", "array-api-compat's function, which raises a RuntimeError"),
    (
        "torch",
        r"::test_(cumulative_)?(sum|prod)$",
        "array-api-compat's function, where dtype= is unsigned and the array not",
    ),
]
"""The same for namespaces of `xarrayops.compat`, in addition."""
EXAMPLES = {"dask": 3}
"""--max-examples where it is not 10. One example takes minutes on Dask."""
ENVIRONMENT = {"jax": {"JAX_ENABLE_X64": "1"}}


BASELINES = {
    "numpy": "array_api_compat.numpy",
    "torch": "array_api_compat.torch",
    "jax": "jax.numpy",
    "dask": "array_api_compat.dask.array",
    "array_api_strict": "array_api_strict",
}
"""The namespace of each library without xarrayops."""


COMPAT = "compat."
"""The prefix of the namespaces of `xarrayops.compat`, such as compat.torch."""
ALONE = "alone."
"""The same, but functions of xarrayops serve every call: array-api-compat's functions do not stand behind them."""


BACKENDS = (*BASELINES, *(f"{prefix}{name}" for prefix in (COMPAT, ALONE) for name in ("numpy", "torch")))


def library_of(backend: str) -> str:
    """The name of a backend without a prefix."""
    return backend.rpartition(".")[2]


def namespace_of(backend: str) -> str:
    """The value of ARRAY_API_TESTS_MODULE for a backend. A library without an entry point is named by its module."""
    if backend.startswith(COMPAT):
        return f"exec('import xarrayops.compat.{library_of(backend)} as xp')"
    if backend.startswith(ALONE):
        replace = "import xarrayops.compat._overlay as overlay; overlay.guarded = lambda verb, ours, *_: ours"
        return f"exec('{replace}; import xarrayops.compat.{library_of(backend)} as xp')"
    if backend == "array_api_strict":
        return "exec('import xarrayops, array_api_strict; xp = xarrayops.backend(array_api_strict).namespace')"
    return f"exec('import xarrayops; xp = xarrayops.backend(\"{backend}\").namespace')"


def run(suite: Path, backend: str, module: str, seed: int) -> dict[str, Any]:
    """The failing tests of one run of the suite on a module."""
    examples = EXAMPLES.get(backend, 10)
    environment = os.environ | {
        "ARRAY_API_TESTS_VERSION": "2025.12",
        "ARRAY_API_TESTS_MODULE": module,
        **ENVIRONMENT.get(backend, {}),
    }
    command = [
        *(sys.executable, "-m", "pytest", "array_api_tests", "-q", "-p", "no:cacheprovider", "--disable-deadline"),
        *(f"--max-examples={examples}", f"--hypothesis-seed={seed}", "--no-header", "--tb=no", "-rfE"),
    ]
    start = time.monotonic()
    ended = subprocess.run(command, cwd=suite, env=environment, capture_output=True, text=True, check=False)
    counts = re.search(r"(?:(\d+) failed, )?(\d+) passed", ended.stdout)
    if counts is None:
        raise SystemExit(f"{backend}: the suite did not run:\n{ended.stdout[-3000:]}{ended.stderr[-3000:]}")
    failed = re.findall(
        r"^(?:FAILED|ERROR) (array_api_tests/\S+::(?:[^\n]*\]|\w+(?:::\w+)*))", ended.stdout, re.MULTILINE
    )
    return {
        "backend": backend,
        "seed": seed,
        "examples": examples,
        "failed": int(counts[1] or 0),
        "passed": int(counts[2]),
        "seconds": round(time.monotonic() - start),
        "tests": sorted(set(failed)),
    }


def reason(backend: str, test: str) -> str | None:
    """The reason why a test may fail; None if it must pass."""
    library = library_of(backend)
    deviations = DEVIATIONS if library == backend else [*DEVIATIONS, *DEVIATIONS_OF_COMPAT]
    return next(
        (why for name, pattern, why in deviations if name in ("any", library) and re.search(pattern, test)), None
    )


def report(runs: list[dict[str, Any]], baselines: dict[str, int], versions: dict[str, Any]) -> str:
    """The runs as Markdown."""
    lines = [
        "# Conformance with the array API standard 2025.12",
        "",
        "Tests of [array-api-tests](https://github.com/data-apis/array-api-tests) that fail on each backend's "
        "namespace, by seed. Written by `make conformance SUITE=<checkout>`.",
        "",
        f"Suite: {versions['suite']}. Machine: {versions['machine']}. Python {versions['python']}.",
        "",
        "| backend | versions | examples per test | seeds | failed, by seed | passed "
        "| failed without xarrayops (seed 0) |",
        "|---|---|---|---|---|---|---|",
    ]
    backends = list(dict.fromkeys(r["backend"] for r in runs))
    for backend in backends:
        mine = [r for r in runs if r["backend"] == backend]
        worst = max(mine, key=lambda r: r["failed"])
        library = library_of(backend)
        baseline = f"{BASELINES[library]}: {baselines[library]}" if library in baselines else "not run"
        seeds, failed = (", ".join(str(r[field]) for r in mine) for field in ("seed", "failed"))
        lines.append(
            f"| {backend} | {versions['libraries'][backend]} | {worst['examples']} | {seeds} | {failed} | "
            f"{worst['passed']} | {baseline} |"
        )
    for backend in backends:
        tests = sorted({t for r in runs if r["backend"] == backend for t in r["tests"]})
        lines += ["", f"## {backend}: {len(tests)} tests over all seeds", ""]
        for why in dict.fromkeys(reason(backend, t) for t in tests):
            group = [t for t in tests if reason(backend, t) == why]
            lines += [f"**{why or 'UNEXPLAINED'}** ({len(group)})", ""]
            lines += [f"- `{t.removeprefix('array_api_tests/')}`" for t in group] + [""]
    return "\n".join(lines).rstrip() + "\n"


def library_versions(backend: str) -> str:
    """The versions shown in a row."""
    if backend == "array_api_strict":
        import array_api_strict

        return f"array_api_strict {array_api_strict.__version__}"
    found = xo.backend(library_of(backend)).versions
    return ", ".join(f"{name} {version}" for name, version in found.items())


def versions(suite: Path, earlier: dict[str, Any], backend: str) -> dict[str, Any]:
    """The suite, the machine and the versions. The libraries of earlier runs are kept."""
    command = ["git", "log", "-1", "--format=%h"]
    commit = subprocess.run(command, cwd=suite, capture_output=True, text=True, check=False)
    return {
        "suite": f"commit {commit.stdout.strip()}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, CPU only",
        "python": platform.python_version(),
        "libraries": {**earlier.get("libraries", {}), backend: library_versions(backend)},
    }


def main() -> int:
    """Run the suite, write the results, and return 1 if a deviation has no reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--backends", default=",".join(BACKENDS))
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--baselines", action="store_true", help="also test each library without xarrayops (seed 0)")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    backends = options.backends.split(",") if options.backends else []
    path = options.out / "conformance.json"
    results = json.loads(path.read_text()) if path.exists() else {"versions": {}, "baselines": {}, "runs": []}
    for backend in backends:
        runs = [run(options.suite, backend, namespace_of(backend), int(seed)) for seed in options.seeds.split(",")]
        results["runs"] = [r for r in results["runs"] if r["backend"] != backend] + runs
        if options.baselines:
            library = library_of(backend)
            results["baselines"][library] = run(options.suite, library, BASELINES[library], 0)["failed"]
        counts = ", ".join(str(r["failed"]) for r in runs)
        without = results["baselines"].get(library_of(backend), "not run")
        print(f"{backend}: {counts} failed; without xarrayops {without}", flush=True)
        results["versions"] = versions(options.suite, results["versions"], backend)
        options.out.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(results, indent=1) + "\n")
    runs = results["runs"]
    (options.out / "conformance.md").write_text(report(runs, results["baselines"], results["versions"]))
    unexplained = sorted({f"{r['backend']}: {t}" for r in runs for t in r["tests"] if reason(r["backend"], t) is None})
    print("\n".join(["unexplained:", *unexplained]) if unexplained else "every deviation has a reason")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
