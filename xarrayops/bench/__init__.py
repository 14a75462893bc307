"""The benchmark: ``python -m xarrayops.bench --all``.

One row, one claim, and no time without a checked answer. Each backend runs in worker processes of its own (`worker`),
which the parent (`runner`) asks for one cell at a time, in rounds over all cells of all backends; what a worker
measures, and how, is in `cell`, `timing`, `proof`, `oracle`, `memory` and `roofs`. `tables` says what the results mean
and `terminal`, `markdown` and `page` draw it; `compare` tells two runs apart.

`Workload` is all that a file for ``--workload-file`` needs.
"""

from xarrayops.bench.workloads._contract import Case, MissingData, Workload

__all__ = ["Case", "MissingData", "Workload"]
