# Long: a function for each generated table.
"""Write the tables of the README and the docs, from the backends (the support matrix) and from benchmarks/results.

    python tools/readme.py           writes README.md, the pages in docs/results, docs/bench.svg,
                                     docs/guides/from-numpy.md and the package's data on devices
    python tools/readme.py --check   exits with 1 if they are not current

The rows of backends whose library is not installed stay unchanged.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import evidence
import numpy_page
import picture

import xarrayops as xo
from benchmarks.exchange_matrix import report
from xarrayops._core.backends.registry import Backend, entry_points
from xarrayops._core.numpy_names import torch_names
from xarrayops._ops.export.exporting import ADVICE
from xarrayops._surface import SURFACE
from xarrayops.bench.report import markdown, tables
from xarrayops.bench.results import Results
from xarrayops.compat import REASONS
from xarrayops.plugin import gap_of
from xarrayops.plugin.precision import Policy
from xarrayops.plugin.sparse import FORMATS
from xarrayops.testing._suite.operations.precision import POLICIES

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "results"
TABLES = {
    "support": (ROOT / "README.md", PAGES / "support.md"),
    "devices": (ROOT / "README.md",),
    "evidence": (PAGES / "support.md",),
    "failed on devices": (PAGES / "support.md",),
    "random on devices": (ROOT / "docs" / "guides" / "random.md",),
    "conformance": (PAGES / "support.md",),
    "suites": (PAGES / "support.md",),
    "compat": (ROOT / "docs" / "guides" / "library-authors.md",),
    "clients": (ROOT / "docs" / "guides" / "library-authors.md",),
    "containers": (PAGES / "support.md",),
    "dispatch": (PAGES / "dispatch.md",),
    "layout": (PAGES / "layout.md",),
    "attention": (PAGES / "attention.md",),
    "sparse": (PAGES / "sparse.md",),
    "random": (ROOT / "docs" / "guides" / "random.md",),
    "precision": (ROOT / "docs" / "guides" / "precision.md",),
    "ports": (ROOT / "docs" / "guides" / "port-pipeline.md",),
    "export": (ROOT / "docs" / "guides" / "export.md",),
    "not exported": (ROOT / "docs" / "guides" / "export.md",),
    "torch names": (ROOT / "docs" / "guides" / "from-pytorch.md",),
    "torch without": (ROOT / "docs" / "guides" / "from-pytorch.md",),
    "bench": (PAGES / "benchmark.md",),
}
"""The pages with each table."""
EXCHANGE = PAGES / "exchange.md"
DEVICES = PAGES / "devices.md"
FROM_NUMPY = ROOT / "docs" / "guides" / "from-numpy.md"
PICTURE = ROOT / "docs" / "bench.svg"
BENCH = "cpu-2-cores"
"""The benchmark run that the docs show."""
BENCH_PLACES = ["dask cpu", "jax cpu:0", "numpy cpu", "torch cpu"]
"""The columns of its table."""
LARGE_MS = 4.0
"""Arrays whose contiguous copy takes longer than this are in the table; the results file has all."""
RESULTS = ROOT / "benchmarks" / "results"


def gaps(backend: Backend) -> dict[str, str]:
    """The functions that the library does not support, with the reasons."""
    found = {verb: gap_of(function) for verb, function in backend.functions.items()}
    return {verb: str(gap) for verb, gap in found.items() if gap is not None}


def support_rows(old: dict[str, str]) -> list[str]:
    """A row per backend: the supported functions of the standard, and those that the compiler cannot trace."""
    worst = conformance()
    rows = []
    for status in xo.backends():
        if not entry_points()[status.name].value.startswith("xarrayops_backends."):
            continue
        if status.backend is None:
            rows.append(old.get(status.name, f"| {status.name} | not measured: {status.reason} | | |"))
            continue
        lacking = [verb for verb in gaps(status.backend) if verb in SURFACE]
        served = f"{len(SURFACE) - len(lacking)} of {len(SURFACE)}"
        untraced = ", ".join(f"`{verb}`" for verb in status.backend.untraceable) or "none"
        rows.append(f"| {status.name} | {served} | {untraced} | {worst.get(status.name, 'not run')} |")
    return rows


def conformance() -> dict[str, str]:
    """The failing tests of the public suite for the worst seed, by backend; in parentheses without xarrayops."""
    path = RESULTS / "conformance.json"
    if not path.exists():
        return {}
    results = json.loads(path.read_text())
    worst: dict[str, int] = {}
    for run in results["runs"]:
        worst[run["backend"]] = max(run["failed"], worst.get(run["backend"], 0))
    without = results["baselines"]
    return {name: f"{count} ({without[name]})" if name in without else str(count) for name, count in worst.items()}


def conformance_rows() -> list[str]:
    """A row per library and seed of the public suite: tests that pass and fail, and the commit of the suite."""
    path = RESULTS / "conformance.json"
    if not path.exists():
        return []
    results = json.loads(path.read_text())
    versions = results["versions"]
    return [
        f"| {versions['libraries'][run['backend']]} | {run['seed']} | {run['passed']} | {run['failed']} "
        f"| {versions['suite'].removeprefix('commit ')} |"
        for run in results["runs"]
    ]


def compat_rows() -> list[str]:
    """A row per library and reason: the functions of `xarrayops.compat` that are ours, and the calls they serve."""
    rows = []
    for library, functions in REASONS.items():
        for reason in dict.fromkeys(functions.values()):
            names = ", ".join(f"`{name}`" for name, own in functions.items() if own == reason)
            rows.append((library, names, reason.calls, reason.why))
    return markdown_rows(rows)


def client_rows() -> list[str]:
    """A row per package whose tests were run with `xarrayops.compat`."""
    rows = []
    for path in sorted((RESULTS / "clients").glob("*.json")):
        found = json.loads(path.read_text())
        new = found["new failures"]
        base, ours = (found["runs"][modules] for modules in ("base", "ours"))
        is_whole = sum(base.values()) == sum(ours.values())  # otherwise base ran what fails with ours
        passed = [str(base["passed"]) if is_whole else "not run", str(ours["passed"])]
        gained = str(len(found["passes only with ours"])) if is_whole else "not run"
        version = f"{path.stem} {found['version']}"
        rows.append((version, str(found["sample"]), *passed, str(sum(map(len, new.values()))), gained, "; ".join(new)))
    return markdown_rows(rows)


def suite_rows() -> list[str]:
    """A row per suite of another project and library."""
    path = RESULTS / "suites.json"
    if not path.exists():
        return []
    return [
        f"| {run['suite']} | {run['library']} {run['versions'][run['library']]} | {run['passed']} | {run['failed']} "
        f"| {run['skipped']} | {run.get('commit', '')} |"
        for run in json.loads(path.read_text())["runs"]
    ]


def dispatch_rows() -> list[str]:
    """The overhead of dispatch, from its results file."""
    path = RESULTS / "dispatch.json"
    if not path.exists():
        return []
    rows = []
    for row in json.loads(path.read_text())["rows"]:
        added = [
            f"{row['added_ns'][name]:+.0f}" if name in row["added_ns"] else ""
            for name in ("xarrayops", "array_namespace", "autoray")
        ]
        rows.append(f"| {row['library']} `{row['call']}` | {row['native_ns']:.0f} | {' | '.join(added)} |")
    return rows


def layout_rows() -> list[str]:
    """The time of other copies relative to xarrayops, from the results file, without small arrays."""
    path = RESULTS / "layout.json"
    if not path.exists():
        return []
    return [
        f"| {row['case']} | {row['ours / copy']:.2f} | {row['numpy / ours']:.1f} "
        f"| {row['torch / ours']:.1f} | {row['torch / ours on torch']:.1f} |"
        for row in json.loads(path.read_text())["rows"]
        if row["ms"]["copy"] > LARGE_MS
    ]


def attention_rows() -> list[str]:
    """The time of other libraries relative to xarrayops, from the results file."""
    path = RESULTS / "attention.json"
    if not path.exists():
        return []
    rows = []
    for row in json.loads(path.read_text())["rows"]:
        ratios = (f"{name} {ratio:.2f}" for name, ratio in row["over ours"].items() if "ours" not in name)
        rows.append(f"| {row['case']} | {', '.join(ratios)} |")
    return rows


PRECISION_LIBRARIES = ("numpy", "dask", "torch", "jax")
"""The columns of the table of precision policies: the libraries of the tests on the CPU."""
RANDOM_NAMES = {
    "numpy:blocks": "NumPy",
    "numpy:compiled": "NumPy, with numba",
    "torch": "PyTorch",
    "jax": "JAX, compiled",
}


def random_rows() -> list[str]:
    """The time for random numbers relative to the library's own, from the results file."""
    path = RESULTS / "random.json"
    if not path.exists():
        return []
    ratios: dict[str, dict[str, float]] = {}
    for row in json.loads(path.read_text())["rows"]:
        ratios.setdefault(row["contestant"], {})[row["numbers"]] = row["ours / native"]
    kinds = ("uniform", "normal", "integers", "bits")
    return [
        f"| {name} | {' | '.join(f'{ratios[key][kind]:.1f}' for kind in kinds)} |"
        for key, name in RANDOM_NAMES.items()
        if key in ratios
    ]


