"""cupy.fft, implemented by numpy.fft."""

import numpy as np

from cupy import _signatures
from cupy._functions import forward as _forward

_ONE = ("fft", "fftfreq", "fftshift", "hfft", "ifft", "ifftshift", "ihfft", "irfft", "rfft", "rfftfreq")
_MANY = ("fftn", "ifftn", "irfftn", "rfftn")


def _many(name):
    transform = _forward(getattr(np.fft, name), name)

    def transformed(a, s=None, axes=None, norm=None):
        # https://github.com/cupy/cupy/issues/8248: a tuple that equals the shape changes no extent, whatever the axes
        if s == a.shape and axes is not None:
            s = tuple(a.shape[axis] for axis in axes)
        return transform(a, s=s, axes=axes, norm=norm)

    return transformed


globals().update({name: _forward(getattr(np.fft, name), name) for name in _ONE})
globals().update({name: _many(name) for name in _MANY})
_signatures.enforce(__name__, globals())
