"""Linear algebra. Dask has some of these functions: for two dimensions only, some chunk layouts, and no float32."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from array_api_compat.dask.array.linalg import EighResult, QRResult, SlogdetResult, SVDResult
from numpy.linalg._linalg import EigResult

from xarrayops.plugin import Array
from xarrayops.plugin.host import products, sums
from xarrayops_backends.dask import _blocks, _tall as _tall_matrices
from xarrayops_backends.dask._blocks import compat, da
from xarrayops_backends.dask._standard import corrections as _corrections
from xarrayops_backends.numpy import _standard as _numpy


def _inexact(x: Array) -> Array:
    """Cast integers to float64, as NumPy does inside the kernels; Dask must know the dtype in advance."""
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def _own(x: Array) -> Any:
    return x.dtype


def _real(x: Array) -> Any:
    return np.finfo(x.dtype).dtype


def _complex(x: Array) -> Any:
    return np.result_type(x.dtype, np.complex64)


def _of_stacks(
    kernel: Callable[..., Any], signature: str, *dtypes: Callable[[Array], Any], result: Any = None
) -> Callable[..., Any]:
    """NumPy's function on stacks of matrices. Dask has only inv, for two dimensions, square chunks and float64."""

    def function(x: Array, /) -> Any:
        x = _inexact(x)
        found = _blocks.stacked(kernel, signature, x, dtypes=[dtype(x) for dtype in dtypes])
        return found[0] if result is None else result(*found)

    function.__name__ = function.__qualname__ = f"linalg_{kernel.__name__.removeprefix('linalg_')}"
    function.__doc__ = _of_stacks.__doc__
    return function


linalg_det = _of_stacks(np.linalg.det, "mm->", _own)
linalg_eig = _of_stacks(_numpy.linalg_eig, "mm->m,mm", _complex, _complex, result=EigResult)
linalg_eigh = _of_stacks(np.linalg.eigh, "mm->m,mm", _real, _own, result=EighResult)
linalg_eigvals = _of_stacks(_numpy.linalg_eigvals, "mm->m", _complex)
linalg_eigvalsh = _of_stacks(np.linalg.eigvalsh, "mm->m", _real)
linalg_inv = _of_stacks(np.linalg.inv, "mm->mm", _own)
linalg_slogdet = _of_stacks(np.linalg.slogdet, "mm->,", _own, _real, result=SlogdetResult)


def _promoted(product: Callable[..., Array], x1: Array, x2: Array, **options: Any) -> Array:
    """The product in the promoted dtype of its operands; Dask returns int64 for products of small integers."""
    with _blocks.without_chunk_warnings():
        return product(*map(_blocks.widened, (x1, x2)), **options).astype(np.result_type(x1.dtype, x2.dtype))


def matmul(x1: Array, x2: Array, /) -> Array:
    """Dask returns int64 for products of small integers."""
    return _promoted(compat.matmul, x1, x2)


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """As for matmul."""
    return _promoted(compat.tensordot, x1, x2, axes=axes)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """As for matmul. Many products of single precision are added by `sum`, whose error is smaller."""
    count = x1.shape[axis]
    if count > sums.BLOCK and x2.shape[axis] == count and np.result_type(x1.dtype, x2.dtype).char in "fF":
        x1, x2 = (da.moveaxis(x, axis, -1) for x in (x1, x2))
        return _corrections.sum(da.conj(x1) * x2, axis=-1)
    return _promoted(compat.vecdot, x1, x2, axis=axis)


def matmul_int32(x1: Array, x2: Array, /) -> Array:
    """The exact products of blocks, by the kernel for host memory, added in int32."""
    if math.isnan(x1.shape[-1] + x2.shape[-2 if x2.ndim > 1 else 0]):
        _blocks.require_sizes("matmul", x1, x2)
    left = x1[None] if x1.ndim == 1 else x1
    right = x2[:, None] if x2.ndim == 1 else x2
    ndim = max(left.ndim, right.ndim)
    *stack, rows, inner, columns = range(ndim + 1)
    with _blocks.without_chunk_warnings():
        parts = da.blockwise(
            _block_int32,
            (*stack, rows, inner, columns),
            left,
            (*stack[ndim - left.ndim :], rows, inner),
            right,
            (*stack[ndim - right.ndim :], inner, columns),
            adjust_chunks={inner: 1},
            concatenate=False,
            meta=_blocks.meta(left, np.int32, ndim + 1),
        )
        out = da.sum(parts, axis=-2, dtype=np.int32)
    return out[(..., *(0 if x.ndim == 1 else slice(None) for x in (x1, x2)))]


