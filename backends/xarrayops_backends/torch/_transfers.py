"""Transfers: a mode that sees the calls of PyTorch by name. torch.compile compiles under it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_torch: Any = torch  # untyped: PyTorch does not annotate these functions
_cuda: Any = torch.cuda
_mode: Any = TorchFunctionMode
_PULLS = frozenset(("item", "__bool__", "__int__", "__float__", "__complex__", "__index__", "__format__", "is_nonzero"))
"""The methods that read one number."""
_READS = frozenset(("numpy", "tolist", "__array__", "__repr__"))
"""The methods that read all values."""
_MOVES = frozenset(("to", "cpu", "cuda", "xpu", "copy_", "type"))
"""The methods that may take an array to another device."""
_BY_VALUES = frozenset(
    ("nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "equal", "allclose", "bincount", "histc")
)
"""The functions whose result or its shape depends on values, so that they wait for an accelerator."""
_INDEXING = frozenset(("__getitem__", "__setitem__"))
_TOLD = _PULLS | _READS | _MOVES | _BY_VALUES | _INDEXING
_MASKS = (torch.bool, torch.uint8)


_WAITED = "called a synchronizing CUDA operation"
"""The warning of PyTorch's debug mode for a call that waits for a CUDA device."""


class _Crossings(TorchFunctionMode):
    """Reports the transfers and synchronisations of the calls in one thread.

    If CUDA is in use when it begins, PyTorch's debug mode reports which other calls wait for the device.
    """

    def __init__(self, report: Callable[..., None]) -> None:
        super().__init__()
        self._report = report
        self._debug_mode: int | None = None
        """The debug mode before this one; None if CUDA is not in use."""

    def __enter__(self) -> Any:
        if _cuda.is_initialized():
            self._debug_mode = torch.cuda.get_sync_debug_mode()
            _set_debug_mode("warn")
        return _mode.__enter__(self)

    def __exit__(self, *error: Any) -> None:
        _mode.__exit__(self, *error)
        if self._debug_mode is not None:
            _set_debug_mode(self._debug_mode)

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self._debug_mode is not None:
            return _watched(self._report, function, args, kwargs or {})
        return _called(self._report, function, args, kwargs or {})


def _set_debug_mode(mode: int | str) -> None:
    """PyTorch warns that the debug mode is a prototype, which may be an error in the program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.cuda.set_sync_debug_mode(mode)


def _watched(report: Callable[..., None], function: Any, args: Any, kwargs: Any) -> Any:
    """Make the call, and report it as a wait if the debug mode warns and nothing else was reported."""
    reported: list[str] = []

    def noted(kind: str, what: str, nbytes: int) -> None:
        reported.append(kind)
        report(kind, what, nbytes)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = _called(noted, function, args, kwargs)
    others = [each for each in caught if _WAITED not in str(each.message)]
    if len(others) < len(caught) and not reported:
        report("wait", f"torch.{getattr(function, '__name__', 'operation')} on CUDA", 0)
    for each in others:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return result


def _called(report: Callable[..., None], function: Any, args: Any, kwargs: Any) -> Any:
    """Make the call, and report it if its name and arguments say that it transfers or waits.

    No mode is active in the call of a method.
    """
    name = getattr(function, "__name__", "")
    if name not in _TOLD or not args or not isinstance(args[0], torch.Tensor):
        return function(*args, **kwargs)
    x, what = args[0], f"torch.Tensor.{name}"
    if name in _PULLS:
        report("wait", what, x.itemsize)
    elif name in _READS:
        report("transfer", what, x.nbytes)
    elif name in _BY_VALUES or (name in _INDEXING and _has_mask(args[1]) and not _fills(args)):
        report("wait", what, 0)
    result = function(*args, **kwargs)
    if name in _MOVES:
        source = args[1] if name == "copy_" else x
        if source.device != result.device and torch.device("meta") not in (source.device, result.device):
            report("transfer", f"{what}({result.device})", source.nbytes)
    return result


def _has_mask(index: Any) -> bool:
    """Whether an index selects by a mask."""
    entries = index if isinstance(index, tuple) else (index,)
    return any(isinstance(entry, torch.Tensor) and entry.dtype in _MASKS for entry in entries)


def _fills(args: Any) -> bool:
    """Whether an assignment writes one number under a mask, for which no positions are needed."""
    return len(args) == 3 and (not isinstance(args[2], torch.Tensor) or args[2].ndim == 0)


def crossings(report: Callable[..., None], /) -> AbstractContextManager[Any]:
    """A mode of PyTorch in this thread."""
    return _Crossings(report)


def require(condition: Any, error: Exception, /) -> None:
    """On CUDA by an assertion of the device, as PyTorch's own gathers do for indices that are out of bounds."""
    if condition.is_cuda and not torch.compiler.is_compiling():
        _torch._assert_async(condition, str(error))
    elif not condition:
        raise error
