"""What all tests share: which take long, and the environment of processes that have CuPy, with a GPU or without."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

import xarrayops as xo

# JAX takes three quarters of a GPU's memory otherwise, and the other processes of the tests fail.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

FOLDER = Path(__file__).parent
STANDIN = FOLDER / "standins" / "cupy"
WITHOUT_DEVICES = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
"""The stand-in calls host memory device memory: a library that sees a real device would use these pointers there."""
LONG = {
    "policy/test_types::test_results_are_of_the_type_of_the_arrays": "mypy-numpy|pyright",
    "unit/bench/test_resume::test_killed_and_resumed": "1",
    "unit/bench/test_trust::test_a_bad_backend_is_caught": "(?!hang)",
    "unit/benchmarks/test_claims::test_the_script_measures_what_it_can": None,
    "unit/examples/test_examples::test_digits_graph": None,
    "unit/examples/test_examples::test_induction_transformer": None,
    "unit/tools/test_gpu_stages::test_probes_run_on_the_stand_in_and_the_cpu": None,
    "unit/backends/jax/test_attention::test_gradients_and_tangents_are_finite_differences": ".*plain",
    "unit/backends/jax/test_attention::test_results_are_the_oracles": "float32-.*small",
    "unit/backends/jax/test_sparse::test_dtypes": "csr-(bool|float16)|coo-bfloat16",
    "unit/backends/jax/test_sparse::test_every_verb_is_that_of_dense_arrays": ".*False",
    "unit/backends/jax/test_sparse_from_dense::test_what_from_dense_keeps": "csr-float32",
    "unit/ops/layout/test_relayout::test_compiled_by_jax": None,
    "unit/host/sparse/test_compact::test_bsr_has_the_blocks_in_which_anything_is_kept": r".*\(2, 3\)|.*block1",
    "unit/backends/torch/test_attention::test_no_matrix_of_scores": "plain|window|lengths",
    "unit/backends/torch/test_attention::test_values_of_many_blocks": "(plain|causal|softcap|lengths)-",
    "unit/backends/torch/test_attention_grad::test_autocast": "sdpa-flash-False",
    "unit/backends/torch/test_attention_grad::test_compiled_decoding": "{}-1",
    "unit/backends/torch/test_attention_grad::test_compiled_gradients": "{}",
    "unit/backends/torch/test_attention_grad::test_gradients_of_bias_and_logsumexp": "(plain|lengths)-shape[03]",
    "unit/backends/torch/test_attention_grad::test_gradients_of_many_blocks": "(plain|softcap)-",
    "unit/backends/torch/test_attention_grad::test_transforms": "{}",
    "contract/test_torch_compile::test_first_dispatch_ever_is_compiled": r"xo\.add\(x, x\)-tensor",
    "contract/test_torch_compile::test_inductor": None,
    "unit/backends/torch/test_sparse_grad::test_first_and_second_derivatives": ".*dtype0",
    "unit/backends/torch/test_sparse_grad::test_from_dense": "relu|None",
    "unit/backends/torch/test_sparse_grad::test_sddmm": "csr",
}
"""Tests by file and function, chosen by the time they take, and a pattern of the ids that are quick enough to
be in every run, or stand for the others; None for none."""
ONE_IN = 8
"""Of the rows of the contract suite under a compiler, as many are in every run: one of every theme at least."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long, before ``-m`` selects."""
    seen: Counter[tuple[str, str]] = Counter()
    for item in items:
        name, _, rest = item.name.partition("[")
        compiled = getattr(getattr(item, "callspec", None), "params", {}).get("variant")
        if getattr(compiled, "compiles", False):
            seen[str(compiled), name] += 1
            if seen[str(compiled), name] % ONE_IN != 1:
                item.add_marker(pytest.mark.long)
        quick = LONG.get(f"{os.path.relpath(item.path.with_suffix(''), FOLDER)}::{name}", "")
        if quick is None or not re.match(quick, rest):
            item.add_marker(pytest.mark.long)


@pytest.fixture
def standin_environment() -> dict[str, str]:
    """The environment in which ``import cupy`` gives the stand-in, and no library sees a real device."""
    path = os.pathsep.join(filter(None, (str(STANDIN), os.environ.get("PYTHONPATH"))))
    return {**os.environ, **WITHOUT_DEVICES, "PYTHONPATH": path}


@pytest.fixture
def real_cupy() -> bool:
    """Whether the real CuPy is here and has a device, so that it is tested in place of the stand-in."""
    (status,) = (s for s in xo.backends() if s.name == "cupy")
    return bool(status.available and status.backend.devices() and "standin" not in status.backend.versions["cupy"])


@pytest.fixture
def cupy_environment(real_cupy: bool, standin_environment: dict[str, str]) -> dict[str, str]:
    """The environment of a process that needs CuPy: the real one where it has a device, else the stand-in."""
    return dict(os.environ) if real_cupy else standin_environment
