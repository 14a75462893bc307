"""The fused kernels of GPUs and TPUs and their derivatives: compiled for these devices, not run on them yet.

JAX's functions fail for forward-mode derivatives, second derivatives, and (up to 0.11.0, jax#38495) vmap over some
arguments. Here they are wrapped in primitives that support all of these: an axis of vmap is merged into the batch, the
gradient is the kernel's, and derivatives that a kernel lacks are those of attention by blocks. A primitive is lowered
for the platform that runs it: to cuDNN on CUDA, to a kernel in Pallas on TPUs, to attention by blocks elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir

from xarrayops.plugin import Array, Attention
from xarrayops_backends.jax._attention.blocks import blocked
from xarrayops_backends.jax._devices import _on_platform
from xarrayops_backends.jax._dtypes import _CONFIG

Arrays = tuple[Array, ...]


class Form(NamedTuple):
    """The arguments of the kernels that are not arrays, and the platforms whose kernels serve the call."""

    scale: float
    causal: bool
    left: int | None
    platforms: tuple[str, ...] = ("cuda",)


def _cudnn(q: Array, k: Array, v: Array, *, form: Form) -> Array:
    """cuDNN's attention of (B, H, L, D) arrays, on CUDA; its public function would transpose all arrays in memory."""
    with suppress(ImportError, TypeError):  # private: a later version may have another one
        from jax._src.cudnn.fused_attention_stablehlo import MaskType, dot_product_attention

        found: Array = dot_product_attention(
            *(q, k, v),
            scale=form.scale,
            mask_type=MaskType.CAUSAL if form.causal else MaskType.NO_MASK,
            sliding_window_length=None if form.left is None else form.left + 1,
            qkv_layout="BNTH",
        )
        return found
    window = None if form.left is None else (form.left, 0)
    out = jax.nn.dot_product_attention(
        *(x.swapaxes(1, 2) for x in (q, k, v)),
        scale=form.scale,
        is_causal=form.causal,
        local_window_size=window,
        implementation="cudnn",
    )
    return out.swapaxes(1, 2)


