"""How well ``python -m xarrayops.port check --call`` forecasts the time of public NumPy programs on other libraries.

    python benchmarks/port_forecast.py --npbench DIR --pyhpc DIR [--only NAME,...] [--out FILE]

The programs are those of `port_programs.py` that write no argument and run on NumPy, PyTorch and JAX after
``python -m xarrayops.port rewrite``, untouched by hand; the inputs are those of npbench's preset "S", and 65 536
elements for pyhpc-benchmarks. The original runs on NumPy and the result of the rewrite on PyTorch (float64) and JAX
(64 bits, without jit), each library in its own process: the shortest of several runs after a first one. The forecast
is made from one traced run of the original and the rates of this machine, as the command makes it.

The bars: on each library at least 80 % of the forecasts are within a factor of 2 of the measured time, and wherever
the measured times of two libraries differ by more than a factor of 1.5, the forecast has the same order in at least
90 % of the cases. Ends with 3 if one is missed. A machine that does other work misses them.
"""

from __future__ import annotations

import argparse
import json
import pickle
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from port_outcomes import limited
from port_programs import npbench, pyhpc
from rich.console import Console
from rich.table import Table

import xarrayops as xo
from xarrayops.port import rewrite
from xarrayops.port.source import Program
from xarrayops.port.trace import operations
from xarrayops.port.trace.forecast import forecasts
from xarrayops.port.trace.rates import measured
from xarrayops.port.trace.run import run

MISSED = 3
LIBRARIES = ("numpy", "torch", "jax")
FACTOR, APART = 2.0, 1.5
SHARE = 0.8
"""The share of the forecasts within the factor."""
ELEMENTS = 1 << 16
RUNS, SECONDS, LIMIT_S = 7, 0.5, 20.0
"""The most runs after the first one, the time after which no further run begins, and the limit of one run."""
ORIGINAL, PORT, INPUTS = "original.py", "port.py", "inputs.pickle"


def prepare(folder: Path, options: argparse.Namespace) -> dict[str, str]:
    """Write each program, its port and its inputs to a folder of its own; the names of their functions."""
    chosen = set(filter(None, options.only.split(",")))
    programs = [
        *(npbench(options.npbench, is_small=False) if options.npbench else ()),
        *(pyhpc(options.pyhpc, ELEMENTS) if options.pyhpc else ()),
    ]
    functions = {}
    for program in programs:
        if program.name in (chosen or names_that_run()):
            place = folder / program.name
            place.mkdir()
            (place / ORIGINAL).write_text(program.path.read_text())
            (place / PORT).write_text(rewrite(program.path).text)
            (place / INPUTS).write_bytes(pickle.dumps(program.inputs()))
            functions[program.name] = program.function
    return functions


def names_that_run() -> set[str]:
    """The programs that write no argument and run everywhere untouched, in the results of `port_programs.py`."""
    found = json.loads((Path(__file__).parent / "results" / "port.json").read_text())
    return {
        row["name"]
        for row in found["programs"]["numpy"]
        if not row["writes_arguments"] and set(row["outcomes"].values()) == {"same"}
    }


def times(folder: Path, library: str) -> dict[str, float | str]:
    """The seconds of each program on a library, or why there are none. Runs in a process of its own."""
    if library == "torch":
        import torch

        torch.set_default_dtype(torch.float64)
    if library == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
    found: dict[str, float | str] = {}
    for name, function_name in json.loads((folder / "functions.json").read_text()).items():
        place = folder / name
        text = ORIGINAL if library == "numpy" else PORT
        given = pickle.loads((place / INPUTS).read_bytes())
        given = [xo.convert(x, library, copy=True) if isinstance(x, np.ndarray) else x for x in given]
        try:
            with xo.use(library), np.errstate(all="ignore"):
                found[name] = shortest(runpy.run_path(str(place / text))[function_name], given)
        except (Exception, TimeoutError) as error:
            found[name] = f"{type(error).__name__}: {str(error)[:160]}"
    return found


def shortest(function: Any, given: list[Any]) -> float:
    """The seconds of the shortest run, until its results are there."""

    def run() -> float:
        with limited(LIMIT_S):
            start = perf_counter()
            results = function(*given)
            xo.synchronize(*(x for x in leaves(results) if hasattr(x, "dtype")))
            return perf_counter() - start

    run()
    start, found = perf_counter(), [run()]
    while len(found) < RUNS and perf_counter() - start < SECONDS:
        found.append(run())
    return min(found)


