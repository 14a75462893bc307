"""The backend of samplearray: what the array API standard does not define. See `xarrayops.plugin`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import samplearray

from xarrayops.plugin import Array, Call, Device, takes_arrays, unsupported

# Required: the namespace of the standard's functions, and the classes of arrays.
NAMESPACE = samplearray
ARRAY_TYPES = (samplearray.Array,)


# Hooks: functions that the standard does not define. xarrayops has a generic function for each hook left out.
def versions() -> dict[str, str]:
    """The library's version, for bug reports and benchmark tables."""
    return {"samplearray": samplearray.__version__}


def devices() -> list[Device]:
    """The library has one device, which it represents by a string."""
    return [Device(kind="cpu", name="cpu", native="cpu", label="host memory")]


# A replacement: a function of the standard, under its own name, that is wrong or slow in the library.
def square(x: Array, /) -> Array:
    """A product is faster than the library's square."""
    return x * x


# A gap: the error message, the support matrix and the tests use this text.
fft_hfft = unsupported("samplearray has no hfft", instead="xo.fft.irfft(xo.conj(x)) multiplied by its length")


# Candidates: kernels with a refusal function each. The first kernel whose function returns None serves the call.
def _multiply_vectors(x1: Array, x2: Array, /) -> Array:
    return samplearray.sum(x1 * x2)


def _vectors_refusal(call: Call, /) -> str | None:
    x1, x2 = call.args
    return None if x1.ndim == x2.ndim == 1 and x1.shape == x2.shape else "it takes two vectors of one length"


MATMUL_CANDIDATES = [
    ("vectors", _multiply_vectors, _vectors_refusal),
    ("matmul", samplearray.matmul, lambda call: None),
]


# wrap: called once for every function of the standard when the backend loads; returns the function to use.
def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """Add the function's name to its errors, because the library's messages do not contain it."""
    if not takes_arrays(verb):
        return function

    @wraps(function)
    def named(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            error.add_note(f"raised by samplearray's {verb}")
            raise

    return named
