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
from benchmarks.compile_devices._jax_operations import OPERATIONS
from benchmarks.compile_devices._operations import Operation, array
from benchmarks.compile_devices._workers import Case, Record

TOPOLOGIES = {"v5e": "v5e:2x2", "v6e": "v6e:2x2"}
"""The rows are compiled for the first, the operations for both."""
ENVIRONMENT = {
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "JAX_ENABLE_X64": "0",
}

_MATRIX = array("float32", 4, 3)
_GRADIENT = OPERATIONS["attention gradient"].function
_WIDE = {
    "linalg.svd float32 among 64-bit types": Operation(
        lambda x: tuple(xo.linalg.svd(x, full_matrices=False)), (_MATRIX,)
    ),
    "linalg.pinv float32 among 64-bit types": Operation(xo.linalg.pinv, (_MATRIX,)),
    "nextafter float64": Operation(lambda x: xo.nextafter(x, x), (array("float64", 4, 3),)),
    "random.normal among 64-bit types": Operation(
        lambda x: xo.random.default_rng(3, like=x).normal(size=(9,)) + x[0, 0], (array("float64", 4, 3),)
    ),
    "linalg.svdvals float32 among 64-bit types": Operation(xo.linalg.svdvals, (_MATRIX,)),
    **{
        f"attention{kind} {dtype} among 64-bit types": Operation(
            function, (array(dtype, 2, 8, 1024, 64),) * 3, ("no scores",)
        )
        for kind, function in (("", xo.attention), (" gradient", _GRADIENT))
        for dtype in ("bfloat16", "float32")
    },
}
"""Operations with 64-bit types on."""
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
    targets, versions = list(map(target, TOPOLOGIES)), _xla.versions("libtpu")
    return _report.run(
        "xla_tpu", cases, versions, arguments, targets=targets, environment=ENVIRONMENT, declared=declared
    )


def target(name: str) -> str:
    """A TPU with its topology."""
    return f"TPU {name} ({TOPOLOGIES[name].partition(':')[2]})"


@cache
def device(name: str) -> Any:
    """A TPU that is not there."""
    os.environ.update(ENVIRONMENT)
    return topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[name]).devices[0]


def compiled(case: Case) -> Record:
    """Compile a case and check its HLO."""
    if case.get("operation") in _WIDE:
        with jax.enable_x64(True):
            return _xla.compile_operation(_WIDE[case["operation"]], "tpu", device(case["device"]), CHECKS)
    return _xla.compile_case(case, "tpu", device(case["device"]), CHECKS)


CHECKS = {"no callback": _xla.no_callback, "no scores": _xla.no_scores}
