"""The default library and device of creation functions."""

from __future__ import annotations

import os
from typing import Any

from xarrayops._core.scoped import ContextStack

Default = tuple[str, Any]
ENVIRONMENT: Default = (os.environ.get("XARRAYOPS_BACKEND") or "numpy", None)
_blocks: ContextStack[Default] = ContextStack("xarrayops.use")


class use:  # noqa: N801 - reads as a statement: with xo.use("torch")
    """Set the default library and device of creation functions inside a ``with`` block.

    Outside a block the environment variable ``XARRAYOPS_BACKEND`` names the library; if it is not set, NumPy is the
    default. A block affects its own thread or task only. It does not affect functions that torch.compile traced with
    ``fullgraph=True``: pass ``backend=`` or ``like=`` there.

    Parameters
    ----------
    backend : str
        The backend's name, such as ``"torch"``.
    device : optional
        A device name such as ``"cuda:0"``, or a native device. Default: the library's default device.

    Raises
    ------
    BackendNotFound
        No backend has the name. Raised when an array is created.

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
        _blocks.enter(self._default)

    def __exit__(self, *exception: object) -> None:
        _blocks.leave()


def current() -> Default:
    """The default library and device."""
    return _blocks.innermost(ENVIRONMENT)
