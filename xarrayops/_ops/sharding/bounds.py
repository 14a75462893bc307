"""limits: what one call on split arrays may move and hold."""

from __future__ import annotations

import re
from typing import Any

from xarrayops._core.modes.limits import limit_of_holds, limit_of_moves
from xarrayops._core.modes.settings import Scope, Setting

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


class limits(Scope):  # noqa: N801 - lower case, because it is used as a statement: with xo.limits(...)
    """Limit what each call on split arrays moves and holds, inside a ``with`` block of this thread or task.

    A call that would exceed a limit raises `Unsupported` before anything runs. The message has the bytes, the limit,
    and a way to split the array that needs less memory, if there is one. `explain` shows the bytes of every candidate.

    Functions that gather no shards are not checked. The limits hold when a function of xarrayops is called, also for
    Dask, which computes later; calls on tracers of JAX are not checked.

    Parameters
    ----------
    moves : int or str, optional
        The bytes that a device or a task may receive from others, such as ``"64 MB"`` or ``"1 GiB"``. Default: that of
        the outer block; without one there is no limit.
    holds : int or str, optional
        The bytes that a device or a task may hold: its arguments, results and temporary arrays. Default: that of the
        outer block. Without one it is for Dask half of the memory of a worker for each of its threads, or half of the
        memory of this machine without a cluster; and for JAX half of the memory of a device, if it is known.

    Raises
    ------
    ValueError
        A text is not a number with a unit of bytes.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = xo.shard(np.ones((1000, 100)), ("rows",), mesh={"rows": 10}, backend="dask")
    >>> with xo.limits(holds="1 MB"):
    ...     y = xo.sort(x, axis=0)
    Traceback (most recent call last):
        ...
    xarrayops.errors.Unsupported: xo.sort: it would hold 1.6 MB in one task (limit 1.0 MB). Instead: ...
    """

    def __init__(self, *, moves: int | str | None = None, holds: int | str | None = None) -> None:
        super().__init__()
        self._limits = [(limit_of_moves, _bytes("moves", moves)), (limit_of_holds, _bytes("holds", holds))]

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """The limits that are given."""
        return [(setting, value, None) for setting, value in self._limits if value is not None]


def _bytes(name: str, value: int | str | None) -> float | None:
    """A number of bytes."""
    if value is None or isinstance(value, (int, float)):
        return value
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?|)b?(?:ytes)?\s*", value, re.IGNORECASE)
    if found is None:
        raise ValueError(f'xo.limits: {name}={value!r} is not a number of bytes, such as 64000000, "64 MB" or "1 GiB"')
    return float(found[1]) * _UNITS[found[2].lower()]
