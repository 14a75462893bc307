"""engines: the libraries whose kernels may serve the arrays of other libraries."""

from __future__ import annotations

import os
from typing import Any

from xarrayops._core import registry
from xarrayops._core.scoped import Scope, Setting
from xarrayops._ops.verb import Verb

ENVIRONMENT = tuple(name.strip() for name in os.environ.get("XARRAYOPS_ENGINES", "").split(",") if name.strip())
_engines: Setting[tuple[str, ...]] = Setting("xo.engines", is_carried=False)


class engines(Scope):  # noqa: N801 - lower case, because it is used as a statement: with xo.engines("jax")
    """Allow kernels of some libraries, the engines, to serve arrays of other libraries inside a ``with`` block.

    For example, XLA's attention can serve NumPy arrays. The first engine that can serve a call serves it. Arrays are
    passed to the engine without a copy if their memory can be shared, and otherwise as a copy on the same device.
    Arrays that require a gradient are never passed. Results are arrays of the caller's library.
    ``explain("attention", ...)`` shows the engine and the copies. If no engine can serve a call, the library of the
    array serves it, as without a block. The block is local to the thread or task, and torch.compile cannot trace it.
    `attention` is the only verb that engines serve so far.

    Parameters
    ----------
    *names : str
        The names of backends, the preferred one first; without names no engine is used. Outside a block the environment
        variable ``XARRAYOPS_ENGINES`` names the engines (``jax,torch``).

    Raises
    ------
    BackendNotFound
        No backend has that name. If the library of an engine is not installed, the call that needs it raises.
    TypeError
        A name is not a string.

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
                raise TypeError(
                    f'xo.engines takes names of backends, such as "jax" or "torch"; the argument was {name!r}.'
                )
            if name not in registry.entry_points():
                raise registry.unknown(name)
        super().__init__()
        self._names = names

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """The engines."""
        return [(_engines, self._names, ENVIRONMENT)]


def active() -> tuple[str, ...]:
    """The names of the engines, the preferred one first."""
    return _engines.value(ENVIRONMENT)


VERBS = (Verb("engines", engines),)
