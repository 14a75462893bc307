"""Suites that pytest runs, each in a process of its own with a plugin that leads their calls to our functions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from results import Outcome

FOLDER = Path(__file__).parent
ENVIRONMENT = {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu", "PYTHONDONTWRITEBYTECODE": "1"}


@dataclass(frozen=True)
class Suite:
    """Tests of another project, and the shim that leads their calls to ours."""

    shim: str
    tests: str
    """The file or folder with the tests, in the checkout; or several files, separated by spaces."""
    source: str | None = None
    """The folder in the checkout with the package under test; None: copies of the files run on what is installed,
    because the checkout is not a built package."""
    select: str = ""

    def run(self, checkout: Path, library: str, select: str) -> Outcome:
        """The outcome of the tests on one library."""
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            if self.source is None:
                place, paths = work, [FOLDER]
                names = self.tests.split()
                copies = [name.replace("/", "_") if len(names) > 1 else Path(name).name for name in names]
                tests = [shutil.copy(checkout / name, work / copy) for name, copy in zip(names, copies, strict=True)]
                (work / "pytest.ini").write_text("[pytest]\n")
            else:
                place, paths = checkout, [FOLDER, (checkout / self.source).resolve()]
                tests = [self.tests]
            report, calls = work / "report.xml", work / "calls.json"
            expression = " and ".join(f"({each})" for each in (self.select, select) if each)
            command = [
                *(sys.executable, "-m", "pytest", *map(str, tests), "-q", "--tb=line", "-p", "no:cacheprovider"),
                *("-p", f"shims.{self.shim}", "-o", "junit_family=xunit1", f"--junitxml={report}", "-k", expression),
            ]
            environment = {
                **(os.environ | ENVIRONMENT),
                "PYTHONPATH": os.pathsep.join(map(str, paths)),
                "SUITE_LIBRARY": library,
                "SUITE_CALLS": str(calls),
            }
            ended = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
            if ended.returncode not in (0, 1):
                raise SystemExit(f"the tests did not run:\n{ended.stdout[-3000:]}{ended.stderr[-3000:]}")
            return outcome(report, json.loads(calls.read_text()) if calls.exists() else {})


def outcome(report: Path, calls: dict[str, int]) -> Outcome:
    """The counts in a report of pytest's. A test that is expected to fail counts as skipped, or passed."""
    passed, skipped, failures = 0, 0, {}
    for case in ElementTree.parse(report).iter("testcase"):
        fault = case.find("failure")
        if fault is None:
            fault = case.find("error")
        if fault is not None and not fault.get("message", "").startswith("[XPASS(strict)]"):
            name = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
            failures[name] = " ".join(fault.get("message", "").split())[:300]
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return Outcome(passed, failures, skipped, calls)


_OF_LIB = "function_base shape_base arraysetops twodim_base nanfunctions ufunclike type_check histograms index_tricks"
NUMPY_FILES = [
    *(f"numpy/lib/tests/test_{name}.py" for name in (*_OF_LIB.split(), "arraypad", "stride_tricks")),
    *(f"numpy/_core/tests/test_{name}.py" for name in ("numeric", "shape_base", "function_base", "umath")),
    *("numpy/linalg/tests/test_linalg.py", "numpy/fft/tests/test_pocketfft.py", "numpy/fft/tests/test_helper.py"),
]
"""NumPy's tests of the functions that xarrayops.numpy has."""

SUITES = {
    "array-api-extra": Suite("array_api_extra_namespaces", "tests/main", source="src"),
    "jax-attention": Suite("jax_attention", "tests/nn_test.py", select="DotProductAttention"),
    "numpy-einsum": Suite("numpy_einsum", "numpy/_core/tests/test_einsum.py"),
    "numpy-module": Suite("numpy_module", " ".join(NUMPY_FILES), select="not large and not huge"),
    "scipy-sparse": Suite(
        "scipy_sparse",
        "scipy/sparse/tests/test_base.py",
        select="(CSR or CSC or COO or BSR) and not Matrix and "
        "(add or mul or sum or transpose or toarray or todense or tocs or tocoo or tobsr or asformat or matvec)",
    ),
}
