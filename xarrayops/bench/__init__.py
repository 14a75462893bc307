"""The benchmark: ``python -m xarrayops.bench --all``.

One row, one claim, and no time without a checked answer. Each backend runs in a worker process of its own (`worker`),
which the parent (`runner`) asks for one cell at a time, in rounds over all cells of all backends; what a worker
measures, and how, is in `cell`, `timing`, `oracle`, `memory` and `roofs`; what people see is in `report`.
"""