def _block_int32(left: Any, right: Any) -> Any:
    """The product of two blocks, with an axis for its part of the sum."""
    return products.matmul_int32(left, right)[..., None, :]


def linalg_cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Dask's cholesky requires two dimensions and square chunks: https://github.com/dask/dask/issues/11243."""
    x = _inexact(x)
    (lower,) = _blocks.stacked(np.linalg.cholesky, "mm->mm", x, dtypes=[x.dtype])
    return da.conj(compat.matrix_transpose(lower)) if upper else lower


def linalg_cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """NumPy's function on stacks of matrices; Dask has none."""
    dtype = np.result_type(x1.dtype, x2.dtype)
    operands = (da.moveaxis(x, axis, -1) for x in (x1, x2))
    (product,) = _blocks.stacked(np.linalg.cross, "c,c->c", *operands, dtypes=[dtype])
    return da.moveaxis(product, -1, axis)


def linalg_outer(x1: Array, x2: Array, /) -> Array:
    """Dask's function makes a number of the dtype without a value, which those of ml_dtypes do not allow."""
    return x1[:, None] * x2[None, :]


def linalg_solve(x1: Array, x2: Array, /) -> Array:
    """Dask's solve has the same limits as its inv."""
    x1, x2 = _inexact(x1), _inexact(x2)
    columns = "" if x2.ndim == 1 else "k"
    dtype = np.result_type(x1.dtype, x2.dtype)
    return _blocks.stacked(np.linalg.solve, f"mm,m{columns}->m{columns}", x1, x2, dtypes=[dtype])[0]


def linalg_matrix_power(x: Array, n: int, /) -> Array:
    """NumPy's function on stacks of matrices; Dask has none."""
    x = _inexact(x) if n < 0 else x
    return _blocks.stacked(partial(np.linalg.matrix_power, n=n), "mm->mm", x, dtypes=[x.dtype])[0]


def linalg_pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """NumPy's function on stacks of matrices, or by the singular values of a tall or wide matrix; Dask has none."""
    x = _inexact(x)
    if rtol is None:
        rtol = max(x.shape[-2:]) * np.finfo(x.dtype).eps
    if x.ndim == 2 and (_tall_matrices.as_tall(x) is not None or _tall_matrices.as_tall(x.T) is not None):
        u, values, vh = linalg_svd(x, full_matrices=False)
        is_kept = values > da.asarray(rtol) * values[0]
        inverse = da.where(is_kept, 1 / da.where(is_kept, values, 1), 0).astype(x.dtype)
        return da.matmul(da.conj(vh.T) * inverse, da.conj(u.T))
    return _blocks.stacked(np.linalg.pinv, "mn,->nm", x, da.asarray(rtol), dtypes=[x.dtype])[0]


def linalg_matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """The function of array-api-compat calls Dask's svd, which does not support all of these arrays."""
    singular = linalg_svdvals(x)
    if rtol is None:
        rtol = max(x.shape[-2:]) * np.finfo(singular.dtype).eps
    tolerance = singular.max(axis=-1, keepdims=True) * da.asarray(rtol)[..., None]
    return da.count_nonzero(singular > tolerance, axis=-1)


linalg_lstsq = _tall_matrices.least_squares


def linalg_qr(x: Array, /, *, mode: str = "reduced") -> tuple[Array, Array]:
    """Dask's qr supports tall matrices only: https://github.com/dask/dask/issues/10388."""
    x = _inexact(x)
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode must be 'reduced' or 'complete', not {mode!r}")
    if mode == "reduced" and (tall := _tall_matrices.as_tall(x)) is not None:
        return QRResult(*da.linalg.qr(tall))
    signature = "mn->mk,kn" if mode == "reduced" else "mn->mm,mn"
    kernel = partial(np.linalg.qr, mode=mode)
    return QRResult(*_blocks.stacked(kernel, signature, x, dtypes=[x.dtype] * 2, k=min(x.shape[-2:])))


def linalg_svd(x: Array, /, *, full_matrices: bool = True) -> tuple[Array, Array, Array]:
    """Dask's svd supports tall matrices only, and only the reduced form; it warns of complex ones."""
    x = _inexact(x)
    if not full_matrices and (tall := _tall_matrices.as_tall(x)) is not None:
        q, r = da.linalg.qr(tall)
        u, values, vh = linalg_svd(r, full_matrices=False)
        return SVDResult(da.matmul(q, u), values, vh)
    if not full_matrices and x.ndim == 2 and _tall_matrices.as_tall(x.T) is not None:
        u, values, vh = linalg_svd(x.T, full_matrices=False)
        return SVDResult(vh.T, values, u.T)
    signature = "mn->mm,k,nn" if full_matrices else "mn->mk,k,kn"
    kernel = partial(np.linalg.svd, full_matrices=full_matrices)
    return SVDResult(*_blocks.stacked(kernel, signature, x, dtypes=[x.dtype, _real(x), x.dtype], k=min(x.shape[-2:])))


