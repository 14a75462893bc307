"""The built-in workloads: a file for each family, collected in `WORKLOADS`."""

from xarrayops.bench.workload import Case, MissingData, Workload
from xarrayops.bench.workloads import (
    attention,
    classifier,
    conversion,
    convolution,
    elementwise,
    gradient,
    graph,
    matmul,
    pipeline,
    reductions,
    sparse,
    transpose,
)

__all__ = ["WORKLOADS", "Case", "MissingData", "Workload"]

WORKLOADS: tuple[Workload, ...] = (
    *matmul.WORKLOADS,
    *transpose.WORKLOADS,
    *elementwise.WORKLOADS,
    *reductions.WORKLOADS,
    *conversion.WORKLOADS,
    *attention.WORKLOADS,
    *convolution.WORKLOADS,
    *gradient.WORKLOADS,
    *sparse.WORKLOADS,
    *pipeline.WORKLOADS,
    *graph.WORKLOADS,
    *classifier.WORKLOADS,
)
