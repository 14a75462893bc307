"""Every row of the contract and every operation on JAX, compiled for TPUs by libtpu, with 64-bit types off."""

from __future__ import annotations

import os
from argparse import Namespace
from functools import cache
from typing import Any

import jax
from jax.experimental import topologies
from xarrayops_backends.jax._standard.lacking import LACKING, TPU_BUGS

import xarrayops as xo
from benchmarks.compile_devices import _report, _xla
from benchmarks.compile_devices._workers import Case, Record

TOPOLOGIES = {"v5e": "v5e:2x2", "v6e": "v6e:2x2"}
"""The rows are compiled for the first, the operations for both."""
ENVIRONMENT = {
    **_xla.ENVIRONMENT,
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "JAX_ENABLE_X64": "0",
}

_WIDE = {
    "linalg.svd float32 among 64-bit types": (lambda x: tuple(xo.linalg.svd(x, full_matrices=False)), "float32"),
    "linalg.pinv float32 among 64-bit types": (xo.linalg.pinv, "float32"),
    "nextafter float64": (lambda x: xo.nextafter(x, x), "float64"),
    "random.normal among 64-bit types": (
        lambda x: xo.random.default_rng(3, like=x).normal(size=(9,)) + x[0, 0],
        "float64",
    ),
    "linalg.svdvals float32 among 64-bit types": (xo.linalg.svdvals, "float32"),
}
"""Functions with 64-bit types on, and the dtype of their argument."""
_ABORTS = "; ".join(each.condition for each in TPU_BUGS)
_WIDE_FAILS = {
    **dict.fromkeys(list(_WIDE)[:2], _ABORTS),
    "nextafter float64": str(LACKING["tpu"]["nextafter"]),
    "random.normal among 64-bit types": str(LACKING["tpu"]["random.normal"]),
}


def main(arguments: Namespace) -> dict[str, Any]:
    """Compile all cases and write the evidence."""
    first, *others = TOPOLOGIES
    cases = [
        *({**case, "device": first} for case in _xla.row_cases(each_class=False)),
        *({**case, "device": name} for name in (first, *others) for case in _xla.operation_cases()),
    ]
    cases += [{"operation": name, "device": first} for name in _WIDE]
    gaps = LACKING["tpu"]
    declared = {**{name: str(gaps[name]) for name in ("linalg.eig", "linalg.eigvals")}, **_WIDE_FAILS}
    return _report.run("xla_tpu", cases, _xla.versions("libtpu"), arguments, environment=ENVIRONMENT, declared=declared)


@cache
def _device(name: str = "v5e") -> Any:
    os.environ.update(ENVIRONMENT)
    return topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[name]).devices[0]


def compiled(case: Case) -> Record:
    """Compile a case and check its HLO."""
    if case.get("operation") in _WIDE:
        function, dtype = _WIDE[case["operation"]]
        with jax.enable_x64(True):
            _xla.compiled(function, [jax.ShapeDtypeStruct((4, 3), dtype)], "tpu", _device(case["device"]))
        return {"state": "compiled"}
    return _xla.compile_case(case, "tpu", _device(case["device"]), CHECKS)


CHECKS = {"no callback": _xla.no_callback, "no scores": _xla.no_scores}
