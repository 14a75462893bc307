"""Splits arrays, executes graphs task by task, and notes the bytes that each task takes in and gives out."""

from typing import NamedTuple

import dask
import numpy as np
from dask.callbacks import Callback

import xarrayops as xo


def split(x, *counts):
    """The array in so many chunks along each axis."""
    names = [f"a{i}" for i in range(x.ndim)]
    found = xo.shard(x, tuple(names), mesh=dict(zip(names, counts, strict=True)), backend="dask")
    return found.persist(scheduler="sync")  # without the tasks that cut x


class Task(NamedTuple):
    """The bytes that a task takes and gives, and those that it receives if it runs where its largest argument is."""

    key: object
    taken: int
    given: int
    moved: int


class Tasks(Callback):
    """The tasks of all graphs that are executed inside the context."""

    def __init__(self, size=None):
        super().__init__()
        self._size = size or _bytes
        self.found = []
        self.runs = 0
        self.most_held = 0
        self._taken = {}

    def _start(self, graph):
        self.runs += 1

    def _pretask(self, key, graph, state):
        self._taken[key] = [self._size(state["cache"][each]) for each in state["dependencies"][key]]

    def _posttask(self, key, result, graph, state, worker):
        taken = self._taken.pop(key)
        if not str(key).startswith("finalize"):  # joins the chunks of the result for the caller
            moved = sum(taken) - max(taken, default=0)
            self.found.append(Task(key, sum(taken), self._size(result), moved))
            self.most_held = max(self.most_held, sum(map(self._size, state["cache"].values())))

    @property
    def most_taken(self):
        return max(task.taken for task in self.found)

    @property
    def most_given(self):
        return max(task.given for task in self.found)

    def __len__(self):
        return len(self.found)


def measured(call, *arrays):
    """The results of a call of lazy arrays, which must compute nothing itself, and the tasks that compute it."""
    with Tasks() as early:
        lazy = call(*arrays)
    assert not early.runs, "the call computes"
    with Tasks() as tasks:
        found = dask.compute(lazy, scheduler="sync", optimize_graph=False)[0]
    return found, tasks


def largest_task(*arrays):
    """The bytes that the largest task of the arrays takes in and gives out; repeated elements count each time."""
    with Tasks(_nbytes) as tasks:
        for x in arrays:
            x.persist(scheduler="sync", optimize_graph=False)  # `compute` would join the chunks in another task
    return max((task.taken + task.given for task in tasks.found), default=0)


def most_moved(*arrays):
    """The bytes that a task of the graph that Dask executes receives from others, at most."""
    with Tasks(_nbytes) as tasks:
        for x in arrays:
            x.persist(scheduler="sync")
    return max((task.moved for task in tasks.found), default=0)


def _nbytes(value):
    """The bytes of all arrays."""
    parts = value.values() if isinstance(value, dict) else value
    return sum(map(_nbytes, parts)) if isinstance(value, (dict, list, tuple)) else getattr(value, "nbytes", 0)


def _bytes(value):
    """The bytes of all arrays; an axis that repeats one element counts once."""
    if isinstance(value, np.ndarray):
        extents = [n for n, step in zip(value.shape, value.strides, strict=True) if step or not n]
        return int(np.prod(extents, dtype=np.int64)) * value.itemsize
    parts = value.values() if isinstance(value, dict) else value
    return sum(map(_bytes, parts)) if isinstance(value, (dict, list, tuple)) else 0
