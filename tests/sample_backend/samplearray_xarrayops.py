"""The backend of samplearray: what xarrayops cannot learn from the array API standard. See `xarrayops.plugin`."""

from __future__ import annotations

import samplearray

from xarrayops.plugin import Array, Call, Device, unsupported

# Required: where the standard's functions come from, and what an array of the library is.
NAMESPACE = samplearray
ARRAY_TYPES = (samplearray.Array,)


# Hooks: where the standard does not tell. What is left out comes from xarrayops' generic road.
def versions() -> dict[str, str]:
    """The library's version, for bug reports and benchmark tables."""
    return {"samplearray": samplearray.__version__}


def devices() -> list[Device]:
    """The library has one device, which it calls by a plain string."""
    return [Device(kind="cpu", name="cpu", native="cpu", label="host memory")]


# An override: a function of the standard, under its own name, that the library does another way or not well.
def square(x: Array, /) -> Array:
    """A product is faster than the library's square."""
    return x * x


# A gap: the error, the support matrix and the tests all read this.
fft_hfft = unsupported("samplearray has no hfft", instead="xo.fft.irfft(xo.conj(x)), times its length")


# Candidates: several kernels for one function; the first whose test gives no reason against serves the call.
def _multiply_vectors(x1: Array, x2: Array, /) -> Array:
    return samplearray.sum(x1 * x2)


def _can_multiply_vectors(call: Call, /) -> str | None:
    x1, x2 = call.args
    return None if x1.ndim == x2.ndim == 1 and x1.shape == x2.shape else "it takes two vectors of one length"


MATMUL_CANDIDATES = [
    ("vectors", _multiply_vectors, _can_multiply_vectors),
    ("matmul", samplearray.matmul, lambda call: None),
]