def precision_rows() -> list[str]:
    """How each library serves products of float32 under each policy of the contract suite."""
    rows = []
    for policy in POLICIES:
        asked = ", ".join(f'{name}="{value}"' for name, value in policy.items())
        cells = (_precision_cell(xo.backend(name), Policy(**policy)) for name in PRECISION_LIBRARIES)
        rows.append(f"| `{asked}` | {' | '.join(cells)} |")
    return rows


def _precision_cell(backend: Backend, policy: Policy) -> str:
    """The dtype in which a library computes the product of float32 arrays, or that it does not."""
    dtype = backend.native_dtype("float32")
    try:
        plan = backend.precision_plan(tuple(policy), (dtype, dtype))
    except xo.Unsupported:
        return "unsupported"
    assert plan is not None
    return str(backend.functions["dtype_name"](plan[1]))


def export_rows(found: dict[str, Any]) -> list[str]:
    """How many functions each format can express."""
    totals = found["totals"]
    targets = dict.fromkeys(column.split()[0] for column in totals)
    return [f"| {target} | {totals[f'{target} static']} | {totals[f'{target} dynamic']} |" for target in targets]


def refused_rows(found: dict[str, Any]) -> list[str]:
    """The functions that a format cannot express, and what each exporter says."""
    rows = []
    for name, row in found["functions"].items():
        for target in dict.fromkeys(column.split()[0] for column in row):
            static, dynamic = row[f"{target} static"], row[f"{target} dynamic"]
            if dynamic.startswith("no: "):
                shapes, reason = ("all", static) if static.startswith("no: ") else ("of any length", dynamic)
                reason = reason.removeprefix("no: ").removesuffix(f"; {ADVICE}")  # the page has it once
                rows.append(f"| `{name}` | {target} | {shapes} | {_plain(reason)} |")
    return rows


