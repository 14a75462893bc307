"""The benchmark: ``python -m xarrayops.bench --all``.

No time is shown for an answer that was not checked. Each backend runs in its own worker processes (`measure.worker`).
The parent process requests one cell at a time, in rounds over all cells of all backends. `run.runner` chooses the
order; `run.environment_run` sends the requests and records the answers, one instance for each measured environment.
`measure` holds what a worker measures; `place` is a device of a backend. `report` turns results into tables, terminal
output, Markdown and an HTML page. `compare` compares two sets of results: of two sequential runs
(`compare.sequential`), or of the two environments of one interleaved run (`compare.interleaved`).

A file for ``--workload-file`` needs nothing but `Workload`.
"""

from xarrayops.bench.workload import Case, MissingData, Workload

__all__ = ["Case", "MissingData", "Workload"]
