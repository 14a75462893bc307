"""Exact products of integers on GPUs, for which PyTorch has no kernels (pytorch#44428), by products of float64.

Integers modulo 2**n are split into limbs of 16 bits. Products of limbs are exact in float64 for fewer than 2**21 terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import torch

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array

_LIMB = 16
_TERMS = 1 << 21
_Product = Callable[[Array, Array], Array]


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
