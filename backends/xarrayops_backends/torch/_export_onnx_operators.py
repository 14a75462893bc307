"""Operators of PyTorch that torch.onnx lacks or translates wrongly, as operators that it has."""

from __future__ import annotations

from typing import Any

import torch

from xarrayops.plugin import Array

_torch: Any = torch  # untyped: PyTorch does not annotate these functions
_aten: Any = torch.ops.aten


def _argsort(x: Array, *, stable: bool = True, dim: int = -1, descending: bool = False) -> Array:
    """ONNX sorts equal elements by their index."""
    found: Array = _aten.sort.default(x, dim, descending)[1]
    return found


def _copysign(x: Array, y: Array) -> Array:
    size = torch.abs(x)
    return torch.where(torch.signbit(y), -size, size)


def _hypot(x: Array, y: Array) -> Array:
    """Without overflow of the squares."""
    x, y = torch.abs(x), torch.abs(y)
    larger, smaller = torch.maximum(x, y), torch.minimum(x, y)
    ratio = torch.where(larger == 0, 0.0, smaller / larger)
    return torch.where(torch.isinf(x) | torch.isinf(y), torch.inf, larger * torch.sqrt(1 + ratio * ratio))


def _cumprod(x: Array, dim: int, *, dtype: Any = None) -> Array:
    """Products of 2, 4, 8 … elements."""
    found, length = x if dtype is None else x.to(dtype), x.shape[dim]
    step = 1
    while step < length:
        ones = torch.ones_like(found.narrow(dim, 0, step))
        found = found * torch.cat([ones, found.narrow(dim, 0, length - step)], dim)
        step *= 2
    return found


def _diagonal_scatter(x: Array, values: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """For matrices, as `eye` needs it."""
    rows = torch.arange(x.shape[0], device=x.device)
    columns = torch.arange(x.shape[1], device=x.device)
    places = torch.clamp(rows + min(offset, 0), 0, max(values.shape[0] - 1, 0))
    return torch.where(rows[:, None] + offset == columns, values[places][:, None], x)


def _fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, **options: Any) -> Array:
    indices = torch.arange(n, device=device)
    return torch.where(indices < (n + 1) // 2, indices, indices - n).to(dtype or torch.get_default_dtype()) / (n * d)


def _rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, **options: Any) -> Array:
    return torch.arange(n // 2 + 1, device=device).to(dtype or torch.get_default_dtype()) / (n * d)


REPLACEMENTS = {
    _aten.argsort.stable: _argsort,
    _aten.copysign.Tensor: _copysign,
    _aten.cumprod.default: _cumprod,
    _aten.diagonal_scatter.default: _diagonal_scatter,
    _aten.fft_fftfreq.default: _fftfreq,
    _aten.fft_rfftfreq.default: _rfftfreq,
    _aten.hypot.default: _hypot,
}
REDUCTIONS = (_aten.amax.default, _aten.amin.default, _aten.mean.dim)
"""Their translations need a list of axes."""


def replaced(traced: Any) -> Any:
    """A program of torch.export with these operators replaced; all others are kept."""
    program = traced.run_decompositions(REPLACEMENTS)
    for node in program.graph.nodes:
        if node.target is _aten.sort.stable:
            node.target = _aten.sort.default
            node.kwargs = {name: value for name, value in node.kwargs.items() if name != "stable"}
        elif node.target in REDUCTIONS and not (node.args[1:2] or (node.kwargs.get("dim"),))[0]:
            axes = list(range(node.args[0].meta["val"].ndim))
            node.args = (node.args[0], axes, *node.args[2:])
            node.kwargs = {name: value for name, value in node.kwargs.items() if name != "dim"}
    program.graph_module.recompile()
    return program
