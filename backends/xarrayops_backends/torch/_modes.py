"""The ways in which PyTorch runs a function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from xarrayops.plugin import Array, RunMode


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under torch.compile without code generation, which takes a minute where a C++ compiler is used."""
    torch.compiler.reset()
    compiled: Callable[..., Any] = torch.compile(function, backend="aot_eager")
    return compiled


def _on_meta(x: Array) -> Array:
    return x.to("meta")


def run_modes() -> tuple[RunMode, ...]:
    """Eagerly, on the meta device, and under torch.compile."""
    meta = partial(torch.device, "meta")
    return (
        RunMode(),
        RunMode("meta", place=_on_meta, context=meta, traces=True, has_values=False),
        RunMode("compile", compiled=_compiled, traces=True),
    )
