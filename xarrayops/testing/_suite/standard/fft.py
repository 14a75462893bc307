"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.testing._suite.samples import COMPLEX, FLOATS, INEXACT, sample
from xarrayops.testing._suite.table import Row, call, created, row

Oracle = Callable[..., Any]


def transform(verb: str, oracle: Oracle, dtypes: tuple[str, ...], dtype: str = "complex") -> Row:
    """A row for a transform along one axis: padded, cropped, and with each norm."""
    x = sample(dtypes[0], (3, 8))
    calls = [call(x), call(x, axis=0), call(x, n=5), call(x, n=11, norm="ortho"), call(x, norm="forward", axis=-2)]
    return row(verb, oracle, *calls, *(call(sample(d, (6,))) for d in dtypes), dtype=dtype, normwise=True, ulps=64)


def transform_n(verb: str, oracle: Oracle, dtypes: tuple[str, ...], dtype: str = "complex") -> Row:
    """A row for a transform along several axes."""
    x = sample(dtypes[0], (2, 3, 4))
    calls = [call(x), call(x, axes=(0, 2)), call(x, s=(4, 2), axes=(1, 2)), call(x, norm="ortho")]
    return row(verb, oracle, *calls, *(call(sample(d, (3, 4))) for d in dtypes), dtype=dtype, normwise=True, ulps=64)


def frequencies(verb: str, oracle: Oracle) -> Row:
    """A row for sample frequencies: with the default dtype, with ``dtype=`` and with ``like=``."""

    def expected(n: int, *, d: float = 1.0, dtype: Any = None, **where: Any) -> Any:
        return oracle(n, d=d)

    calls = [call(8), call(5, d=0.25), call(4, dtype="float64"), call(3, dtype="float32"), call(6, like=sample("int8"))]
    return created(verb, expected, *calls)


def shift(verb: str, oracle: Oracle) -> Row:
    """A row for ``fftshift`` or its inverse."""
    x = sample("float32", (3, 4))
    return row(verb, oracle, call(x), call(x, axes=0), call(x, axes=(1,)), *(call(sample(d, (5,))) for d in INEXACT))


ROWS = [
    transform("fft.fft", np.fft.fft, COMPLEX),
    transform("fft.ifft", np.fft.ifft, COMPLEX),
    transform("fft.rfft", np.fft.rfft, FLOATS),
    transform("fft.irfft", np.fft.irfft, COMPLEX, "real"),
    transform("fft.hfft", np.fft.hfft, COMPLEX, "real"),
    transform("fft.ihfft", np.fft.ihfft, FLOATS),
    transform_n("fft.fftn", np.fft.fftn, COMPLEX),
    transform_n("fft.ifftn", np.fft.ifftn, COMPLEX),
    transform_n("fft.rfftn", np.fft.rfftn, FLOATS),
    transform_n("fft.irfftn", np.fft.irfftn, COMPLEX, "real"),
    frequencies("fft.fftfreq", np.fft.fftfreq),
    frequencies("fft.rfftfreq", np.fft.rfftfreq),
    shift("fft.fftshift", np.fft.fftshift),
    shift("fft.ifftshift", np.fft.ifftshift),
]
