"""Dask: task graphs over NumPy chunks. These functions are lazy; a size that depends on data is NaN until computed.

Floor division (``x // y``) of or by infinities follows NumPy where NumPy differs from the standard.
"""
# ruff: noqa: F401 - the names are the backend's functions

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat.dask.array
import dask.array

from xarrayops.plugin import Gap, takes_arrays
from xarrayops.plugin.dtypes import FLOATING_RESULTS
from xarrayops.plugin.host import as_dtype, can_cast, dtype_name, finfo, iinfo, isdtype, result_type
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._attention import attention as _attention, chunks_refusal as _chunks_refusal
from xarrayops_backends.dask._devices import compute, is_lazy, persist, run_modes, versions
from xarrayops_backends.dask._exchange import alias_refusal, from_numpy, to_numpy
from xarrayops_backends.dask._layout import NO_STRIDES, as_strided, contiguous, pin_memory
from xarrayops_backends.dask._operations import carry_operation
from xarrayops_backends.dask._random import native_draw, native_generator, random_draw
from xarrayops_backends.dask._standard.corrections import (
    argmax,
    argmin,
    clip,
    cumulative_prod,
    cumulative_sum,
    expm1,
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
    flip,
    floor_divide,
    max,
    mean,
    min,
    std,
    sum,
    var,
)
from xarrayops_backends.dask._standard.creation import (
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
from xarrayops_backends.dask._standard.linalg import (
    einsum,
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
    matmul_int32,
    tensordot,
    vecdot,
)
from xarrayops_backends.dask._standard.manipulation import (
    argsort,
    concat,
    diff,
    nonzero,
    repeat,
    reshape,
    roll,
    searchsorted,
    sort,
    take,
    take_along_axis,
)
from xarrayops_backends.dask._standard.sets import (
    isin,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from xarrayops_backends.dask._transfers import crossings
from xarrayops_backends.dask._update import select, update
from xarrayops_backends.numpy._devices import __array_namespace_info__, as_device, device, to_device
from xarrayops_backends.numpy._exchange import import_refusal

NAMESPACE = array_api_compat.dask.array
WRAPS_INTEGERS = True
EXTRA = "xarrayops_backends.dask._extra"
CASTS_INTEGERS = (*FLOATING_RESULTS, "clip")
ARRAY_TYPES = (dask.array.Array,)
ENVIRONMENT = ("DASK_SCHEDULER", "DASK_NUM_WORKERS", "DASK_ARRAY__CHUNK_SIZE")
ATTENTION_CANDIDATES = [("chunks", _attention, _chunks_refusal)]
UNTRACEABLE = dict.fromkeys(
    ("compute", "persist"), Gap("it computes the values", "call it outside the traced function")
) | dict.fromkeys(
    ("cond", "while_loop"), Gap("the branch is chosen by a value", "xo.where, or a loop with a known number of steps")
)


def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """Explain errors caused by unknown sizes. Dask's ufuncs of one array need no sizes and stay as they are."""
    if verb in _blocks.SIZES:
        return _blocks.requiring_known_shape(verb, function)
    needs_no_sizes = isinstance(function, dask.array.ufunc.ufunc) and function.nin == 1
    if not takes_arrays(verb) or needs_no_sizes:
        return function
    return _blocks.explain_unknown_sizes("at" if verb in ("update", "select") else verb, function)
