"""The built-in workloads: a file for each family, collected in `WORKLOADS`."""

from importlib import import_module

from xarrayops.bench.workload import Case, MissingData, Workload

__all__ = ["WORKLOADS", "Case", "MissingData", "Workload"]

_FAMILIES = (
    *("matmul", "transpose", "elementwise", "reductions", "conversion", "attention", "convolution", "gradient"),
    *("sparse", "pipeline", "graph", "classifier"),
)
WORKLOADS: tuple[Workload, ...] = tuple(
    workload for family in _FAMILIES for workload in import_module(f"{__name__}.{family}").WORKLOADS
)
