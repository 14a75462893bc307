"""CuPy on CUDA and ROCm devices: array_api_compat.cupy, and what that leaves open of the standard.

The hooks are in this file and in ``_devices``, the functions of the standard in ``_standard``.
"""

from __future__ import annotations

from typing import Any

import array_api_compat.cupy
import cupy
import numpy as np

from xarrayops.plugin import Array, KnownBad
from xarrayops_backends.cupy._devices import as_device, device, devices, synchronize, to_device, versions
from xarrayops_backends.cupy._standard import (
    arange,
    asarray,
    astype,
    clip,
    empty,
    empty_like,
    eye,
    fft_fftfreq,
    fft_fftn,
    fft_ifftn,
    fft_irfftn,
    fft_rfftfreq,
    fft_rfftn,
    finfo,
    from_dlpack,
    full,
    full_like,
    isin,
    linalg_eig,
    linalg_solve,
    linspace,
    ones,
    ones_like,
    remainder,
    repeat,
    reshape,
    zeros,
    zeros_like,
)
from xarrayops_backends.cupy._update import update

__all__ = [
    *("ARRAY_TYPES", "DISTRIBUTIONS", "KNOWN_BAD", "NAMESPACE"),
    *("as_device", "as_dtype", "compute", "device", "devices", "dtype_name", "einsum", "is_lazy", "synchronize"),
    *("to_device", "update", "versions"),
    *("arange", "asarray", "astype", "clip", "empty", "empty_like", "eye", "fft_fftfreq", "fft_fftn", "fft_ifftn"),
    *("fft_irfftn", "fft_rfftfreq", "fft_rfftn", "finfo", "from_dlpack", "full", "full_like", "isin", "linalg_eig"),
    *("linalg_solve", "linspace", "ones", "ones_like", "remainder", "repeat", "reshape", "zeros", "zeros_like"),
]

NAMESPACE = array_api_compat.cupy
ARRAY_TYPES = (cupy.ndarray,)
DISTRIBUTIONS = ("cupy-cuda12x", "cupy-cuda13x", "cupy-rocm-7-0", "cupy")
KNOWN_BAD = (
    KnownBad(
        "cupy",
        "<14",
        "any",
        "Python scalars promote by their value, not by NEP 50",
        "https://github.com/data-apis/array-api-compat/blob/main/cupy-xfails.txt",
    ),
    KnownBad("cupy", "<13.2", "any", "min and max are wrong for infinities", "https://github.com/cupy/cupy/issues/8180"),
)

_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)


def as_dtype(name: str, /) -> Any:
    """CuPy's dtypes are NumPy's, and ml_dtypes' bfloat16; it refuses arrays of the float8 types."""
    if name in _DTYPES:
        return np.dtype(name)
    if name != "bfloat16":
        raise ValueError(f"CuPy has {', '.join(_DTYPES)}, bfloat16")
    try:
        import ml_dtypes
    except ImportError:
        raise ValueError("CuPy's bfloat16 needs ml_dtypes: pip install 'xarrayops[lowp]'") from None
    return np.dtype(ml_dtypes.bfloat16)


def dtype_name(dtype: Any, /) -> str | None:
    """None for what only looks like a dtype: CuPy has no objects, no text and no foreign byte order."""
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        dtype = np.dtype(dtype)
    known = isinstance(dtype, np.dtype) and dtype.isnative and dtype.name in (*_DTYPES, "bfloat16")
    return str(dtype.name) if known else None


def is_lazy(x: Array, /) -> bool:  # noqa: ARG001 - the hook's signature
    """Work may be queued on a stream, but the graph is never the user's to run."""
    return False


def compute(*arrays: Array) -> tuple[Array, ...]:
    """Nothing is lazy."""
    return arrays


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """CuPy's own; the standard has none."""
    return cupy.einsum(subscripts, *operands)