def _plain(text: str) -> str:
    """An error message in a table."""
    text = re.sub(r"[|<>{}\x1b\[\]`*]", " ", text)
    return " ".join(text.split())


def port_rows() -> list[str]:
    """The time of the original and of the worked ports, from the results file."""
    path = RESULTS / "worked_ports.json"
    if not path.exists():
        return []
    rows = []
    for row in json.loads(path.read_text())["rows"]:
        quicker = (f"{row['times as quick'][f'port, {library}']:.2f}" for library in ("numpy", "torch", "jax"))
        rows.append(f"| {row['port']} | {row['size']} | {row['original_ms']:.0f} ms | {' | '.join(quicker)} |")
    return rows


def sparse_rows() -> list[str]:
    """The time of other libraries relative to xarrayops, without and with numba, from the results file."""
    path = RESULTS / "sparse.json"
    if not path.exists():
        return []
    pairs = [(other, ours) for other in ("scipy", "torch") for ours in ("ours without numba", "ours")]
    rows = []
    for row in json.loads(path.read_text())["rows"]:
        shown = [ratio(row["ms"], *pair) for pair in pairs]
        if any(shown):
            rows.append(f"| {row['case']} | {' | '.join(shown)} |")
    return rows


def bench_rows(results: Results) -> list[str]:
    """Every cell of the benchmark, by workload and library."""
    places, lines = tables.matrix(results)
    assert places == BENCH_PLACES, f"the table has columns for {BENCH_PLACES}, but the results are for {places}"
    return [f"| {' | '.join((name, *cells))} |" for name, cells in markdown.matrix_rows(lines)]


