"""Every row of the contract and every operation on JAX, compiled for an MI300X by XLA's ROCm compiler.

XLA's plug-in needs ROCm's libraries to be loaded, and stand-ins for them suffice to compile.
"""

from __future__ import annotations

import os
import re
from argparse import Namespace
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax_rocm7_plugin
from jax.experimental import topologies
from jax_plugins import xla_rocm7

from benchmarks.compile_devices import _report, _rocm_stubs, _xla
from benchmarks.compile_devices._workers import Case, Record
from benchmarks.compile_devices._xla import Product

MI300X = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 64 shared_memory_per_block: 65536 shared_memory_per_core: 65536
  threads_per_core_limit: 2048 core_count: 304 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 5300000000000 l2_cache_size: 4194304 clock_rate_ghz: 2.1 device_memory_size: 206141652992
  shared_memory_per_block_optin: 65536 rocm_compute_capability { gcn_arch_name: "gfx942:sramecc+:xnack-" }
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "ROCM" device_description_str: "AMD Instinct MI300X"
"""
STUBS = _report.KEPT / "rocm-stubs"


def main(arguments: Namespace) -> dict[str, Any]:
    """Compile all cases and write the evidence."""
    jax.config.update("jax_enable_x64", True)
    _rocm_stubs.make(
        [*Path(xla_rocm7.__path__[0]).glob("*.so"), *Path(jax_rocm7_plugin.__path__[0]).glob("*.so")], STUBS
    )
    # preloaded, because parts of the plug-in find some functions only through the libraries of ROCm themselves
    loading = {"LD_LIBRARY_PATH": str(STUBS), "LD_PRELOAD": ":".join(map(str, sorted(STUBS.glob("*.so.*"))))}
    environment = {**_xla.ENVIRONMENT, "JAX_ENABLE_X64": "1", **loading}
    cases = [*_xla.row_cases(each_class=False), *_xla.operation_cases()]
    return _report.run("xla_rocm", cases, _xla.versions("jax-rocm7-pjrt"), arguments, environment=environment)


@cache
def _device() -> Any:
    os.environ["XLA_FLAGS"] = f"--xla_gpu_autotune_level=0 --xla_dump_to={_xla.DUMP} --xla_dump_hlo_as_text=true"
    xla_rocm7.hardware_utils.num_available_amd_gpus = lambda **options: 1  # otherwise it does not register itself
    jax.devices()
    return topologies.get_topology_desc("mi300", "rocm", target_config=MI300X, topology="1x1x1").devices[0]


def compiled(case: Case) -> Record:
    """Compile a case and check its LLVM IR and HLO."""
    return _xla.compile_case(case, "rocm", _device(), CHECKS)


def _rounded(product: Product) -> str | None:
    """Division and roots of float32 are rounded to nearest: LLVM may not use faster ones."""
    fast = r"(?:fdiv|@llvm\.sqrt\.f32|@llvm\.amdgcn\.(?:rcp|sqrt|rsq)|@__ocml_native)"
    found = re.search(rf"^.*{fast}.*(?:float|f32).*(?:!fpmath|\b(?:afn|arcp|fast)\b).*$", product.code, re.MULTILINE)
    return f"the IR has {found[0].strip()}" if found else None


CHECKS = {
    "no callback": _xla.no_callback,
    "rounded": _rounded,
    "no scores": _xla.no_scores,
    "keeps NaN": _xla.keeps_nan,
}
