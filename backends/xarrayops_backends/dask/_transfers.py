"""Transfers: each run of a scheduler in this process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import dask.callbacks

_callbacks: Any = dask.callbacks
"""Typed as Any: Dask does not annotate it."""


def crossings(report: Callable[..., None], /) -> AbstractContextManager[Any]:
    """A callback of Dask's schedulers, which they call in the thread that computes. Those of distributed do not."""
    return _callbacks.Callback(start=lambda graph: report("compute", "dask", 0))
