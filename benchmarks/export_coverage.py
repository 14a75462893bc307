"""Which functions of the standard each format can express: exported, run from the file and compared.

    python benchmarks/export_coverage.py --out benchmarks/results/export.json [--only sin,linalg.inv]

Each function is exported from NumPy arrays with constant shapes, and with a first axis whose length may change. A
function counts if a file agrees at the examples, at other values, and at further lengths of the axis.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from export_functions import EXAMPLES, Example

import xarrayops as xo
from xarrayops.errors import XArrayOpsError

TARGETS = ("stablehlo", "pt2", "onnx", "torchscript")
PACKAGES = ("jax", "torch", "onnx", "onnxscript", "onnxruntime", "jax2onnx")


def exported(example: Example, target: Any, folder: Path, *, is_dynamic: bool) -> str:
    """The route of the file that agrees; an error message after "no: " if there is none."""
    dynamic = {name: {0: "n"} for name in example.dynamic} if is_dynamic else {}
    try:
        file = xo.export(example.function, *example.arguments, target=target, path=folder / "f", dynamic=dynamic)
    except XArrayOpsError as error:
        reasons = str(error).splitlines()[1:] or [str(error)]
        return f"no: {'; '.join(map(str.strip, reasons))}"
    return file.report.route


def measured(names: list[str]) -> dict[str, dict[str, str]]:
    """For each function and each format, static and dynamic, the route or the reason."""
    found: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            found[name] = {
                f"{target} {'dynamic' if is_dynamic else 'static'}": exported(
                    EXAMPLES[name], target, Path(folder), is_dynamic=is_dynamic
                )
                for target in TARGETS
                for is_dynamic in (False, True)
            }
    return found


def totals(functions: dict[str, dict[str, str]]) -> dict[str, int]:
    """The number of functions in each format."""
    columns = next(iter(functions.values()))
    return {column: sum(not row[column].startswith("no: ") for row in functions.values()) for column in columns}


def versions() -> dict[str, str]:
    """The versions of the packages that export and run."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def main(arguments: list[str]) -> int:
    """Export all functions and print the totals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="the file of results")
    parser.add_argument("--only", help="names of functions, separated by commas")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    names = options.only.split(",") if options.only else sorted(EXAMPLES)
    functions = measured(names)
    for column, count in totals(functions).items():
        print(f"{column:<22}{count:>4} of {len(functions)}")
    if options.out:
        result = {"versions": versions(), "totals": totals(functions), "functions": functions}
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
