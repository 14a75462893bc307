"""The library and device of arrays that are made from nothing."""

from __future__ import annotations

import os
from contextvars import ContextVar
from threading import Lock
from typing import Any

ENVIRONMENT = (os.environ.get("XARRAYOPS_BACKEND") or "numpy", None)
_open = 0
_counting = Lock()
_entered: ContextVar[tuple[tuple[str, Any], ...]] = ContextVar("xarrayops.use", default=())
"""The blocks that this thread or task is in, the innermost last."""


class use:  # noqa: N801 - reads as a statement: with xo.use("torch")
    """Make a library, and a device of it, the default of creation functions inside a ``with`` block.

    Without a block the environment variable ``XARRAYOPS_BACKEND`` names the library, and without that it is NumPy. The
    default is local to the thread or task. A block around a compiled function does not reach into what torch.compile
    traced with ``fullgraph=True``: pass ``backend=`` or ``like=`` there.

    Parameters
    ----------
    backend : str
        The backend's name, such as ``"torch"``.
    device : optional
        A device name such as ``"cuda:0"``, or a native device; default: the library's own default.

    Raises
    ------
    BackendNotFound
        When an array is created and no backend has the name.

    Examples
    --------
    >>> import xarrayops as xo
    >>> with xo.use("numpy", device="cpu"):
    ...     x = xo.zeros((2, 3))
    >>> x.shape
    (2, 3)
    """

    def __init__(self, backend: str, /, *, device: Any = None) -> None:
        self._default = (backend, device)

    def __enter__(self) -> None:
        _entered.set((*_entered.get(), self._default))
        _count(1)

    def __exit__(self, *exception: object) -> None:
        _count(-1)
        _entered.set(_entered.get()[:-1])


def _count(change: int) -> None:
    """Count the blocks that are open in any thread; ``+=`` alone loses a count where two threads meet."""
    global _open
    with _counting:
        _open += change


def current() -> tuple[str, Any]:
    """The default library and device.

    The plain count comes first because torch.compile traces no ContextVar: a program without ``use`` compiles.
    """
    blocks = _entered.get() if _open else ()
    return blocks[-1] if blocks else ENVIRONMENT
