"""Which functions of other packages take the arrays of PyTorch, JAX, CuPy and Dask: by their own tables, and tried.

    python benchmarks/foreign_calls.py [--table xarrayops/port/source/foreign.json] [--out FILE] [--only TEXT]

What SciPy and scikit-learn say of themselves is confirmed by the calls of foreign_cases.py on the CPU, in a process
for each library that is started again after a crash. A result counts as direct if its arrays are of the library and
equal to those of NumPy. ``--table`` writes what `python -m xarrayops.port` reads. Ends with 3 if a call fails on NumPy.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

MISSED = 3
LIBRARIES = ("torch", "jax", "dask")
NEEDS_HOST = ("to numpy", "expected device cpu")
"""Errors of tensors elsewhere that are not about missing values: the function uses arrays of the host."""
SETTINGS = {
    "scipy": "SCIPY_ARRAY_API=1",
    "sklearn": "SCIPY_ARRAY_API=1 and sklearn.set_config(array_api_dispatch=True)",
}
"""What a package needs before it takes other arrays than NumPy's."""
DISTRIBUTIONS = {"sklearn": "scikit-learn", "skimage": "scikit-image", "cv2": "opencv-python-headless"} | {
    "PIL": "pillow", "pywt": "PyWavelets"
}  # fmt: skip
MODULES = (
    *("cluster.hierarchy", "cluster.vq", "differentiate", "fft", "integrate", "interpolate", "linalg", "ndimage"),
    *("optimize", "signal", "signal.windows", "spatial.distance", "special", "stats"),
)
"""The modules of SciPy with functions of arrays."""
DIRECT, NO_ARRAY, WRONG = "direct", "right, without arrays", "wrong values"


def converter(library: str) -> Callable[[Any], Any]:
    """What makes an array of a library from one of NumPy."""
    if library == "torch":
        return importlib.import_module("torch").asarray
    if library == "jax":
        importlib.import_module("jax").config.update("jax_enable_x64", True)
        return importlib.import_module("jax.numpy").asarray
    return importlib.import_module("dask.array").from_array if library == "dask" else lambda x: x


def name_of(case: str) -> str:
    """The function of a call."""
    return case.partition("(")[0]


def called(case: str, variables: Mapping[str, Any]) -> Any:
    """The result of a call."""
    package, *parts = name_of(case).split(".")
    known = {package: importlib.import_module(package)}
    for i in range(1, len(parts)):
        try:
            importlib.import_module(".".join([package, *parts[:i]]))
        except ModuleNotFoundError:
            break
    return eval(case, known | dict(variables))


def leaves(value: Any) -> Iterator[Any]:
    """The arrays and numbers of a result."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from leaves(each)
    else:
        yield value


def of_library(value: Any, library: str) -> bool:
    """Whether an array is of the library."""
    return type(value).__module__.partition(".")[0].removesuffix("lib") == library


def on_host(value: Any) -> Any:
    """The values of an array or a number, as NumPy's array; bytes and slices stay."""
    value = value.resolve_conj() if hasattr(value, "resolve_conj") else value
    return value if isinstance(value, bytes | slice | None) else np.asarray(value)


def tried(case: str, given: Mapping[str, Any], library: str) -> str:
    """What happens: "direct", "NumPy's" arrays, no arrays, wrong values, or an error."""
    from foreign_cases import arrays

    try:
        expected = [*leaves(called(case, arrays()))]
        found = [*leaves(called(case, given))]
        values = [on_host(each) for each in found]
    except Exception as error:  # packages raise anything
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:80]}"
    same = len(values) == len(expected) and all(
        value == want
        if isinstance(want, bytes | slice | None)
        else np.allclose(value, want, rtol=1e-5, atol=1e-8, equal_nan=True)
        for value, want in zip(values, expected, strict=True)
    )
    if not same:
        return WRONG
    results = [each for each in found if hasattr(each, "shape")]
    return NO_ARRAY if not results else DIRECT if all(of_library(each, library) for each in results) else "NumPy's"


def tried_elsewhere(case: str, given: Mapping[str, Any]) -> str:
    """The error for tensors of the device meta, which have no values: as on a GPU, NumPy cannot read them."""
    try:
        called(case, {name: x.to("meta") for name, x in given.items()})
    except Exception as error:  # packages raise anything
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:80]}"
    return "right"


def work(library: str) -> None:
    """Try the calls of the standard input, a line of JSON for each."""
    from foreign_cases import arrays

    warnings.simplefilter("ignore")
    convert = converter(library)
    for case in sys.stdin.read().splitlines():
        if case.startswith("sklearn."):
            importlib.import_module("sklearn").set_config(array_api_dispatch=True)
        given = {name: convert(x) for name, x in arrays().items()}
        row = {"case": case, "outcome": tried(case, given, library)}
        if row["outcome"] == DIRECT and library == "torch":
            row["elsewhere"] = tried_elsewhere(case, given)
        used = [node.id for node in ast.walk(ast.parse(case)) if isinstance(node, ast.Name) and node.id in given]
        if row["outcome"] == DIRECT and len(set(used)) > 1:
            row["mixed"] = tried(case, given | {used[-1]: arrays()[used[-1]]}, library)
        print(json.dumps(row), flush=True)


def outcomes(library: str, cases: list[str]) -> dict[str, dict[str, str]]:
    """What happens to each call on a library; a crash ends one call."""
    found: dict[str, dict[str, str]] = {}
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "MPLBACKEND": "agg", "JAX_PLATFORMS": "cpu"}
    while pending := [case for case in cases if case not in found]:
        command = [sys.executable, __file__, "--worker", library]
        run = subprocess.run(
            command, input="\n".join(pending), capture_output=True, text=True, env=environment, check=False
        )
        rows = [json.loads(line) for line in run.stdout.splitlines() if line.startswith('{"case"')]
        found |= {row.pop("case"): row for row in rows}
        if len(rows) < len(pending):
            last = (run.stderr.strip().splitlines() or [""])[-1]
            found[pending[len(rows)]] = {"outcome": f"the process ended with {run.returncode}: {last}"}
    return found