def _flash(q: Array, k: Array, v: Array, *, form: Form) -> Array:
    """JAX's attention in Pallas, on TPUs. It has no groups of heads."""
    from jax.experimental.pallas.ops.tpu.flash_attention import BlockSizes, flash_attention

    rows, columns = (next(n for n in (512, 256, 128) if x.shape[2] % n == 0) for x in (q, k))
    names = [each.name for each in fields(BlockSizes) if each.name != "block_b"]
    sizes = BlockSizes(block_b=1, **{name: rows if "block_q" in name else columns for name in names})
    if q.shape[1] != k.shape[1]:
        k, v = (jnp.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    found: Array = flash_attention(q, k, v, causal=form.causal, sm_scale=form.scale, block_sizes=sizes)
    return found


def _lowerable(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, traced for Pallas: without 64-bit types, and with the precision of products of float32."""

    def traced(*arrays: Array, form: Form) -> Any:
        precision = None if arrays[0].dtype == jnp.bfloat16 else _CONFIG.jax_default_matmul_precision or "highest"
        with jax.enable_x64(False), jax.default_matmul_precision(precision):
            return function(*arrays, form=form)

    return traced


def _plain(q: Array, k: Array, v: Array, *, form: Form) -> Array:
    """Attention by blocks, on any platform and with all derivatives."""
    right = 0 if form.causal else None
    return blocked(Attention(q, k, v, form.scale, left=form.left, right=right))[0]


def _tangent(*given: Array, form: Form) -> Array:
    """The directional derivative along tangents of q, k and v."""
    return jax.jvp(partial(_plain, form=form), given[:3], given[3:])[1]


def _gradients(attend: Callable[..., Array], q: Array, k: Array, v: Array, d_out: Array, *, form: Form) -> Arrays:
    """The gradients of q, k and v, by the function ``attend``."""
    return jax.vjp(partial(attend, form=form), q, k, v)[1](d_out)


def _primitive(
    name: str, results: Sequence[int], plain: Callable[..., Any], kernels: dict[str, Callable[..., Any]]
) -> Any:
    """A primitive of (B, H, L, D) arrays, and the function that binds it.

    ``results`` has, for each result, the index of the argument with its shape and dtype. The derivatives are those of
    ``plain``. The program to lower is a parameter of the primitive, because JAX must see that its kernels need the
    devices.
    """
    primitive = Primitive(f"xarrayops_{name}")
    primitive.multiple_results = True

    def either(*arrays: Array, form: Form) -> Any:
        branches = {name: partial(kernel, form=form) for name, kernel in kernels.items() if name in form.platforms}
        return _on_platform(None, *arrays, default=partial(plain, form=form), **branches)

    def bind(*arrays: Array, form: Form) -> list[Array]:
        program = jax.make_jaxpr(partial(either if kernels else plain, form=form))(*arrays)
        return primitive.bind(*arrays, form=form, program=program)  # type: ignore[no-untyped-call]

    def differentiated(arrays: Arrays, tangents: Arrays, *, form: Form, program: Any) -> Any:
        # Symbolic zeros are not arrays, which jax.jvp needs.
        tangents = tuple(map(ad.instantiate_zeros, tangents))
        found = jax.jvp(partial(plain, form=form), arrays, tangents)
        return tuple(list(x) if isinstance(x, tuple) else [x] for x in found)

    def batched(arrays: Arrays, axes: Sequence[Any], *, form: Form, program: Any) -> tuple[list[Array], list[int]]:
        extent = next(x.shape[axis] for x, axis in zip(arrays, axes, strict=True) if axis is not None)
        joined = []
        for x, axis in zip(arrays, axes, strict=True):
            x = jnp.broadcast_to(x, (extent, *x.shape)) if axis is None else jnp.moveaxis(x, axis, 0)
            # The axis of vmap becomes part of the batch, so vmap runs one kernel and not one for each element.
            joined.append(x.reshape(extent * x.shape[1], *x.shape[2:]))
        found = bind(*joined, form=form)
        return [x.reshape(extent, x.shape[0] // extent, *x.shape[1:]) for x in found], [0] * len(found)

    def run(*arrays: Array, form: Form, program: Any) -> Any:
        return jaxpr_as_fun(program)(*arrays)

    primitive.def_abstract_eval(lambda *avals, form, program: [avals[n] for n in results])  # type: ignore[no-untyped-call]
    # Outside of jit a primitive needs an implementation.
    primitive.def_impl(jax.jit(run, static_argnames=("form", "program")))  # type: ignore[no-untyped-call]
    ad.primitive_jvps[primitive] = differentiated
    batching.primitive_batchers[primitive] = batched
    mlir.register_lowering(primitive, mlir.lower_fun(run, multiple_results=True))
    return primitive, bind


_attention, _attend = _primitive("attention", [0], _plain, {"cuda": _cudnn, "tpu": _lowerable(_flash)})
_along, _derive = _primitive("attention_tangent", [0], _tangent, {})
_, _pull_back = _primitive(
    "attention_gradients",
    [0, 1, 2],
    partial(_gradients, _plain),
    {"cuda": partial(_gradients, _cudnn), "tpu": _lowerable(partial(_gradients, _flash))},
)


def _linear(arrays: Arrays, tangents: Arrays, *, form: Form, program: Any) -> tuple[list[Array], list[Array]]:
    """The derivative as one linear primitive, so that a kernel can serve its transpose."""
    # The tangent is linear in the tangents of q, k and v. JAX transposes it, by `_transposed`, for the gradient.
    return _attend(*arrays, form=form), _derive(*arrays, *map(ad.instantiate_zeros, tangents), form=form)


def _transposed(d_outs: Sequence[Array], *given: Any, form: Form, program: Any) -> list[Array | None]:
    """The gradients by the kernel. The forward pass is computed again for its residuals."""
    d_out = ad.instantiate_zeros(d_outs[0])  # type: ignore[no-untyped-call]
    gradients = _pull_back(*given[:3], d_out, form=form)
    # The first three are the primal arrays, which have no cotangent here.
    wanted = map(ad.is_undefined_primal, given[3:])
    return [None] * 3 + [d if want else None for d, want in zip(gradients, wanted, strict=True)]


ad.primitive_jvps[_attention] = _linear
ad.primitive_transposes[_along] = _transposed


@partial(jax.jit, static_argnums=3)
def attended(q: Array, k: Array, v: Array, form: Form) -> Array:
    """One compiled program."""
    return _attend(q, k, v, form=form)[0]
