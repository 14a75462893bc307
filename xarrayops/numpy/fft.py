"""NumPy's module fft for the arrays of every library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import xarrayops as xo
from xarrayops.numpy._operands import array, floating, written
from xarrayops.numpy._promotion import name_of_default

Axes = Sequence[int] | None


def _along(name: str, a: Any, n: int | None, axis: int, norm: str | None, out: Any) -> Any:
    """A transform along one axis."""
    x = floating(array(a))
    if n is not None and n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return written(f"fft.{name}", getattr(xo.fft, name)(x, n=n, axis=axis, norm=_norm(norm)), out)


def _over(name: str, a: Any, s: Sequence[int] | None, axes: Axes, norm: str | None, out: Any) -> Any:
    """A transform over several axes."""
    x = floating(array(a))
    if s is not None and axes is None:
        axes = tuple(range(x.ndim - len(s), x.ndim))
    if s is not None and axes is not None:
        if len(s) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
        s = tuple(x.shape[axis] if extent == -1 else extent for extent, axis in zip(s, axes, strict=True))
    return written(f"fft.{name}", getattr(xo.fft, name)(x, s=s, axes=axes, norm=_norm(norm)), out)


def _norm(norm: str | None) -> Any:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return norm or "backward"


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The discrete Fourier transform, by `xarrayops.fft.fft`."""
    return _along("fft", a, n, axis, norm, out)


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of the discrete Fourier transform, by `xarrayops.fft.ifft`."""
    return _along("ifft", a, n, axis, norm, out)


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The transform of real numbers, by `xarrayops.fft.rfft`."""
    return _along("rfft", a, n, axis, norm, out)


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of `rfft`, by `xarrayops.fft.irfft`."""
    return _along("irfft", a, n, axis, norm, out)


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The transform of a signal with Hermitian symmetry, by `xarrayops.fft.hfft`."""
    return _along("hfft", a, n, axis, norm, out)


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of `hfft`, by `xarrayops.fft.ihfft`."""
    return _along("ihfft", a, n, axis, norm, out)


def fftn(a: Any, s: Sequence[int] | None = None, axes: Axes = None, norm: str | None = None, out: Any = None) -> Any:
    """The transform over several axes, by `xarrayops.fft.fftn`."""
    return _over("fftn", a, s, axes, norm, out)


def ifftn(a: Any, s: Sequence[int] | None = None, axes: Axes = None, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of `fftn`, by `xarrayops.fft.ifftn`."""
    return _over("ifftn", a, s, axes, norm, out)


def rfftn(a: Any, s: Sequence[int] | None = None, axes: Axes = None, norm: str | None = None, out: Any = None) -> Any:
    """The transform of real numbers over several axes, by `xarrayops.fft.rfftn`."""
    return _over("rfftn", a, s, axes, norm, out)


def irfftn(a: Any, s: Sequence[int] | None = None, axes: Axes = None, norm: str | None = None, out: Any = None) -> Any:
    """The inverse of `rfftn`, by `xarrayops.fft.irfftn`."""
    return _over("irfftn", a, s, axes, norm, out)


def fft2(
    a: Any, s: Sequence[int] | None = None, axes: Axes = (-2, -1), norm: str | None = None, out: Any = None
) -> Any:
    """The transform over two axes, by `xarrayops.fft.fftn`."""
    return _over("fftn", a, s, axes, norm, out)


def ifft2(
    a: Any, s: Sequence[int] | None = None, axes: Axes = (-2, -1), norm: str | None = None, out: Any = None
) -> Any:
    """The inverse of `fft2`, by `xarrayops.fft.ifftn`."""
    return _over("ifftn", a, s, axes, norm, out)


def rfft2(
    a: Any, s: Sequence[int] | None = None, axes: Axes = (-2, -1), norm: str | None = None, out: Any = None
) -> Any:
    """The transform of real numbers over two axes, by `xarrayops.fft.rfftn`."""
    return _over("rfftn", a, s, axes, norm, out)


def irfft2(
    a: Any, s: Sequence[int] | None = None, axes: Axes = (-2, -1), norm: str | None = None, out: Any = None
) -> Any:
    """The inverse of `rfft2`, by `xarrayops.fft.irfftn`."""
    return _over("irfftn", a, s, axes, norm, out)


def fftfreq(n: int, d: float = 1.0, device: Any = None) -> Any:
    """The frequencies of `fft`, by `xarrayops.fft.fftfreq`."""
    return xo.fft.fftfreq(_count(n), d=d, dtype=name_of_default(float), device=device)


def rfftfreq(n: int, d: float = 1.0, device: Any = None) -> Any:
    """The frequencies of `rfft`, by `xarrayops.fft.rfftfreq`."""
    return xo.fft.rfftfreq(_count(n), d=d, dtype=name_of_default(float), device=device)


def _count(n: Any) -> int:
    if not hasattr(n, "__index__"):
        raise ValueError("n should be an integer")
    return n.__index__()


def fftshift(x: Any, axes: Any = None) -> Any:
    """The frequencies with 0 in the middle, by `xarrayops.fft.fftshift`."""
    return xo.fft.fftshift(array(x), axes=axes)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of `fftshift`, by `xarrayops.fft.ifftshift`."""
    return xo.fft.ifftshift(array(x), axes=axes)


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    from xarrayops._core.numpy_names import missing

    raise missing(__name__, name)


__all__ = [
    *("fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft"),
    *("irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"),
]
