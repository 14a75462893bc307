"""The backend of samplearray: what xarrayops cannot learn from the array API standard. See `xarrayops.plugin`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import samplearray

from xarrayops.plugin import Array, Call, Device, takes_arrays, unsupported

# Required: the namespace of the standard's functions, and the classes of arrays.
NAMESPACE = samplearray
ARRAY_TYPES = (samplearray.Array,)


# Hooks: what the standard does not define. The generic functions of xarrayops serve those that are left out.
def versions() -> dict[str, str]:
    """The library's version, for bug reports and benchmark tables."""
    return {"samplearray": samplearray.__version__}


def devices() -> list[Device]:
    """The library has one device, which it calls by a plain string."""
    return [Device(kind="cpu", name="cpu", native="cpu", label="host memory")]


# A corrected function: one of the standard, under its own name, that the library does not do well.
def square(x: Array, /) -> Array:
    """A product is faster than the library's square."""
    return x * x


# A gap: the error, the support matrix and the tests all read this.
fft_hfft = unsupported("samplearray has no hfft", instead="xo.fft.irfft(xo.conj(x)), times its length")


# Candidates with a capability test: the first kernel whose test gives no reason against the call serves it.
def _multiply_vectors(x1: Array, x2: Array, /) -> Array:
    return samplearray.sum(x1 * x2)


def _vectors_refusal(call: Call, /) -> str | None:
    x1, x2 = call.args
    return None if x1.ndim == x2.ndim == 1 and x1.shape == x2.shape else "it takes two vectors of one length"


MATMUL_CANDIDATES = [
    ("vectors", _multiply_vectors, _vectors_refusal),
    ("matmul", samplearray.matmul, lambda call: None),
]


# wrap: one function for all functions of the standard, which are given to it once, when the backend loads.
def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """Errors name the function that raised them; the library's messages do not."""
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