def promised_by_scipy() -> dict[str, set[str]]:
    """The libraries that each function takes by SciPy's own table; ``:cpu`` is in host memory only."""
    from scipy._lib import _array_api
    from scipy.signal._support_alternative_backends import capabilities_overrides

    modules = {f"scipy.{name}": importlib.import_module(f"scipy.{name}") for name in MODULES}
    found: dict[str, set[str]] = {}
    for module, name in [(each, name) for each in modules for name in dir(modules[each])]:
        function = getattr(modules[module], name)
        if name.startswith("_") or not callable(function) or function not in _array_api.xp_capabilities_table:
            continue
        if module == "scipy.signal" and name not in capabilities_overrides:
            continue  # the table says that it takes everything, because nobody has said anything of it
        given = _array_api._make_sphinx_capabilities(**_array_api.xp_capabilities_table[function])
        found[f"{module}.{name}"] = {
            library.partition(".")[0] + (":cpu" if each.gpu is False else "")
            for library, each in given.items()
            if library not in ("out_of_scope", "numpy", "array_api_strict") and (each.cpu or each.gpu)
        }
    return found


def promised_by_sklearn() -> dict[str, set[str]]:
    """The same for the estimators of scikit-learn, by their tags."""
    from sklearn.utils import all_estimators

    found: dict[str, set[str]] = {}
    warnings.simplefilter("ignore", FutureWarning)
    for name, kind in all_estimators():
        try:
            has_support = kind().__sklearn_tags__().array_api_support
        except (AttributeError, TypeError):  # estimators of estimators
            continue
        if has_support:
            found[f"{kind.__module__.partition('._')[0]}.{name}"] = {"cupy", "torch"}
    return found


def table(promises: Mapping[str, set[str]], trials: Mapping[str, Mapping[str, Any]]) -> dict[str, set[str]]:
    """What each function takes: a trial refutes a promise, and is proof for the CPU where there is none."""
    found = {name: set(libraries) for name, libraries in promises.items()}
    for library, rows in trials.items():
        for case, row in rows.items():
            name = name_of(case)
            if row["outcome"] not in (DIRECT, NO_ARRAY):
                found.get(name, set()).difference_update({library, f"{library}:cpu"})
            elif name not in promises and row["outcome"] == DIRECT and name.partition(".")[0] in SETTINGS:
                found.setdefault(name, set()).add(library if library == "dask" else f"{library}:cpu")
            if any(text in row.get("elsewhere", "") for text in NEEDS_HOST) and "torch" in found.get(name, ()):
                found[name] = {
                    each if each in ("cupy", "dask") else f"{each.partition(':')[0]}:cpu" for each in found[name]
                }
    return {name: libraries for name, libraries in found.items() if libraries}


def grouped(found: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """The functions by what they take, in the order of the alphabet."""
    groups: dict[str, list[str]] = {}
    for name in sorted(found):
        groups.setdefault(" ".join(sorted(found[name])), []).append(name)
    return dict(sorted(groups.items()))


def versions(packages: list[str]) -> dict[str, str]:
    """The installed packages, by the name of the import."""
    found = {}
    for name in packages:
        try:
            found[name] = version(DISTRIBUTIONS.get(name, name))
        except PackageNotFoundError:
            print(f"{name} is not installed: its functions are not tried")
    return found


def main() -> int:
    """Try, print and write the results."""
    from foreign_cases import CASES

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--worker", choices=("numpy", *LIBRARIES), help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="the calls that start with this text")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.worker:
        work(given.worker)
        return 0
    packages = sorted({case.partition(".")[0] for case in CASES})
    installed = versions(packages)
    libraries = versions(list(LIBRARIES))
    cases = [case for case in CASES if case.startswith(given.only) and case.partition(".")[0] in installed]
    found = {case: row["outcome"] for case, row in outcomes("numpy", cases).items()}
    failing = {case: outcome for case, outcome in found.items() if outcome not in (DIRECT, NO_ARRAY)}
    for case, outcome in failing.items():
        print(f"on NumPy: {case}: {outcome}")
    trials = {library: outcomes(library, cases) for library in libraries}
    promises = promised_by_scipy() | (promised_by_sklearn() if "sklearn" in installed else {})
    rows = {case: {library: trials[library][case] for library in libraries} for case in cases}
    refuted = {
        f"{library}: {case}": row["outcome"]
        for library in libraries
        for case, row in trials[library].items()
        if row["outcome"] not in (DIRECT, NO_ARRAY) and promises.get(name_of(case), set()) & {library, f"{library}:cpu"}
    }
    counts = {
        library: {
            package: sum(
                row["outcome"] == DIRECT for case, row in trials[library].items() if case.startswith(f"{package}.")
            )
            for package in installed
        }
        for library in libraries
    }
    print(json.dumps({"direct": counts, "refuted": refuted}, indent=1))
    if given.out is not None:
        result = {"versions": {"numpy": np.__version__} | libraries | installed, "settings": SETTINGS}
        result |= {"direct": counts, "refuted": refuted, "calls": rows}
        given.out.write_text(json.dumps(result, indent=1) + "\n")
    if given.table is not None:
        settings = {package: SETTINGS.get(package, "") for package in packages}
        found = {"packages": settings, "takes": grouped(table(promises, trials))}
        given.table.write_text(json.dumps(found, indent=1) + "\n")
    return MISSED if failing else 0


if __name__ == "__main__":
    sys.exit(main())
