"""The library and device of arrays that are made from nothing."""

from __future__ import annotations

import os
from typing import Any

from xarrayops._core.scoped import ContextStack

Default = tuple[str, Any]
ENVIRONMENT: Default = (os.environ.get("XARRAYOPS_BACKEND") or "numpy", None)
_blocks: ContextStack[Default] = ContextStack("xarrayops.use")


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
        _blocks.enter(self._default)

    def __exit__(self, *exception: object) -> None:
        _blocks.leave()


def current() -> Default:
    """The default library and device."""
    return _blocks.innermost(ENVIRONMENT)
