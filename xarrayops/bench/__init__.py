"""The benchmark: ``python -m xarrayops.bench --all``.

One row, one claim, and no time without a checked answer. Each backend runs in worker processes of its own (`worker`),
which the parent asks for one cell at a time, in rounds over all cells of all backends: `runner` says in what order, and
a `side` asks and keeps what it heard, one for each environment that is measured. What a worker measures, and how, is in
`cell`, `place`, `timing`, `proof`, `oracle`, `memory` and `roofs`. `tables` says what the results mean and `terminal`,
`markdown` and `page` draw it. `compare` tells two sets of results apart: of two runs (`apart`), or of the two sides of
one (`turns`).

`Workload` is all that a file for ``--workload-file`` needs.
"""

from xarrayops.bench.workload import Case, MissingData, Workload

__all__ = ["Case", "MissingData", "Workload"]