def ratio(ms: dict[str, float], other: str, ours: str) -> str:
    """The ratio of two times; empty unless both were measured."""
    return f"{ms[other] / ms[ours]:.1f}" if other in ms and ours in ms else ""


def container_rows(old: dict[str, str]) -> list[str]:
    """A row per library with sparse containers: the formats, and the dtypes of their indices."""
    rows = []
    for status in xo.backends():
        if status.backend is None:
            rows += [old[name] for name in (f"{status.name} containers",) if name in old]
        elif hasattr(status.backend.module, "SPARSE"):
            sparse = status.backend.sparse
            held = (" or ".join(sparse.index_dtypes(f)) if f in sparse.formats else "no" for f in FORMATS)
            rows.append(f"| {status.name} containers | {' | '.join(held)} |")
    return rows


def markdown_rows(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows of cells as lines of a table."""
    return [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]


def section(text: str, name: str, rows: list[str]) -> str:
    """The text with the rows of a marked table replaced."""
    pattern = re.compile(rf"(<!-- {name} -->\n\|[^\n]*\n\|[-|: ]*\n)(.*?)(<!-- end -->)", re.DOTALL)
    assert pattern.search(text), f"there is no table {name}"
    return pattern.sub(lambda m: m[1] + "".join(f"{row}\n" for row in rows) + m[3], text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if they are not current")
    check = parser.parse_args().check
    pages = {page: page.read_text() for found in TABLES.values() for page in found}
    old = {m[1]: m[0] for text in pages.values() for m in re.finditer(r"^\| ([\w ]+) \|.*$", text, re.MULTILINE)}
    bench = Results.read(RESULTS / BENCH)
    proven = evidence.gather()
    exported = json.loads((RESULTS / "export.json").read_text())
    tables_of = {
        "support": support_rows(old),
        "devices": markdown_rows(evidence.short_rows(proven)),
        "evidence": markdown_rows(evidence.long_rows(proven)),
        "failed on devices": markdown_rows(evidence.failed_rows()),
        "random on devices": markdown_rows(evidence.random_rows()),
        "conformance": conformance_rows(),
        "suites": suite_rows(),
        "compat": compat_rows(),
        "clients": client_rows(),
        "containers": container_rows(old),
        "dispatch": dispatch_rows(),
        "layout": layout_rows(),
        "attention": attention_rows(),
        "sparse": sparse_rows(),
        "random": random_rows(),
        "precision": precision_rows(),
        "ports": port_rows(),
        "export": export_rows(exported),
        "not exported": refused_rows(exported),
        "torch names": markdown_rows(numpy_page.line_rows(torch_names.LINES)),
        "torch without": markdown_rows(numpy_page.reason_rows(torch_names.WITHOUT)),
        "bench": bench_rows(bench),
    }
    for name, found in TABLES.items():
        for page in found:
            pages[page] = section(pages[page], name, tables_of[name])
    pages[EXCHANGE] = report.markdown(json.loads((RESULTS / "exchange.json").read_text()))
    pages[FROM_NUMPY] = numpy_page.page()
    pages[evidence.DATA] = evidence.written(proven)
    pages[DEVICES] = evidence.page(proven)
    pages[PICTURE] = picture.svg(bench)
    stale = [page for page, current in pages.items() if not page.exists() or page.read_text() != current]
    for page in stale:
        if not check:
            page.parent.mkdir(exist_ok=True)
            page.write_text(pages[page])
    for page in pages:
        print(f"{page.relative_to(ROOT)} {'was not' if page in stale else 'is'} current")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