def linalg_svdvals(x: Array, /) -> Array:
    """A tall matrix has the singular values of R in its QR factorisation, and R is small."""
    x = _blocks.without_empty_chunks(_inexact(x))
    tall = _tall_matrices.as_tall(x) if x.ndim != 2 or x.shape[0] >= x.shape[1] else _tall_matrices.as_tall(x.T)
    x = x if tall is None else _tall_matrices.triangle(tall)
    kernel = partial(np.linalg.svd, compute_uv=False)
    return _blocks.stacked(kernel, "mn->k", x, dtypes=[_real(x)], k=min(x.shape[-2:]))[0]


def linalg_matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Dask computes norms from singular values only for two dimensions and some chunk layouts."""
    reduce = {2: da.max, -2: da.min, "nuc": da.sum}.get(ord)
    if reduce is None:
        return compat.linalg.matrix_norm(_blocks.without_empty_chunks(x), keepdims=keepdims, ord=ord)
    norm = reduce(linalg_svdvals(x), axis=-1)
    return norm[..., None, None] if keepdims else norm


def linalg_vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Sums over axes need no reshape; the function of array-api-compat reshapes and so gathers chunks."""
    magnitude = da.abs(_blocks.without_empty_chunks(_inexact(x)))
    options = {"axis": axis, "keepdims": keepdims}
    if ord == np.inf and x.size:
        return da.max(magnitude, **options)
    if ord == -np.inf:
        return _corrections.min(magnitude, **options)
    if ord == 0:
        return da.sum((magnitude != 0).astype(magnitude.dtype), **options)
    if ord in (1, np.inf):
        return da.sum(magnitude, **options)
    if ord == 2:
        return da.sqrt(da.sum(da.square(magnitude), **options))
    return da.sum(magnitude**ord, **options) ** (1.0 / ord)


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """Dask's einsum, corrected: it fails on a diagonal of unequal chunks, and returns int64 for small integers."""
    if not isinstance(subscripts, str):
        raise TypeError(f"the subscripts of einsum are a string, not a {type(subscripts).__name__}")
    terms = subscripts.replace(" ", "").partition("->")[0].replace("...", "").split(",")
    for term, x in zip(terms, operands, strict=True):
        if "..." not in subscripts and len(term) != x.ndim:
            raise ValueError(f"the term {term!r} of {subscripts!r} does not fit the shape {x.shape}")
    dtype = np.result_type(*(x.dtype for x in operands))
    wide = (_blocks.widened(x.astype(dtype)) for x in operands)  # before the products, which may be of two at a time
    pieces = [x if len(set(term)) == len(term) else x.rechunk(-1) for x, term in zip(wide, terms, strict=True)]
    with _blocks.without_chunk_warnings():
        is_long = len(terms) > 2 and "..." not in subscripts and not any(math.isnan(x.size) for x in operands)
        product = _einsum_of_pairs(subscripts, terms, pieces) if is_long else da.einsum(subscripts, *pieces)
        return product.astype(dtype)


def _einsum_of_pairs(subscripts: str, terms: list[str], operands: list[Array]) -> Array:
    """A product of many arrays, of two at a time in NumPy's order; Dask makes a task of each combination of chunks."""
    labels = "".join(terms)
    once = "".join(label for label in sorted({*labels}) if labels.count(label) == 1)
    result = subscripts.replace(" ", "").partition("->")[2] if "->" in subscripts else once
    outlines = [np.broadcast_to(np.zeros(()), x.shape) for x in operands]
    (_, *path), _ = np.einsum_path(f"{','.join(terms)}->{result}", *outlines, optimize="greedy")
    for places in path:
        chosen = [(terms.pop(k), operands.pop(k)) for k in sorted(places, reverse=True)]
        inputs, factors = zip(*chosen, strict=True)
        needed = {*"".join(terms), *result}
        kept = result if not terms else "".join(sorted({*"".join(inputs)} & needed))
        terms.append(kept)
        operands.append(da.einsum(f"{','.join(inputs)}->{kept}", *factors))
    return operands[0]
