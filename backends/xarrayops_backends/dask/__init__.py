"""Dask: task graphs over NumPy chunks. Nothing here computes; sizes that depend on data are NaN until it is done.

Division by and of infinities (``x // y``) follows NumPy where that differs from the standard.
"""
# ruff: noqa: F401 - the names are the backend's functions

from __future__ import annotations

import sys

import array_api_compat.dask.array
import dask.array

from xarrayops._core.namespace import implementation, offer, verb_attribute
from xarrayops._protocol.surface import ROLES, SURFACE
from xarrayops.plugin import Gap
from xarrayops.plugin.dtypes import as_dtype, can_cast, dtype_name, finfo, iinfo, isdtype, result_type
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._attention import attention as _attention, can_chunk as _can_chunk
from xarrayops_backends.dask._creation import (
    asarray,
    astype,
    broadcast_shapes,
    empty_like,
    eye,
    from_dlpack,
    full_like,
    linspace,
    ones_like,
    tril,
    triu,
    zeros_like,
)
from xarrayops_backends.dask._elementwise import clip, expm1
from xarrayops_backends.dask._exchange import alias_refusal, from_numpy, memory, to_numpy
from xarrayops_backends.dask._fft import (
    fft_fft,
    fft_fftn,
    fft_hfft,
    fft_ifft,
    fft_ifftn,
    fft_ihfft,
    fft_irfft,
    fft_irfftn,
    fft_rfft,
    fft_rfftn,
)
from xarrayops_backends.dask._hooks import compute, einsum, is_lazy, synchronize, versions
from xarrayops_backends.dask._indexing import (
    argmax,
    argmin,
    concat,
    diff,
    isin,
    max,
    min,
    nonzero,
    repeat,
    reshape,
    roll,
    searchsorted,
    take,
    take_along_axis,
    update,
)
from xarrayops_backends.dask._layout import NO_STRIDES, as_strided, contiguous, pin_memory
from xarrayops_backends.dask._linalg import (
    linalg_cholesky,
    linalg_cross,
    linalg_det,
    linalg_eig,
    linalg_eigh,
    linalg_eigvals,
    linalg_eigvalsh,
    linalg_inv,
    linalg_matrix_norm,
    linalg_matrix_power,
    linalg_matrix_rank,
    linalg_pinv,
    linalg_qr,
    linalg_slogdet,
    linalg_solve,
    linalg_svd,
    linalg_svdvals,
    linalg_vector_norm,
    matmul,
    tensordot,
    vecdot,
)
from xarrayops_backends.dask._sets import unique_all, unique_counts, unique_inverse, unique_values
from xarrayops_backends.dask._statistics import cumulative_prod, cumulative_sum, flip, std, var
from xarrayops_backends.numpy import __array_namespace_info__, as_device, device, devices, import_refusal, to_device

NAMESPACE = array_api_compat.dask.array
ARRAY_TYPES = (dask.array.Array,)
ENVIRONMENT = ("DASK_SCHEDULER", "DASK_NUM_WORKERS", "DASK_ARRAY__CHUNK_SIZE")
ATTENTION_CANDIDATES = [("chunks", _attention, _can_chunk)]
UNTRACEABLE = {"compute": Gap("to compute is what it is for", "call it where the values are needed")}

for _verb in (*ROLES, "einsum", "update"):
    _own, _function = (find(sys.modules[__name__], _verb) for find in (offer, implementation))
    if _function is not None and (_own is not None or SURFACE[_verb] != "(x, /)"):  # elementwise, no size matters
        globals()[verb_attribute(_verb)] = _blocks.explaining("at" if _verb == "update" else _verb, _function)
