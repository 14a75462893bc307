"""Exact products of integers on GPUs: of 8 bits by `torch._int_mm`, of others by products of float64.

PyTorch has no kernels for the others (pytorch#44428). Integers modulo 2**n are split into limbs of 16 bits. Products of
limbs are exact in float64 for fewer than 2**21 terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import torch

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Call, constant_while_tracing
from xarrayops_backends.torch import _tracing

_LIMB = 16
_TERMS = 1 << 21
_Product = Callable[[Array, Array], Array]
_EIGHT_BITS = (torch.int8, torch.uint8)
_ROWS, _PADDED, _STEP = 17, 32, 8
"""`torch._int_mm` of cuBLAS takes at least 17 rows, and multiples of 8 terms and columns (keras#19207)."""
_WITH_INT8 = ("gfx90a", "gfx94", "gfx95")
"""The AMD GPUs for which hipBLASLt multiplies 8-bit integers."""


def eight_bit(x1: Array, x2: Array, /) -> Array:
    """The product of arrays of int8 or uint8 in int32, of which the second has at most two axes.

    x is (x - 128) + 128 for uint8, so the sums of the other operand times 128 are added. The sums of int32 wrap around.
    """
    rows, columns = x1.reshape(-1, x1.shape[-1]), x2 if x2.ndim == 2 else x2.unsqueeze(1)
    first, second = _signed(rows), _signed(columns)
    found = _int_mm(first, second)
    if columns.dtype is torch.uint8:
        found = torch.add(found, torch.sum(rows, 1, keepdim=True, dtype=torch.int32), alpha=128)
    if rows.dtype is torch.uint8:
        found = torch.add(found, torch.sum(second, 0, keepdim=True, dtype=torch.int32), alpha=128)
    return found.reshape((*x1.shape[:-1], *x2.shape[1:]))


def wrapping(x1: Array, x2: Array) -> Array:
    """The product of arrays of one dtype of 8 bits, modulo 2**8, for which their sign does not matter."""
    return eight_bit(x1.view(torch.int8), x2.view(torch.int8)).to(x1.dtype)


def _signed(x: Array) -> Array:
    """x, or x - 128 of uint8 as int8."""
    return x if x.dtype is torch.int8 else (x ^ 128).view(torch.int8)


def _int_mm(x1: Array, x2: Array) -> Array:
    """`torch._int_mm`, of matrices with zeros up to the extents that it takes."""
    (rows, terms), columns = x1.shape, x2.shape[1]
    more, wide = -terms % _STEP, -columns % _STEP
    if more or rows < _ROWS:
        x1 = torch.nn.functional.pad(x1, (0, more, 0, _PADDED - rows if rows < _ROWS else 0))
    if more or wide:
        x2 = torch.nn.functional.pad(x2, (0, wide, 0, more))
    return torch._int_mm(x1, x2).narrow(0, 0, rows).narrow(1, 0, columns)


def eight_bit_refusal(call: Call) -> str | None:
    """Why `eight_bit` cannot serve a call."""
    x1, x2 = call.args
    if x1.device.type != "cuda":
        return "it serves CUDA and HIP"
    if x1.dtype not in _EIGHT_BITS or x2.dtype not in _EIGHT_BITS or x2.ndim > 2:
        return "it takes arrays of 8-bit integers, of which the second has at most two axes"
    if not torch.compiler.is_compiling() and _tracing.transforms():
        return "torch.vmap has no rule for it"
    if not x1.numel() or not x2.numel():
        return "an array is empty"
    return None if _multiplies_int8(x1.device) else "hipBLASLt does not multiply 8-bit integers on this GPU"


@constant_while_tracing
def _multiplies_int8(device: torch.device) -> bool:
    return torch.version.hip is None or torch.cuda.get_device_properties(device).gcnArchName.startswith(_WITH_INT8)


def product(x1: Array, x2: Array, dtype: torch.dtype, terms: int, multiply: _Product = torch.matmul) -> Array:
    """The product by ``multiply``, which sums ``terms`` products for each element, in an integer dtype."""
    if terms >= _TERMS:
        raise Unsupported(
            f"an integer product of {terms} terms is not exact on a GPU. Instead: move the arrays to the CPU"
        )
    limbs = -(-dtype.itemsize * 8 // _LIMB)
    mask = (1 << _LIMB) - 1
    left, right = (
        [((x.to(torch.int64) >> _LIMB * i) & mask).to(torch.float64) for i in range(limbs)] for x in (x1, x2)
    )
    parts = [
        multiply(left[i], right[j]).to(torch.int64) << _LIMB * (i + j) for i in range(limbs) for j in range(limbs - i)
    ]
    return reduce(torch.add, parts).to(dtype)


def contraction(subscripts: str, operands: Sequence[Array], dtype: torch.dtype) -> Array:
    """torch.einsum of integers, for two operands at a time; the others keep the subscripts that they need."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        letters = sorted({*inputs} - {*".,"})
        output = "..." * ("..." in inputs) + "".join(x for x in letters if inputs.count(x) == 1)
    if len(terms) == len(operands) > 1:
        x, first = operands[0], terms[0]
        for i in range(1, len(terms)):
            later = "".join([*terms[i + 1 :], output])
            kept = "..." * ("..." in first + terms[i]) + "".join(sorted(({*first} | {*terms[i]}) & {*later} - {"."}))
            into = output if i == len(terms) - 1 else kept
            summed = ({*first} | {*terms[i]}) - {*into, "."}
            extents = {**_extents(first, x), **_extents(terms[i], operands[i])}
            count = math.prod(extents.get(letter, 1) for letter in summed)
            x = product(x, operands[i], dtype, count, partial(torch.einsum, f"{first},{terms[i]}->{into}"))
            first = into
        return x
    found: Any = torch.einsum(subscripts, *(x.to(torch.int64) for x in operands))
    return found.to(dtype)


def _extents(term: str, x: Array) -> dict[str, int]:
    """The extent of each letter of a term."""
    before, _, after = term.partition("...")
    from_end = zip(reversed(after), reversed(x.shape), strict=False)
    return {**dict(zip(before, x.shape, strict=False)), **dict(from_end)}
