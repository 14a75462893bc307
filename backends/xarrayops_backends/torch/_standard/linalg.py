"""Products of matrices and vectors; exact products of 8-bit integers by ``torch._int_mm`` of oneDNN."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import reduce
from typing import Any

import torch
from array_api_compat.torch.linalg import vector_norm as _vector_norm

from xarrayops.plugin import Array, Call, constant_while_tracing
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.products import exact_terms
from xarrayops_backends.torch import _tracing
from xarrayops_backends.torch._dtypes import _SPARSE_LAYOUTS, _STRIDED, _pair, result_type
from xarrayops_backends.torch._standard import integer_products
from xarrayops_backends.torch._standard.elementwise import _binary, multiply
from xarrayops_backends.torch._standard.statistics import Axes, _as_axes, sum as _sum
from xarrayops_backends.torch._standard.wide import WIDE, _value

_INTEGERS = WIDE | {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
_CHECKED = _INTEGERS | {torch.float16}
"""The dtypes of operands for which `torch.matmul` is not always the best kernel."""
_HALVES = (torch.float16, torch.bfloat16)
_SINGLES = (torch.float32, torch.complex64)
_UNORDERED = (0, math.inf, -math.inf)
"""The orders of norms that do not add."""


def _product(x1: Array, x2: Array) -> Array:
    """The matrix product of two arrays of one integer dtype."""
    if x1.is_cuda:
        if integer_products.eight_bit_refusal(Call((x1, x2), {})) is None:
            return integer_products.wrapping(x1, x2)
        return integer_products.product(x1, x2, x1.dtype, x1.shape[-1])
    return torch.matmul(_value(x1), _value(x2)).to(x1.dtype)


_promoting_matmul = _binary(torch.matmul, _product, promotes=False, hard=_INTEGERS)


def _dense_matmul(x1: Array, x2: Array) -> Array:
    if _is_slow(x1, x2):
        return torch.matmul(x1.to(torch.float32), x2.to(torch.float32)).to(torch.float16)
    return _promoting_matmul(x1, x2)


def _is_slow(*operands: Array) -> bool:
    """Whether PyTorch would multiply these numbers by loops, which take up to 100 times as long as float32."""
    return all(x.dtype is torch.float16 and x.is_cpu for x in operands) and not _multiplies_float16()


@constant_while_tracing
def _multiplies_float16() -> bool:
    """Whether oneDNN multiplies float16 on this CPU."""
    supported = getattr(torch.ops.mkldnn, "_is_mkldnn_fp16_supported", None)
    return supported is not None and bool(supported())


def matmul(x1: Array, x2: Array, /) -> Array:
    """The product of dense arrays, with the standard's promotion; sparse layouts have their own kernels."""
    if x1.layout is not _STRIDED or x2.layout is not _STRIDED:
        return _of_layouts(x1, x2)
    dtype = x1.dtype
    if dtype is x2.dtype and dtype not in _CHECKED:  # checked first, because a further call costs time
        return torch.matmul(x1, x2)
    return _dense_matmul(x1, x2)


def _of_layouts(x1: Array, x2: Array) -> Array:
    """The product by the sparse kernels, or by PyTorch for other layouts, such as nested tensors."""
    if x1.layout not in _SPARSE_LAYOUTS and x2.layout not in _SPARSE_LAYOUTS:
        return _dense_matmul(x1, x2)
    untraced = "torch._dynamo" in sys.modules  # Dynamo would try to trace the NumPy code of the kernels
    function: Any = torch.compiler.disable(_sparse_matmul) if untraced else _sparse_matmul  # type: ignore[no-untyped-call]
    return function(x1, x2)


def _sparse_matmul(x1: Array, x2: Array) -> Array:
    return backend_by_name("torch").sparse.matmul(x1, x2)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """torch.linalg.vecdot rejects integers, does not promote and broadcasts the axis that it contracts.

    It rounds each product to the dtype; here products of half precision are summed in float32 and rounded once.
    """
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"the contracted axes have different lengths: {x1.shape[axis]} and {x2.shape[axis]}")
    x1, x2 = _pair(x1, x2)
    if axis >= 0:  # of each array, before they are broadcast
        x1, x2, axis = x1.movedim(axis, -1), x2.movedim(axis, -1), -1
    if x1.dtype in _HALVES:
        return torch.linalg.vecdot(x1.to(torch.float32), x2.to(torch.float32), dim=axis).to(x1.dtype)
    if x1.is_floating_point() or x1.is_complex():
        return _vecdot(x1, x2, axis).resolve_conj()  # NumPy cannot read the view that a conjugate view gives
    return _sum(multiply(x1, x2), axis=axis, dtype=x1.dtype)


_ADDED = 1 << 12
"""Products that `torch.linalg.vecdot` adds in float32."""
_STORED = 1 << 18
"""Products that fit in the cache, so that their sum takes no longer than that of blocks."""
_NESTED = 1 << 16
"""Elements from which the norm of the norms of rows takes less time than a sum of squares."""
_SHORT, _ROW = 128, 1 << 12
"""Elements whose norm `torch.linalg.vector_norm` computes within the bound, in any order and in contiguous rows."""


