"""The block that sets the engines: the libraries whose kernels may serve the arrays of other libraries."""

from __future__ import annotations

import os
from typing import Any

from xarrayops._core.backends import registry
from xarrayops._core.modes import tables as modes
from xarrayops._core.modes.settings import Scope, Setting

ENVIRONMENT = tuple(name.strip() for name in os.environ.get("XARRAYOPS_ENGINES", "").split(",") if name.strip())
_engines: Setting[tuple[str, ...]] = Setting("xo.engines", is_carried=False)


class engines(Scope):  # noqa: N801 - lower case, because it is used as a statement: with xo.engines("jax")
    """Allow kernels of some libraries, the engines, to serve arrays of other libraries inside a ``with`` block.

    For example, PyTorch's sort can serve NumPy arrays. The first engine that can serve a call serves it; otherwise the
    library of the arrays does. Results have the class, dtype, shape and device that this library would give, and errors
    are the same; values may differ by rounding. Arrays are passed to the engine without a copy if their memory can be
    shared, and otherwise as a copy on the same device. `explain` shows the engine and the copies.

    Engines serve the functions of xarrayops that compute: functions of the standard, functions with NumPy's names,
    `einsum`, `attention`, `relayout`, and the functions of sparse containers. They do not serve views, creation
    functions, operators such as ``x + y``, or functions of a namespace. Arrays that require a gradient, tracers and
    lazy arrays are never passed. The block is local to the thread or task, and torch.compile cannot trace it.

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
    >>> x = np.asarray([3.0, 1.0, 2.0])
    >>> with xo.engines("numpy"):
    ...     xo.sort(x)
    array([1., 2., 3.])
    """

    _is_mode = True

    def __init__(self, *names: str) -> None:
        for name in names:
            if not isinstance(name, str):
                raise TypeError(
                    f'xo.engines takes names of backends, such as "jax" or "torch"; the argument was {name!r}.'
                )
            if registry.module_of(name) is None:
                raise registry.unknown(name)
        super().__init__()
        self._names = names

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """The engines."""
        return [(_engines, self._names, ENVIRONMENT)]


def active() -> tuple[str, ...]:
    """The names of the engines, the preferred one first."""
    return _engines.value(ENVIRONMENT)


if ENVIRONMENT:
    modes.begin()
