"""Whose kernels may serve the arrays of other libraries."""

from __future__ import annotations

import os

from xarrayops._core import registry
from xarrayops._core.scoped import ContextStack
from xarrayops._ops.verb import Verb

ENVIRONMENT = tuple(name.strip() for name in os.environ.get("XARRAYOPS_ENGINES", "").split(",") if name.strip())
_blocks: ContextStack[tuple[str, ...]] = ContextStack("xarrayops.engines")


class engines:  # noqa: N801 - reads as a statement: with xo.engines("jax")
    """Let kernels of some libraries serve the arrays of others inside a ``with`` block, the first that can.

    A kernel of any library may serve an array whose memory it sees: XLA's attention a NumPy array, say. Arrays go in
    without a copy where the memory allows it and by a copy elsewhere, on the same device, never out of an autograd
    graph, and results come back as the arrays' own: native in, native out. ``explain("attention", ...)`` shows it all.
    Where no engine can serve a call, the array's own library does, as it does without a block. The block is local to
    the thread or task, and torch.compile traces none. `attention` is the one verb that engines serve so far.

    Parameters
    ----------
    *names : str
        Backends, the preferred one first; without any no engine serves. Where there is no block, the environment
        variable ``XARRAYOPS_ENGINES`` names them (``jax,torch``).

    Raises
    ------
    BackendNotFound
        No backend has such a name, or, when it is to serve, its library is not installed.
    TypeError
        A name is no string.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.zeros((1, 2, 16, 8), dtype=np.float32)
    >>> with xo.engines("numpy"):
    ...     xo.attention(x, x, x).shape
    (1, 2, 16, 8)
    """

    def __init__(self, *names: str) -> None:
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f'xo.engines takes the names of backends, as "jax", "torch"; it was given {name!r}.')
            if name not in registry.entry_points():
                raise registry.unknown(name)
        self._names = names

    def __enter__(self) -> None:
        _blocks.enter(self._names)

    def __exit__(self, *exception: object) -> None:
        _blocks.leave()


def active() -> tuple[str, ...]:
    """The names of the engines, the preferred one first."""
    return _blocks.innermost(ENVIRONMENT)


VERBS = (Verb("engines", engines),)
