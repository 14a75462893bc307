"""NumPy's module fft for the arrays of every library."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import xarrayops as xo
from xarrayops.numpy import _axes, _operands as ops, _promotion, _results

Axes = Sequence[int] | None
_NEEDS_AXES = (
    "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0). "
    "Instead: axes=tuple(range(-len(s), 0)), the last axes"
)


def _norm(norm: str | None) -> Any:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return norm or "backward"


def _require_points(name: str, x: Any, axes: Sequence[int], s: Sequence[int] | None) -> None:
    """Raise for a transform of no elements along an axis."""
    extents = [x.shape[axis] for axis in axes] if s is None else list(s)
    if s is None and extents and name.startswith(("irfft", "hfft")):
        extents[-1] = 2 * (extents[-1] - 1)
    for extent in extents:
        if extent < 1:
            raise ValueError(f"Invalid number of FFT data points ({extent}) specified.")


def _transformed(x: Any, axes: Sequence[int], transform: Callable[[Any], Any]) -> Any:
    """The transform; half precision takes its steps in single precision, and no vectors give none."""
    if x.dtype == xo.float16:
        found = _transformed(xo.astype(x, "float32"), axes, transform)
        return found if _promotion.is_complex(found) or len(axes) > 1 else xo.astype(found, "float16")
    if _axes.size_of(x):
        return transform(x)
    some = xo.zeros(tuple(n or 1 for n in x.shape), dtype=x.dtype, like=x)  # torch's transforms raise for no vectors
    return transform(some)[tuple(slice(0, None if n or i in axes else 0) for i, n in enumerate(x.shape))]


class _Along(Protocol):
    """The parameters of transforms along one axis."""

    def __call__(
        self, a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None
    ) -> Any: ...


def _along(name: str, text: str) -> _Along:
    """A transform along one axis."""

    def function(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
        x, norm, n = _promotion.floating(ops.array(a)), _norm(norm), _axes.axis_or_axes(n)
        place = _axes.one_axis(axis, x.ndim)
        _require_points(name, x, (place,), None if n is None else (n,))
        found = _transformed(x, (place,), lambda y: getattr(xo.fft, name)(y, n=n, axis=place, norm=norm))
        return _results.written(f"fft.{name}", found, out)

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
        x = _promotion.floating(ops.array(a))
        s, axes = map(_axes.axis_or_axes, (s, axes))
        if s is not None:
            if axes is None:
                warnings.warn(_NEEDS_AXES, DeprecationWarning, stacklevel=2)
            axes = tuple(range(-len(s), 0)) if axes is None else axes
            axes = tuple(_axes.one_axis(axis, x.ndim) for axis in axes)
            if len(s) != len(axes):
                raise ValueError("Shape and axes have different lengths.")
            s = tuple(x.shape[axis] if extent == -1 else extent for extent, axis in zip(s, axes, strict=True))
        places = _axes.axes_of(x, axes if axes is None else tuple(axes))
        _require_points(name, x, places, s)
        found = _transformed(x, places, lambda y: getattr(xo.fft, ours)(y, s=s, axes=axes, norm=_norm(norm)))
        return _results.written(f"fft.{name}", found, out)

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
    return getattr(xo.fft, name)(_count(n), d=_axes.plain_number(d), **options)


def _count(n: Any) -> int:
    if not hasattr(n, "__index__") or n.__index__() < 1:
        raise ValueError("n should be a positive integer")
    return n.__index__()


def fftshift(x: Any, axes: Any = None) -> Any:
    """The frequencies with 0 in the middle, by `xarrayops.fft.fftshift`."""
    return xo.fft.fftshift(ops.array(x), axes=_axes.axis_or_axes(axes))


def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of `fftshift`, by `xarrayops.fft.ifftshift`."""
    return xo.fft.ifftshift(ops.array(x), axes=_axes.axis_or_axes(axes))


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    from xarrayops._core.numpy_names import missing

    raise missing(__name__, name)


__all__ = ops.public(globals())