def _vecdot(x1: Array, x2: Array, axis: int) -> Array:
    """In blocks, whose results `torch.sum` adds."""
    count = x1.shape[axis]
    is_row = x1.stride(axis) == x2.stride(axis) == 1  # strided products are added one after the other
    if x1.dtype not in _SINGLES or count <= (_ADDED if is_row else _SHORT):
        return torch.linalg.vecdot(x1, x2, dim=axis)
    if x1.numel() <= _STORED:
        return torch.sum(torch.conj(x1) * x2, axis)
    x1, x2 = x1.movedim(axis, -1), x2.movedim(axis, -1)
    whole = count // _ADDED * _ADDED
    blocks = (x[..., :whole].unflatten(-1, (-1, _ADDED)) for x in (x1, x2))
    return torch.linalg.vecdot(*blocks).sum(-1) + torch.linalg.vecdot(x1[..., whole:], x2[..., whole:])


def tensordot(x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Array:
    """torch.tensordot does not promote, lacks wide unsigned integers and broadcasts axes that it contracts."""
    x1, x2 = _pair(x1, x2)
    first, second = (list(range(x1.ndim - axes, x1.ndim)), list(range(axes))) if isinstance(axes, int) else axes
    for a, b in zip(first, second, strict=True):
        if x1.shape[a] != x2.shape[b]:
            raise ValueError(f"axis {a} has {x1.shape[a]} elements but axis {b} to contract it with has {x2.shape[b]}")
    if x1.dtype not in _INTEGERS:
        dtype, dims = x1.dtype, (list(first), list(second))
        if _is_slow(x1, x2):
            x1, x2 = x1.to(torch.float32), x2.to(torch.float32)
        return torch.tensordot(x1, x2, dims=dims).to(dtype)
    first, second = [a % x1.ndim for a in first], [b % x2.ndim for b in second]
    kept1 = [a for a in range(x1.ndim) if a not in first]
    kept2 = [b for b in range(x2.ndim) if b not in second]
    terms = math.prod([x1.shape[a] for a in first])
    shape1, shape2 = [x1.shape[a] for a in kept1], [x2.shape[b] for b in kept2]
    left = x1.permute((*kept1, *first)).reshape(math.prod(shape1), terms)
    right = x2.permute((*second, *kept2)).reshape(terms, math.prod(shape2))
    return _product(left, right).reshape(shape1 + shape2)


def _int_mm(x1: Array, x2: Array, /) -> Array:
    """As many terms at a time as float32 sums exactly: some kernels of oneDNN convert sums to float32 and back."""
    terms = exact_terms("int8", "int8")
    starts = range(0, x1.shape[1], terms)
    # Partial products are exact in float32, so sums of int32 are too, up to the limit that the caller has checked.
    return reduce(
        torch.add, (torch._int_mm(_compact(x1[:, i : i + terms]), _compact(x2[i : i + terms])) for i in starts)
    )


def _compact(x: Array) -> Array:
    """In C order, also in the strides of axes with one element: oneDNN reads those, and gives wrong results."""
    return x.contiguous().reshape(-1).reshape(x.shape)


def _int_mm_refusal(call: Call) -> str | None:
    x1, x2 = call.args
    if x1.ndim != 2 or x2.ndim != 2 or x1.dtype is not torch.int8 or x2.dtype is not torch.int8:
        return "it takes two matrices of int8"
    if not torch.compiler.is_compiling() and _tracing.transforms():
        return "torch.vmap has no rule for it"
    (rows, terms), columns = x1.shape, x2.shape[1]
    if not rows * terms * columns:
        return "a matrix is empty"
    if not x1.is_cpu:
        return "it serves the CPU"
    if torch.compiler.is_compiling() and 1 in (rows, terms):
        return "compiled code does not check the strides of axes with one element, which it depends on"
    return None if _has_vnni() else "without AVX-512 VNNI it is slow, and sums may saturate"


@constant_while_tracing
def _has_vnni() -> bool:
    """Whether oneDNN adds products of 8 bits in 32 bits; without the instructions, pairs are added in 16 bits."""
    capabilities: Any = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_vnni"))


MATMUL_INT32_CANDIDATES = [
    ("int_mm", _int_mm, _int_mm_refusal),
    ("tensor_cores", integer_products.eight_bit, integer_products.eight_bit_refusal),
]


def linalg_outer(x1: Array, x2: Array, /) -> Array:
    """torch.outer does not promote wide unsigned integers."""
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer takes vectors, not arrays of {x1.ndim} and {x2.ndim} dimensions")
    return multiply(x1.unsqueeze(1), x2)


def linalg_trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """torch.trace accepts one matrix and no offset."""
    return _sum(torch.diagonal(x, offset=offset, dim1=-2, dim2=-1), axis=-1, dtype=dtype)


def linalg_cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """torch.linalg.cross does not promote, and does not broadcast new dimensions (pytorch#39656)."""
    x1, x2 = _pair(x1, x2)
    if not -min(x1.ndim, x2.ndim) <= axis < max(x1.ndim, x2.ndim):
        raise ValueError(f"axis {axis} is out of bounds for shapes {tuple(x1.shape)} and {tuple(x2.shape)}")
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"the axis must have 3 elements, not {x1.shape[axis]} and {x2.shape[axis]}")
    wide = x1.dtype
    x1, x2 = torch.broadcast_tensors(_value(x1), _value(x2))  # type: ignore[no-untyped-call]
    out = torch.linalg.cross(x1, x2, dim=axis)
    return out.to(wide) if wide in WIDE else out


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """torch.einsum does not promote, sums integers as int64, has no booleans and raises RuntimeError for subscripts.

    Products of several operands of half precision would be rounded after each product.
    """
    dtype = result_type(*operands)
    is_exact = dtype in _INTEGERS or dtype is torch.bool
    work = torch.int64 if is_exact else dtype
    if dtype in _HALVES and (len(operands) > 2 or _is_slow(*operands)):
        work = torch.float32
    try:
        if is_exact and operands[0].is_cuda:
            return integer_products.contraction(subscripts, operands, work if dtype is torch.bool else dtype).to(dtype)
        result = torch.einsum(subscripts, *(x.to(work) for x in operands))
    except RuntimeError as error:
        if str(error).startswith("einsum():"):
            raise ValueError(str(error)) from error
        raise
    return result.to(dtype)


