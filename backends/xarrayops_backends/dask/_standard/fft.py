"""Fourier transforms. Dask requires that every transformed axis is one chunk, so the axes are rechunked first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops.plugin import Array
from xarrayops_backends.dask._blocks import compat

_Transform = Callable[..., Array]


def _one_axis(name: str) -> _Transform:
    transform = getattr(compat.fft, name)

    def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
        return transform(x.rechunk({axis: -1}), n=n, axis=axis, norm=norm)

    return fft


def _many_axes(name: str) -> _Transform:
    transform = getattr(compat.fft, name)

    def fftn(x: Array, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Array:
        if axes is None:
            axes = range(x.ndim) if s is None else range(-len(s), 0)
        axes = tuple(axes)
        return transform(x.rechunk(dict.fromkeys(axes, -1)), s=s, axes=axes, norm=norm)

    return fftn


fft_fft, fft_ifft, fft_rfft, fft_irfft, fft_hfft, fft_ihfft = map(
    _one_axis, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
)
fft_fftn, fft_ifftn, fft_rfftn, fft_irfftn = map(_many_axes, ("fftn", "ifftn", "rfftn", "irfftn"))
