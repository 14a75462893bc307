"""The workloads: one file each, named in `WORKLOADS`."""

from xarrayops.bench.workloads import elementwise, matmul, pipeline, transpose
from xarrayops.bench.workloads._contract import Case, MissingData, Workload

__all__ = ["WORKLOADS", "Case", "MissingData", "Workload"]

WORKLOADS: tuple[Workload, ...] = (
    matmul.WORKLOAD,
    transpose.WORKLOAD,
    elementwise.WORKLOAD,
    pipeline.WORKLOAD,
)
