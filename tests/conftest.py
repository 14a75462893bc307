"""Shared by all tests: the selection of long tests, and the environment of processes that need CuPy."""

from __future__ import annotations

import gc
import os
import re
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import xarrayops as xo

# By default JAX reserves three quarters of a GPU's memory, and other test processes fail.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

FOLDER = Path(__file__).parent
STANDIN = FOLDER / "standins" / "cupy"
WITHOUT_DEVICES = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
"""The stand-in reports host memory as device memory; a library with a real device would use these addresses there."""
QUICK_ROW_INTERVAL = 48
"""The quick tests include one of this many rows of the contract suite where rows take long: under a compiler, by
engines, on JAX, which compiles each operation, and on Dask. At least one row of each theme is quick."""
QUICK_TEST_INTERVAL = 16
"""The quick tests include one of this many tests of a slow module."""
SLOW_MODULES = frozenset(
    [
        "contract/test_attention_gradients",
        "contract/test_exchange_lifetime",
        "contract/test_exchange_matrix",
        "unit/backends/jax/test_attention",
        "unit/backends/jax/test_attention_cudnn",
        "unit/backends/jax/test_statistics",
        "unit/backends/jax/test_sparse",
        "unit/backends/torch/test_attention",
        "unit/bench/test_compare",
        "unit/bench/test_interleaved",
        "unit/bench/test_operations",
        "unit/bench/test_resume",
        "unit/bench/test_run",
        "unit/bench/test_trust",
        "unit/bench/test_workloads",
        "unit/benchmarks/test_peers",
        "unit/core/test_compiled_modes",
        "unit/host/sparse/test_compact",
        "unit/host/sparse/test_order",
        "unit/host/sparse/test_products",
        "unit/ops/operations/test_native",
        "unit/ops/quantization/test_qmatmul",
        "unit/ops/quantization/test_quantize",
        "unit/ops/test_at",
        "unit/ops/test_default_dtypes",
        "unit/ops/test_extended_odd_arguments",
        "unit/ops/test_floating_dtypes",
        "unit/ops/test_odd_arguments",
        "unit/ops/test_one_answer",
        "unit/port/rewriting/test_aliases",
        "unit/port/rewriting/test_calls",
        "unit/port/rewriting/test_xo_style",
        "unit/port/test_rules",
        "unit/port/test_trace",
        "unit/testing/test_check_operation",
        "fuzz/test_sparse",
        "unit/testing/verify/test_ports",
    ]
)
"""The modules whose tests take longest together, by their path in this folder."""
ENGINE_ROW_INTERVAL = 8
"""All tests include one of this many rows by engines where JAX compiles; ``--every-row`` includes them all."""


def pytest_configure(config: pytest.Config) -> None:
    """Let all processes of this run share the programs that JAX compiles, in a folder that the run removes."""
    if hasattr(config, "workerinput") or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    folder = TemporaryDirectory(prefix="xarrayops-programs-")
    config.add_cleanup(folder.cleanup)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = folder.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as long most rows and modules that take long, and what ``long_except`` does not match.

    This runs before ``-m``.
    """
    rows: Counter[tuple[str, str]] = Counter()
    of_module: Counter[str] = Counter()
    left_out = []
    for item in items:
        call = getattr(item, "callspec", None)
        variant = call and call.params.get("variant")
        is_slow = getattr(variant, "compiles", False) or getattr(variant, "library", None) in ("jax", "dask")
        if is_slow or hasattr(variant, "engines"):
            row = str(variant), item.name.partition("[")[0]
            rows[row] += 1
            if rows[row] % QUICK_ROW_INTERVAL != 1:
                item.add_marker(pytest.mark.long)
            compiles = getattr(variant, "compiles", False) or getattr(variant, "library", None) == "jax"
            is_by_engine = compiles and hasattr(variant, "engines")
            if is_by_engine and rows[row] % ENGINE_ROW_INTERVAL != 1 and not config.getoption("--every-row"):
                left_out.append(item)
        module = item.nodeid.partition(".py::")[0].removeprefix("tests/")
        of_module[module] += 1
        patterns = list(item.iter_markers("long_except"))
        if module in SLOW_MODULES and not patterns and of_module[module] % QUICK_TEST_INTERVAL != 1:
            item.add_marker(pytest.mark.long)
        for mark in patterns:
            (quick,) = mark.args
            if not re.match(quick, call.id):
                item.add_marker(pytest.mark.long)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        dropped = set(left_out)
        items[:] = [item for item in items if item not in dropped]


def pytest_collection_finish() -> None:
    """Exempt the libraries and the collected tests, millions of objects, from the collections of garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def standin_environment() -> dict[str, str]:
    """The environment in which ``import cupy`` imports the stand-in, and no library sees a real device."""
    path = os.pathsep.join(filter(None, (str(STANDIN), os.environ.get("PYTHONPATH"))))
    return {**os.environ, **WITHOUT_DEVICES, "PYTHONPATH": path}


@pytest.fixture
def real_cupy() -> bool:
    """Whether the real CuPy is installed and has a device. Then it is tested instead of the stand-in."""
    (status,) = (s for s in xo.backends() if s.name == "cupy")
    return bool(status.available and status.backend.devices() and "standin" not in status.backend.versions["cupy"])


@pytest.fixture
def cupy_environment(real_cupy: bool, standin_environment: dict[str, str]) -> dict[str, str]:
    """The environment of a process that needs CuPy: the real CuPy if it has a device, else the stand-in."""
    return dict(os.environ) if real_cupy else standin_environment
