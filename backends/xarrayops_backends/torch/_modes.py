"""The ways in which PyTorch runs a function, its compilations, and whether `xarrayops.export` traces a function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from threading import local
from typing import Any

import torch

from xarrayops.plugin import Array, RunMode, constant_while_tracing


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under torch.compile without code generation, which would take a minute with a C++ compiler."""
    torch.compiler.reset()
    compiled: Callable[..., Any] = torch.compile(function, backend="aot_eager")
    return compiled


def _on_meta(x: Array) -> Array:
    return x.to("meta")


def compilations() -> int:
    """The graphs that Dynamo handed to a backend of `torch.compile`."""
    utils = sys.modules.get("torch._dynamo.utils")  # only a compilation imports it
    return 0 if utils is None else int(utils.counters["stats"]["unique_graphs"])


def run_modes() -> tuple[RunMode, ...]:
    """Eagerly, on the meta device, and under torch.compile."""
    meta = partial(torch.device, "meta")
    return (
        RunMode(),
        RunMode("meta", place=_on_meta, context=meta, traces=True, has_values=False),
        RunMode("compile", compiled=_compiled, traces=True),
    )


class _Thread(local):
    is_exporting = False


exporting_thread = _Thread()


@constant_while_tracing
def _is_exporting() -> bool:
    """Whether `xarrayops.export` traces a function in this thread; a constant for Dynamo.

    Then attention uses PyTorch's public function, and operations of users run their references: other kernels may not
    exist where the file is loaded. In a user's own `torch.export` they are operators, as under torch.compile.
    """
    return exporting_thread.is_exporting
