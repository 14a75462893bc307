"""The bytes of the tasks of a Dask graph, counted while it runs."""

from __future__ import annotations

from typing import Any

from dask.callbacks import Callback


def nbytes(value: Any) -> int:
    """The bytes of all arrays in the result of a task."""
    if isinstance(value, dict):
        return sum(map(nbytes, value.values()))
    return sum(map(nbytes, value)) if isinstance(value, (tuple, list)) else getattr(value, "nbytes", 0)


class LargestTask(Callback):
    """The largest task: the bytes of its inputs and its result."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0
        self._inputs: dict[Any, int] = {}

    def _pretask(self, key: Any, dsk: Any, state: Any) -> None:
        self._inputs[key] = sum(nbytes(state["cache"].get(each)) for each in state["dependencies"][key])

    def _posttask(self, key: Any, result: Any, dsk: Any, state: Any, worker: Any) -> None:
        self.bytes = max(self.bytes, self._inputs[key] + nbytes(result))


def largest_task(*arrays: Any) -> int:
    """The bytes of the largest task that computes the arrays."""
    counted = LargestTask()
    with counted:
        for x in arrays:
            x.persist(scheduler="sync", optimize_graph=False)  # `compute` would join the chunks in another task
    return counted.bytes
