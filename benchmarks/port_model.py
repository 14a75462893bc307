"""The error of the model behind ``python -m xarrayops.port check --for``, for NumPy on this CPU, and its figures.

    python benchmarks/port_model.py [--programs FOLDER --cases FILE] [--kernels] --out FILE

The model has the measured bandwidth, peaks and smallest calls of this machine. It is compared with the measured time of
the NumPy code of each workload of the benchmark, and of the calls in the file: a list of objects with "id", "path" in
the folder, and "call". In a program, Python and other packages have their measured times; the second comparison is of
the array operations alone. The factor of the ranges is the least that has `SHARE` of all cases in it, and at least
`MOST`; it goes into the package with the numbers of kernels. ``--kernels`` counts these again on PyTorch's fake CUDA
tensors: the median of the calls with floating-point numbers.

Set OMP_NUM_THREADS=1 where other programs run, because threads of BLAS wait for each other.

The bar: a factor of at most 2, so that no range is wider than a factor of 4. Ends with 3 if it is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from xarrayops.bench.workloads import WORKLOADS
from xarrayops.port.source import PortError, Program
from xarrayops.port.trace import operations
from xarrayops.port.trace.array import plain, wrapped
from xarrayops.port.trace.model import Machine, modelled
from xarrayops.port.trace.rates import measured
from xarrayops.port.trace.record import Trace
from xarrayops.port.trace.run import run

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "guides" / "port-check.md"
DATA = ROOT / "xarrayops" / "port" / "trace" / "model.json"
MISSED, SHARE, MOST, COUNTED = 3, 0.8, 2.0, 0.5
"""The last: workloads are left out whose NumPy code spends less than this share in counted operations."""


def kernels() -> dict[str, int]:
    """The number of kernels of each function on floating-point numbers."""
    from benchmarks.compile_devices import fake_cuda
    from benchmarks.compile_devices._fake_tensors import FakeCuda
    from xarrayops.testing._suite.table import native_case, selected_cases

    fake_cuda.prepare()
    variant, found = FakeCuda("torch", calls=None), {}
    for name, row in fake_cuda._rows().items():
        if " " in name:
            continue
        counts = []
        for case in selected_cases(variant, row):

            def prepared(case: Any = case, row: Any = row) -> Any:
                native, target = native_case(variant, row, case)
                return row.public, native.args, {**native.kwargs, **target}

            arrays = [x for x in case.args if isinstance(x, np.ndarray)]
            if all(x.dtype.kind == "f" for x in arrays):
                call = fake_cuda._watched(prepared)
                counts += [] if call["faults"] else [call["kernels"]]
        if counts:
            found[name.rpartition(".")[2]] = round(statistics.median(counts))
    return dict(sorted(found.items()))


def of_workloads(machine: Machine) -> Iterator[dict[str, Any]]:
    """The NumPy code of each workload: measured and by the model."""
    for workload in WORKLOADS:
        for dtype in set(workload.dtypes) & {"float32", "float64"}:
            for n in workload.ladder("default"):
                inputs = workload.case(dtype, n).inputs
                trace = Trace(__file__)
                calibrate(trace)
                with trace.running():
                    workload.expected(*(wrapped(x, trace) for x in inputs))
                trace.timed(seconds_of(partial(workload.expected, *map(plain, inputs))))
                if trace.operation_s > COUNTED * trace.plain_s:
                    yield {"name": f"{workload.name} {dtype} {n}", **compared(trace, machine)}


def calibrate(trace: Trace) -> None:
    """Measure what counting takes."""
    few = wrapped(np.ones(2), trace)
    trace.calibrate({"view": lambda: few[0], "number": lambda: float(few[0]), "other": lambda: few + few})


def seconds_of(function: Any) -> float:
    """The shortest of many calls."""
    function()
    found, start = [], perf_counter()
    while len(found) < 7 or (len(found) < 60 and perf_counter() - start < 3.0):
        begin = perf_counter()
        function()
        found.append(perf_counter() - begin)
    return min(found)


def of_programs(machine: Machine, folder: Path, cases: Path) -> Iterator[dict[str, Any]]:
    """The calls of the programs: measured and by the model."""
    for case in json.loads(cases.read_text()):
        try:
            trace = run(Program.read(folder / case["path"]), case["call"])
        except (PortError, ImportError) as error:
            yield {"name": case["id"], "reason": str(error)[:200]}
            continue
        yield {"name": case["id"], **compared(trace, machine)}


def compared(trace: Trace, machine: Machine) -> dict[str, Any]:
    """The measured time and that of the model, of the whole call and of its array operations."""
    parts = modelled(trace, machine).parts
    array_s = sum(parts[name] for name in ("launches of kernels", "memory and arithmetic", "waits for values"))
    return {
        "measured_s": trace.plain_s,
        "model_s": sum(parts.values()),
        "operations_s": trace.operation_s,
        "model_operations_s": array_s,
        "operations": trace.calls,
    }


def factor_of(rows: list[dict[str, Any]], measured_name: str, model_name: str, share: float) -> float:
    """The factor that has a share of the cases in its range."""
    ratios = sorted(max(r[model_name] / r[measured_name], r[measured_name] / r[model_name]) for r in rows)
    return ratios[min(int(np.ceil(share * len(ratios))), len(ratios)) - 1]


def write_table(found: dict[str, Any]) -> None:
    """Write the results into the guide."""
    start, end = "<!-- model:begin -->\n", "<!-- model:end -->"
    rows = [row for name in ("workloads", "programs") for row in found[name] if "reason" not in row]
    factor = found["summary"]["factor"]
    lines = ["| NumPy code | measured, ms | model, ms | range of the model, ms | in it |", "|---|---|---|---|---|"]
    for row in rows:
        took, model = row["measured_s"] * 1e3, row["model_s"] * 1e3
        low, high = model / factor, model * factor
        is_in = "yes" if low <= took <= high else "no"
        lines.append(f"| {row['name']} | {took:.3g} | {model:.3g} | {low:.3g} to {high:.3g} | {is_in} |")
    before, _, rest = PAGE.read_text().partition(start)
    table = "\n".join(["", *lines, "", ""])
    PAGE.write_text(f"{before}{start}{table}{end}{rest.partition(end)[2]}")


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, metavar="FOLDER")
    parser.add_argument("--cases", type=Path, metavar="FILE")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    options = parser.parse_args()
    data = json.loads(DATA.read_text())
    machine = Machine.of_rates(measured(("numpy",), operations.KINDS)[0][0])
    found = {"workloads": list(of_workloads(machine)), "programs": []}
    if options.programs:
        sys.path.insert(0, str(options.programs))
        found["programs"] = list(of_programs(machine, options.programs, options.cases))
    rows = [row for each in found.values() for row in each if "reason" not in row]
    least = factor_of(rows, "measured_s", "model_s", SHARE)
    factor = max(float(np.ceil(100 * least)) / 100, MOST)
    within = {
        name: [sum(factor_of([row], "measured_s", "model_s", 1.0) <= factor for row in known), len(known)]
        for name, each in found.items()
        if (known := [row for row in each if "reason" not in row])
    }
    alone = [row for row in found["programs"] if row.get("operations_s")]
    summary = {"factor": factor, "within": within}
    summary["factor_of_the_share"] = round(least, 2)
    if alone:
        summary["factor_of_operations_alone"] = round(factor_of(alone, "operations_s", "model_operations_s", SHARE), 2)
    print(json.dumps(summary, indent=1))
    versions = {"numpy": version("numpy")}
    options.out.write_text(json.dumps({"summary": summary, "versions": versions, **found}, indent=1) + "\n")
    write_table({"summary": summary, **found})
    data = {"factor": factor, "kernels": kernels() if options.kernels else data["kernels"]}
    DATA.write_text(json.dumps(data, indent=1) + "\n")
    return MISSED if factor > MOST else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
