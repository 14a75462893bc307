"""Operators of PyTorch that torch.onnx lacks or translates wrongly, as operators that it has."""

from __future__ import annotations

from typing import Any

import torch

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array

_aten: Any = torch.ops.aten
UNROLLED = 64
"""The longest cumulative product."""


def _argsort(x: Array, *, stable: bool = True, dim: int = -1, descending: bool = False) -> Array:
    """ONNX sorts equal elements by their index."""
    return _aten.sort.default(x, dim, descending)[1]


def _copysign(x: Array, y: Array) -> Array:
    size = torch.abs(x)
    return torch.where(_signbit(y), -size, size)


def _hypot(x: Array, y: Array) -> Array:
    """Without overflow of the squares."""
    x, y = torch.abs(x), torch.abs(y)
    larger, smaller = torch.maximum(x, y), torch.minimum(x, y)
    ratio = torch.where(larger == 0, 0.0, smaller / larger)
    return torch.where(torch.isinf(x) | torch.isinf(y), torch.inf, larger * torch.sqrt(1 + ratio * ratio))


def _cumprod(x: Array, dim: int, *, dtype: Any = None) -> Array:
    """One product after the other, as ONNX has no operator: for few elements."""
    if dtype is not None or not x.is_floating_point():
        x = x.to(dtype or torch.int64)
    length = x.shape[dim] if x.ndim else 1
    if length > UNROLLED:
        raise Unsupported(f"torch.onnx has no translation of cumulative products of more than {UNROLLED} elements")
    if length < 2:
        return x.clone()
    found = [x.narrow(dim, 0, 1)]
    for i in range(1, length):
        found.append(found[-1] * x.narrow(dim, i, 1))
    return torch.cat(found, dim)


def _diagonal_scatter(x: Array, values: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """For matrices, as `eye` needs it."""
    if not values.shape[0]:
        return x.clone()
    rows = torch.arange(x.shape[0], device=x.device)
    columns = torch.arange(x.shape[1], device=x.device)
    places = torch.clamp(rows + min(offset, 0), 0, max(values.shape[0] - 1, 0))
    return torch.where(rows[:, None] + offset == columns, values[places][:, None], x)


def _signbit(x: Array) -> Array:
    """ONNX has no sign of zeros. The sign of NaN is lost."""
    return (x < 0) | (1 / x < 0) if x.is_floating_point() else x < 0


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
    _aten.signbit.default: _signbit,
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
            if not axes:  # one element
                node.target, node.args, node.kwargs = _aten.clone.default, node.args[:1], {}
                continue
            node.args = (node.args[0], axes, *node.args[2:])
            node.kwargs = {name: value for name, value in node.kwargs.items() if name != "dim"}
    program.graph_module.recompile()
    return program