def linalg_vector_norm(x: Array, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Array:
    """array-api-compat compares the axis with (). PyTorch adds the powers of float32 one after the other.

    The norm of many numbers in rows is that of the norms of their parts.
    """
    axis = _as_axes(axis)
    if x.dtype not in _SINGLES or x.numel() <= _SHORT or ord in _UNORDERED or ord < 1 or axis == ():
        return _vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    is_row = x.is_contiguous() and (axis is None or axis in (-1, x.ndim - 1))
    if is_row and ord == 2 and (x.numel() if axis is None else x.shape[-1]) <= _ROW:
        return _vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    if is_row and ord == 2 and not keepdims and x.numel() > _NESTED:
        row = x.reshape(-1) if axis is None else x
        whole = row.shape[-1] // _ROW * _ROW
        norms = torch.linalg.vector_norm(row[..., :whole].unflatten(-1, (-1, _ROW)), dim=-1)
        rest = torch.linalg.vector_norm(row[..., whole:], dim=-1, keepdim=True)
        return torch.linalg.vector_norm(torch.cat((norms, rest), -1), dim=-1)
    size = x if ord == 2 and x.is_floating_point() else torch.abs(x)
    total = torch.sum(size * size if ord == 2 else size if ord == 1 else size**ord, axis, keepdim=keepdims)
    if ord == 1:
        return total
    if ord == 2 and not _tracing.is_followed(total):
        return torch.sqrt(total)
    is_zero = total == 0  # the root has no gradient there; the gradient of the norm is 0
    positive = torch.where(is_zero, 1, total)
    return torch.where(is_zero, 0, torch.sqrt(positive) if ord == 2 else positive ** (1 / ord))


def linalg_matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """PyTorch adds the numbers of a column of float32 one after the other."""
    if x.dtype not in _SINGLES or x.ndim < 2 or x.numel() <= _SHORT or ord not in (1, -1, math.inf, -math.inf, "fro"):
        return torch.linalg.matrix_norm(x, ord, keepdim=keepdims)
    if ord == "fro":
        return linalg_vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    total = torch.sum(torch.abs(x), -2 if abs(ord) == 1 else -1, keepdim=True)
    return (torch.amax if ord > 0 else torch.amin)(total, (-2, -1), keepdim=keepdims)


_MKL_FUNCTIONS = (
    *(torch.acos, torch.asin, torch.atan, torch.cos, torch.erf, torch.erfc, torch.erfinv, torch.exp, torch.log),
    *(torch.log2, torch.log10, torch.sin, torch.sqrt, torch.tan, torch.tanh, torch.trunc),
)
"""The functions that PyTorch computes with VML: see ATen/cpu/vml.h."""


def _warm_up_mkl() -> None:
    """Call each function of MKL's vector library (VML) on one element, while no other thread uses it.

    MKL 2024.2, which PyTorch bundles, selects the kernel of a function at its first call. If several threads make that
    call concurrently, one of them may get a kernel of low accuracy, with an error of hundreds of units in the last
    place or more, for its part of the array and for that call only (https://github.com/pytorch/pytorch/issues/188792).
    PyTorch computes a single element on one thread. All calls together take about a millisecond.
    """
    if torch.backends.mkl.is_available():  # type: ignore[no-untyped-call]
        for dtype in (torch.float32, torch.float64):
            one = torch.ones(1, dtype=dtype, device="cpu")
            for function in _MKL_FUNCTIONS:
                function(one)


_warm_up_mkl()
