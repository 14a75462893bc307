"""xo.attention next to the reference of PyTorch's attention tests: PyTorch's own function with its MATH kernel.

PyTorch's tests compare its kernels with this one. They select kernels by PyTorch's context managers, so they cannot
call another function; the cases here have the mask shapes and the tolerances of its tests for CPUs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from results import Outcome

import xarrayops as xo

TOLERANCES = {  # atol and rtol of the result, then of the gradients
    "float64": (1e-5, 5e-6, 1e-5, 5e-6),
    "float32": (1e-5, 5e-6, 1.25e-5, 5.25e-6),
    "bfloat16": (5e-2, 5e-2, 5e-2, 5e-2),
    "float16": (1e-2, 1e-2, 1e-1, 1e-1),
}
BATCH, HEAD_DIM = 2, 8
SIZES = [(3, 3, 11, 17), (4, 2, 11, 17), (3, 3, 514, 514), (1, 1, 11, 514)]
"""Heads of queries and of keys, numbers of queries and of keys."""
GRADIENTS = ("torch", "jax")


class Case(NamedTuple):
    """One call. ``mask`` is "bool", "float", "causal" or "none", with the shape of the first two."""

    dtype: str
    size: tuple[int, int, int, int]
    mask: str
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "-".join(map(str, (self.dtype, *self.size, self.mask, *self.shape)))


def cases() -> Iterator[Case]:
    """All calls. Every axis of a mask has its full extent or 1; long sequences have full masks."""
    for dtype, size in product(TOLERANCES, SIZES):
        q_heads, _, rows, columns = size
        yield from (Case(dtype, size, mask) for mask in ("none", "causal"))
        full = (BATCH, q_heads, rows, columns)
        shapes = [full[2:], full]
        if rows * columns < 1000:
            shapes = [shape for axes in shapes for shape in product(*((n, 1) for n in axes))]
        yield from (Case(dtype, size, mask, shape) for mask in ("bool", "float") for shape in shapes)


def run(library: str, select: str) -> Outcome:
    """The outcome on one library; gradients are compared where the library has them."""
    if library == "jax":
        os.environ["JAX_ENABLE_X64"] = "1"
    outcome = Outcome(0, {}, settings={"gradients": library in GRADIENTS})
    backend = xo.backend(library)
    for number, case in enumerate(case for case in cases() if select in str(case)):
        try:
            backend.functions["as_dtype"](case.dtype)
        except (ValueError, TypeError):
            outcome.skipped += 1
            continue
        wrong = fault(library, case, np.random.default_rng(number))
        if wrong:
            outcome.failures[str(case)] = wrong
        outcome.passed += not wrong
    return outcome


def fault(library: str, case: Case, random: np.random.Generator) -> str | None:
    """What differs from the reference; None if nothing does."""
    import torch

    dtype = getattr(torch, case.dtype)
    q_heads, k_heads, rows, columns = case.size
    shapes = (BATCH, q_heads, rows, HEAD_DIM), *2 * [(BATCH, k_heads, columns, HEAD_DIM)]
    inputs = [torch.asarray(random.standard_normal(shape)).to(dtype) for shape in shapes]
    mask = None
    if case.mask == "bool":
        mask = torch.asarray(random.random(case.shape) < 0.5)
    elif case.mask == "float":
        mask = torch.asarray(random.standard_normal(case.shape)).to(dtype)
    want = reference(inputs, mask, case)
    try:
        got = ours(library, inputs, mask, case)
    except Exception as error:  # of the library: it is reported next to its case
        return f"{type(error).__name__}: {error}"
    names, tolerances = ("the result", "dq", "dk", "dv"), TOLERANCES[case.dtype]
    for name, x, y in zip(names, got, want, strict=False):
        atol, rtol = tolerances[:2] if name == "the result" else tolerances[2:]
        if not torch.allclose(x.to(y.dtype), y, atol=atol, rtol=rtol):
            return f"{name} differs by up to {float((x.to(y.dtype) - y).abs().max()):.3g}"
    return None


def reference(inputs: list[Any], mask: Any, case: Case) -> list[Any]:
    """The result and the gradients of its sum, in float32 or wider."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    wide = torch.promote_types(inputs[0].dtype, torch.float32)
    leaves = [x.to(wide, copy=True).requires_grad_() for x in inputs]
    mask = mask.to(wide) if case.mask == "float" else mask
    options = {"is_causal": case.mask == "causal", "enable_gqa": case.size[0] != case.size[1]}
    with sdpa_kernel(SDPBackend.MATH):
        out = torch.nn.functional.scaled_dot_product_attention(*leaves, mask, **options)
    return [out.detach(), *torch.autograd.grad(out.sum(), leaves)]


def ours(library: str, inputs: list[Any], mask: Any, case: Case) -> list[Any]:
    """The same of xo.attention, as tensors; without the gradients where the library has none."""
    options: dict[str, Any] = {"causal": "top_left"} if case.mask == "causal" else {}
    if mask is not None:
        options["mask" if case.mask == "bool" else "bias"] = xo.convert(mask, library, copy=True)
    arrays = [xo.convert(x, library, copy=True) for x in inputs]
    found = [xo.attention(*arrays, **options)]
    if library == "torch":
        import torch

        leaves = [x.requires_grad_() for x in arrays]
        found += torch.autograd.grad(xo.attention(*leaves, **options).sum(), leaves)
    elif library == "jax":
        import jax

        found += jax.grad(lambda *x: jax.numpy.sum(xo.attention(*x, **options)), argnums=(0, 1, 2))(*arrays)
    return [xo.convert(xo.compute(x), "torch", copy=True).detach() for x in found]