def leaves(value: Any) -> Iterator[Any]:
    """The members of nested sequences."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from leaves(each)
    else:
        yield value


def measured_times(folder: Path, library: str) -> dict[str, float | str]:
    """`times` in a process of its own."""
    command = [sys.executable, __file__, "--times", library, str(folder)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])


def predictions(folder: Path, functions: dict[str, str], rates: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """The forecast of each program, by program and library."""
    rates = list(rates)
    found = {}
    for name, function in functions.items():
        place = folder / name
        count = len(pickle.loads((place / INPUTS).read_bytes()))
        path = place / "traced.py"
        source = f"_pathlib.Path({str(place / INPUTS)!r}).read_bytes()"
        load = f"import pathlib as _pathlib, pickle as _pickle\n_inputs = _pickle.loads({source})\n"
        path.write_text(f"{(place / ORIGINAL).read_text()}\n{load}")
        call = f"{function}({', '.join(f'_inputs[{i}]' for i in range(count))})"
        trace = run(Program.read(path), call)
        found[name] = {each.backend: each._asdict() for each in forecasts(trace, rates, is_here=True)}
    return found


def judged(times: dict[str, dict[str, Any]], forecast: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """How many forecasts are within the factor, and how many pairs of libraries are in the right order."""
    within: dict[str, list[bool]] = {library: [] for library in times}
    pairs, wrong = 0, []
    for name, found in forecast.items():
        known = {library: t[name] for library, t in times.items() if isinstance(t[name], float)}
        for library, seconds in known.items():
            ratio = found[library]["seconds"] / seconds
            within[library].append(1 / FACTOR <= ratio <= FACTOR)
        for one, other in combinations(known, 2):
            quick, slow = sorted((one, other), key=lambda library: known[library])
            if known[slow] > APART * known[quick]:
                pairs += 1
                if found[slow]["seconds"] <= found[quick]["seconds"]:
                    wrong.append(f"{name}: {quick}, {slow}")
    return {
        "within_the_factor": {library: [sum(each), len(each)] for library, each in within.items()},
        "pairs_that_differ": pairs,
        "in_the_wrong_order": wrong,
    }


def missed(figures: dict[str, Any]) -> list[str]:
    """The bars that are missed."""
    found = [
        f"{library}: {good} of {count} forecasts are within a factor of {FACTOR:g}"
        for library, (good, count) in figures["within_the_factor"].items()
        if good < SHARE * count
    ]
    wrong = figures["in_the_wrong_order"]
    if wrong:
        found.append(f"the order is wrong in {len(wrong)} of {figures['pairs_that_differ']} pairs: {'; '.join(wrong)}")
    return found


def show(times: dict[str, dict[str, Any]], forecast: dict[str, dict[str, Any]], console: Console) -> None:
    """Print a table."""
    table = Table(title="Forecast and measured time, in ms", title_justify="left")
    table.add_column("program")
    for library in times:
        for column in (library, "forecast", "ratio"):
            table.add_column(column, justify="right")
    for name, found in forecast.items():
        cells = []
        for library, known in times.items():
            seconds, predicted = known[name], found[library]["seconds"]
            if isinstance(seconds, str):
                cells += [seconds.partition(":")[0], f"{predicted * 1e3:.3g}", ""]
            else:
                cells += [f"{seconds * 1e3:.3g}", f"{predicted * 1e3:.3g}", f"{predicted / seconds:.2f}"]
        table.add_row(name, *cells)
    console.print(table)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--npbench", type=Path, metavar="DIR", help="a checkout of spcl/npbench")
    parser.add_argument("--pyhpc", type=Path, metavar="DIR", help="a checkout of dionhaefner/pyhpc-benchmarks")
    parser.add_argument("--only", default="", metavar="NAME,...", help="only these programs")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--times", nargs=2, metavar=("LIBRARY", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.times:
        library, folder = options.times
        print(json.dumps(times(Path(folder), library)))
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        functions = prepare(folder, options)
        if not functions:
            parser.error("no programs: give --npbench or --pyhpc with a checkout")
        (folder / "functions.json").write_text(json.dumps(functions))
        found = {library: measured_times(folder, library) for library in LIBRARIES}
        forecast = predictions(folder, functions, measured(LIBRARIES, operations.KINDS)[0])
    show(found, forecast, Console(width=140))
    figures = judged(found, forecast)
    print(json.dumps(figures, indent=1))
    if options.out:
        versions = {name: version(name) for name in LIBRARIES}
        data = {"summary": figures, "versions": versions, "seconds": found, "forecasts": forecast}
        options.out.write_text(json.dumps(data, indent=1) + "\n")
    for each in missed(figures):
        print(f"missed: {each}", file=sys.stderr)
    return MISSED if missed(figures) else 0


if __name__ == "__main__":
    sys.exit(main())
