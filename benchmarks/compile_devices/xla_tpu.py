"""Every row of the contract and every operation on JAX, compiled for TPUs by libtpu, with 64-bit types off."""

from __future__ import annotations

import os
from argparse import Namespace
from functools import cache
from typing import Any

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


def main(arguments: Namespace) -> dict[str, Any]:
    """Compile all cases and write the evidence."""
    first, *others = TOPOLOGIES
    cases = [
        *({**case, "device": first} for case in _xla.row_cases(each_class=False)),
        *({**case, "device": name} for name in (first, *others) for case in _xla.operation_cases()),
    ]
    return _report.run("xla_tpu", cases, _xla.versions("libtpu"), arguments, environment=ENVIRONMENT)


@cache
def _device(name: str = "v5e") -> Any:
    os.environ.update(ENVIRONMENT)
    from jax.experimental import topologies

    return topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[name]).devices[0]


def compiled(case: Case) -> Record:
    """Compile a case and check its HLO."""
    return _xla.compile_case(case, "tpu", _device(case["device"]), CHECKS)


CHECKS = {"no callback": _xla.no_callback, "no scores": _xla.no_scores}
