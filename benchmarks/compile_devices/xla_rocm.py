"""Every row of the contract and every operation on JAX, compiled for an MI300X by XLA's ROCm compiler.

XLA's plug-in needs ROCm's libraries to be loaded, and stand-ins for them suffice to compile.
"""

from __future__ import annotations

import re
from argparse import Namespace
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax_rocm7_plugin
from jax_plugins import xla_rocm7

from benchmarks.compile_devices import _gpus, _report, _rocm_stubs, _xla
from benchmarks.compile_devices._workers import Case, Record
from benchmarks.compile_devices._xla import Product

STUBS = _report.KEPT / "rocm-stubs"


def main(arguments: Namespace) -> dict[str, Any]:
    """Compile all cases and write the evidence."""
    jax.config.update("jax_enable_x64", True)
    xla_rocm7.initialize = lambda: None  # it needs the stand-ins, which only the workers load
    _rocm_stubs.make(
        [*Path(xla_rocm7.__path__[0]).glob("*.so"), *Path(jax_rocm7_plugin.__path__[0]).glob("*.so")], STUBS
    )
    # preloaded, because parts of the plug-in find some functions only through the libraries of ROCm themselves
    loading = {"LD_LIBRARY_PATH": str(STUBS), "LD_PRELOAD": ":".join(map(str, sorted(STUBS.glob("*.so.*"))))}
    environment = {"JAX_ENABLE_X64": "1", **loading}
    cases = [*_xla.row_cases(each_class=False), *_xla.operation_cases()]
    targets, versions = [_gpus.MI300X.target], _xla.versions("jax-rocm7-pjrt")
    return _report.run("xla_rocm", cases, versions, arguments, targets=targets, environment=environment)


@cache
def _device() -> Any:
    xla_rocm7.hardware_utils.num_available_amd_gpus = lambda **options: 1  # otherwise it does not register itself
    return _gpus.device("rocm", _gpus.MI300X)


def compiled(case: Case) -> Record:
    """Compile a case and check its LLVM IR and HLO."""
    return _xla.compile_case(case, "rocm", _device(), CHECKS)


def _rounded(product: Product) -> str | None:
    """Division and roots of float32 are rounded to nearest: LLVM may not use faster ones."""
    fast = r"(?:fdiv|@llvm\.sqrt\.f32|@llvm\.amdgcn\.(?:rcp|sqrt|rsq)|@__ocml_native)"
    found = re.search(rf"^.*{fast}.*(?:float|f32).*(?:!fpmath|\b(?:afn|arcp|fast)\b).*$", product.code, re.MULTILINE)
    return f"the IR has {found[0].strip()}" if found else None


def _on_integer_cores(product: Product) -> str | None:
    """Matrix instructions multiply 8-bit integers in int32, and none multiplies floating-point numbers."""
    found = sorted(set(re.findall(r"@llvm\.amdgcn\.s?mfma\.[\w.]+", product.code)))
    others = [name for name in found if ".i32." not in name or not name.endswith("i8")]
    return None if found and not others else f"the IR has {', '.join(others) or 'no matrix instruction'}"


CHECKS = {
    "no callback": _xla.no_callback,
    "rounded": _rounded,
    "integer cores": _on_integer_cores,
    "no scores": _xla.no_scores,
    "keeps NaN": _xla.keeps_nan,
}
