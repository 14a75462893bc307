"""NumPy's module fft for the arrays of every library."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Protocol

import xarrayops as xo
from xarrayops.numpy import _operands as ops

Axes = Sequence[int] | None
_NEEDS_AXES = (
    "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0). "
    "Instead: axes=tuple(range(-len(s), 0)), the last axes"
)


def _norm(norm: str | None) -> Any:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return norm or "backward"


class _Along(Protocol):
    """The parameters of transforms along one axis."""

    def __call__(
        self, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
    ) -> Any: ...


def _along(name: str, text: str) -> _Along:
    """A transform along one axis."""

    def function(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
        x = ops.floating(ops.array(a))
        n = ops.axis_or_axes(n)
        if n is not None and n < 1:
            raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
        found = getattr(xo.fft, name)(x, n=n, axis=ops.axis_or_axes(axis), norm=_norm(norm))
        return ops.written(f"fft.{name}", found, out)

    return ops.entitled(function, name, f"{text}, by `xarrayops.fft.{name}`.")


class _Over(Protocol):
    """The parameters of transforms over several axes."""

    def __call__(
        self, a: Any, s: Sequence[int] | None = None, axes: Axes = ..., norm: str | None = None, out: Any = None
    ) -> Any: ...


def _over(name: str, text: str, default: Axes = None) -> _Over:
    """A transform over several axes."""
    ours = name.replace("2", "n")

    def function(
        a: Any, s: Sequence[int] | None = None, axes: Axes = default, norm: str | None = None, out: Any = None
    ) -> Any:
        x = ops.floating(ops.array(a))
        s, axes = map(ops.axis_or_axes, (s, axes))
        if s is not None:
            if axes is None:
                warnings.warn(_NEEDS_AXES, DeprecationWarning, stacklevel=2)
            axes = tuple(range(x.ndim - len(s), x.ndim)) if axes is None else axes
            if len(s) != len(axes):
                raise ValueError("Shape and axes have different lengths.")
            s = tuple(x.shape[axis] if extent == -1 else extent for extent, axis in zip(s, axes, strict=True))
        return ops.written(f"fft.{name}", getattr(xo.fft, ours)(x, s=s, axes=axes, norm=_norm(norm)), out)

    return ops.entitled(function, name, f"{text}, by `xarrayops.fft.{ours}`.")


fft = _along("fft", "The discrete Fourier transform")
ifft = _along("ifft", "The inverse of the discrete Fourier transform")
rfft = _along("rfft", "The transform of real numbers")
irfft = _along("irfft", "The inverse of `rfft`")
hfft = _along("hfft", "The transform of a signal with Hermitian symmetry")
ihfft = _along("ihfft", "The inverse of `hfft`")
fftn = _over("fftn", "The transform over several axes")
ifftn = _over("ifftn", "The inverse of `fftn`")
rfftn = _over("rfftn", "The transform of real numbers over several axes")
irfftn = _over("irfftn", "The inverse of `rfftn`")
fft2 = _over("fft2", "The transform over two axes", (-2, -1))
ifft2 = _over("ifft2", "The inverse of `fft2`", (-2, -1))
rfft2 = _over("rfft2", "The transform of real numbers over two axes", (-2, -1))
irfft2 = _over("irfft2", "The inverse of `rfft2`", (-2, -1))


def fftfreq(n: int, d: float = 1.0, device: Any = None, *, like: Any = None) -> Any:
    """The frequencies of `fft`, by `xarrayops.fft.fftfreq`."""
    return _frequencies("fftfreq", n, d, device, like)


def rfftfreq(n: int, d: float = 1.0, device: Any = None, *, like: Any = None) -> Any:
    """The frequencies of `rfft`, by `xarrayops.fft.rfftfreq`."""
    return _frequencies("rfftfreq", n, d, device, like)


def _frequencies(name: str, n: Any, d: Any, device: Any, like: Any) -> Any:
    options = {"dtype": ops.name_of_default(float), "device": device, "like": ops.reference(like)}
    return getattr(xo.fft, name)(_count(n), d=ops.plain_number(d), **options)


def _count(n: Any) -> int:
    if not hasattr(n, "__index__"):
        raise ValueError("n should be an integer")
    return n.__index__()


def fftshift(x: Any, axes: Any = None) -> Any:
    """The frequencies with 0 in the middle, by `xarrayops.fft.fftshift`."""
    return xo.fft.fftshift(ops.array(x), axes=ops.axis_or_axes(axes))


def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of `fftshift`, by `xarrayops.fft.ifftshift`."""
    return xo.fft.ifftshift(ops.array(x), axes=ops.axis_or_axes(axes))


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    from xarrayops._core.numpy_names import missing

    raise missing(__name__, name)


__all__ = ops.public(globals())
