"""Products: along labels, and of integers."""

from __future__ import annotations

from functools import reduce
from types import ModuleType

from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.products import exact_terms


def einsum(xp: ModuleType, subscripts: str, /, *operands: Array) -> Array:
    """Einstein summation in NumPy's notation."""
    # Broadcast, multiply and sum. The product has an axis for every label, so it may be large.
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if "." in subscripts:
        raise Unsupported("the generic einsum does not support an ellipsis. Instead: name every axis by a letter")
    if len(terms) != len(operands):
        raise ValueError(f"einsum {subscripts!r} has {len(terms)} terms for {len(operands)} operands")
    if "->" not in subscripts:
        output = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    if not set(output) <= set(inputs) - {","} or len(set(output)) < len(output):
        raise ValueError(f"einsum {subscripts!r}: a label of the result must be in an operand, and be unique")
    labels = output + "".join(sorted(set(inputs) - {","} - set(output)))
    factors = (_spread(xp, term, operand, labels) for term, operand in zip(terms, operands, strict=True))
    product = reduce(xp.multiply, factors)
    summed = tuple(range(len(output), len(labels)))
    return xp.sum(product, axis=summed, dtype=product.dtype) if summed else product


def _spread(xp: ModuleType, term: str, operand: Array, labels: str) -> Array:
    """The operand with one axis per label; a label that occurs twice selects the diagonal."""
    if len(term) != operand.ndim:
        raise ValueError(f"einsum term {term!r} has {len(term)} axes, but the operand has shape {tuple(operand.shape)}")
    for label in sorted(set(term)):
        while term.count(label) > 1:
            first = term.index(label)
            second = term.index(label, first + 1)
            rest = [i for i in range(len(term)) if i not in (first, second)]
            operand = xp.linalg.diagonal(xp.permute_dims(operand, (*rest, first, second)))
            term = "".join(term[i] for i in rest) + label
    operand = xp.permute_dims(operand, tuple(term.index(c) for c in labels if c in term))
    extents = iter(operand.shape)
    return xp.reshape(operand, tuple(next(extents) if c in term else 1 for c in labels))


def matmul_int32(xp: ModuleType, x1: Array, x2: Array, /) -> Array:
    """The exact matrix product of arrays of int8 or uint8, in int32. The caller has checked that the sums fit."""
    # Sums with so few terms that they are exact in float32. Products may use bfloat16 or TF32: both hold 8-bit
    # integers.
    first, second = ("int8" if x.dtype == xp.int8 else "uint8" for x in (x1, x2))
    terms = exact_terms(first, second)
    count, total = x1.shape[-1], None
    # If there are no terms, one empty product gives zeros in the shape of the result.
    for start in range(0, max(1, count), terms):
        these = slice(start, min(start + terms, count))
        left = xp.astype(x1[..., these], xp.float32)
        right = xp.astype(x2[these] if x2.ndim == 1 else x2[..., these, :], xp.float32)
        # An integer of at most 2**24, which float32 holds in any order of the sum, so the cast is exact.
        part = xp.astype(xp.matmul(left, right), xp.int32)
        total = part if total is None else total + part
    return total


def quantized_rows(xp: ModuleType, x: Array, /) -> tuple[Array, Array] | None:
    """The values and scales of `xarrayops.quantize` for each row, in the symmetric scheme; None: step by step.

    x is float32 or float64. The values are int8 in the shape of x, and the scales have 1 as their last extent. Both
    have the bits of the steps.
    """
    return None  # the standard has steps only
