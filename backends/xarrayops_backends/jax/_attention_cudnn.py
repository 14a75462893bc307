"""cuDNN's fused attention, by the only function that JAX has for it; no GPU has run this file yet.

JAX's own function raises where it meets forward-mode derivatives, second derivatives, or (up to 0.11.0, jax#38495) vmap
of some of its arguments. Here it is inside of primitives that know all of these: an axis of vmap joins the batch, the
gradient is cuDNN's, and derivatives that cuDNN lacks are those of the blocks. A primitive is lowered for the platform
that will run it: to cuDNN on CUDA, to the blocks elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir

from xarrayops.plugin import Array, Attention, Call, has_band, has_one_offset
from xarrayops_backends.jax._attention_blocks import blocked
from xarrayops_backends.jax._devices import _kind, _natives, is_lazy

Arrays = tuple[Array, ...]


class Form(NamedTuple):
    """The arguments of cuDNN beside the arrays."""

    scale: float
    causal: bool
    left: int | None


def cudnn(a: Attention, /) -> tuple[Array, None]:
    """Serve what `cudnn_refusal` lets pass."""
    return _compiled(a.q, a.k, a.v, Form(a.scale, has_band(a), a.left)), None


def cudnn_refusal(call: Call, /) -> str | None:
    """What JAX or cuDNN does not serve, and what may leave a query without keys, whose mean cuDNN would give."""
    (a,) = call.args
    kinds, capability = _places(a)
    size = a.q.shape[3]
    if kinds != {"cuda"} or capability < 8:
        return f"it serves CUDA from compute capability 8.0 on, not {', '.join(sorted(kinds))}"
    if a.q.dtype not in (jnp.float16, jnp.bfloat16):
        return f"it serves float16 and bfloat16, not {a.q.dtype}"
    if size > 128 or size % 8 or a.v.shape[3] != size:
        return f"it serves heads of one size, a multiple of 8 up to 128, not {size} and {a.v.shape[3]}"
    if 0 in a.q.shape or 0 in a.k.shape:
        return "it serves no empty arrays"
    for name in ("mask", "bias", "softcap", "q_lengths", "kv_lengths"):
        if getattr(a, name) is not None:
            return f"it serves no {name}"
    if a.return_lse:
        return "JAX would round its logsumexp to the dtype of the keys"
    if a.scale <= 0:
        return "it may multiply the -inf of what it hides by the scale"
    if has_band(a) and not (a.right == 0 and has_one_offset(a) and a.offset == 0):
        return "of bands it serves causal ones from the top left, and windows to their left"
    if a.left is not None and a.q.shape[2] - a.left > a.k.shape[2]:
        return "the window leaves some queries without keys"
    return None


def _places(a: Attention) -> tuple[set[str], float]:
    """The kinds of device that hold the arrays, and the least compute capability.

    Where a tracer will be computed is open, and decided when it is lowered: CUDA, where this process has such a device.
    """
    held = [d for x in (a.q, a.k, a.v) if not is_lazy(x) for d in x.devices()]
    if not held:
        everywhere = _natives()
        held = [d for d in everywhere if _kind(d) == "cuda"] or everywhere
    return {_kind(d) for d in held}, min(_capability(d) for d in held)


def _capability(device: Any) -> float:
    """The compute capability of a CUDA device; 0 for others, of which AMD's call themselves "gfx942"."""
    found = re.fullmatch(r"\d+\.\d+", str(getattr(device, "compute_capability", "")))
    return float(found[0]) if found else 0.0


def _fused(q: Array, k: Array, v: Array, *, form: Form) -> Array:
    """On CUDA, of (B, H, L, D) arrays."""
    window = None if form.left is None else (form.left, 0)
    out = jax.nn.dot_product_attention(
        *(x.swapaxes(1, 2) for x in (q, k, v)),
        scale=form.scale,
        is_causal=form.causal,
        local_window_size=window,
        implementation="cudnn",
    )
    return out.swapaxes(1, 2)


def _plain(q: Array, k: Array, v: Array, *, form: Form) -> Array:
    """On any platform, with all derivatives."""
    right = 0 if form.causal else None
    return blocked(Attention(q, k, v, form.scale, left=form.left, right=right))[0]


def _tangent(*given: Array, form: Form) -> Array:
    """The derivative along tangents of q, k and v."""
    return jax.jvp(partial(_plain, form=form), given[:3], given[3:])[1]


def _gradients(attend: Callable[..., Array], q: Array, k: Array, v: Array, d_out: Array, *, form: Form) -> Arrays:
    """The gradients of q, k and v, by whatever computes attention."""
    found: Arrays = jax.vjp(partial(attend, form=form), q, k, v)[1](d_out)
    return found


def _primitive(name: str, results: Sequence[int], plain: Callable[..., Any], fused: Callable[..., Any]) -> Any:
    """A primitive of arrays (B, H, L, D), whose results are like those of its arguments, and what binds it.

    Its derivatives are plain's. The program to be lowered is among its parameters, where JAX finds that cuDNN's part of
    it must know the devices.
    """
    primitive = Primitive(f"xarrayops_{name}")
    primitive.multiple_results = True

    def either(*arrays: Array, form: Form) -> Any:
        return jax.lax.platform_dependent(*arrays, cuda=partial(fused, form=form), default=partial(plain, form=form))

    def bind(*arrays: Array, form: Form) -> list[Array]:
        program = jax.make_jaxpr(partial(either if fused is not plain else plain, form=form))(*arrays)
        found: list[Array] = primitive.bind(*arrays, form=form, program=program)  # type: ignore[no-untyped-call]
        return found

    def differentiated(arrays: Arrays, tangents: Arrays, *, form: Form, program: Any) -> Any:
        tangents = tuple(map(ad.instantiate_zeros, tangents))
        found = jax.jvp(partial(plain, form=form), arrays, tangents)
        return tuple(list(x) if isinstance(x, tuple) else [x] for x in found)

    def batched(arrays: Arrays, axes: Sequence[Any], *, form: Form, program: Any) -> tuple[list[Array], list[int]]:
        extent = next(x.shape[axis] for x, axis in zip(arrays, axes, strict=True) if axis is not None)
        joined = []
        for x, axis in zip(arrays, axes, strict=True):
            x = jnp.broadcast_to(x, (extent, *x.shape)) if axis is None else jnp.moveaxis(x, axis, 0)
            joined.append(x.reshape(extent * x.shape[1], *x.shape[2:]))
        found = bind(*joined, form=form)
        return [x.reshape(extent, x.shape[0] // extent, *x.shape[1:]) for x in found], [0] * len(found)

    def run(*arrays: Array, form: Form, program: Any) -> Any:
        return jaxpr_as_fun(program)(*arrays)

    primitive.def_abstract_eval(lambda *avals, form, program: [avals[n] for n in results])  # type: ignore[no-untyped-call]
    primitive.def_impl(jax.jit(run, static_argnames=("form", "program")))  # type: ignore[no-untyped-call]
    ad.primitive_jvps[primitive] = differentiated
    batching.primitive_batchers[primitive] = batched
    mlir.register_lowering(primitive, mlir.lower_fun(run, multiple_results=True))
    return primitive, bind


_attention, _attend = _primitive("attention", [0], _plain, _fused)
_along, _derive = _primitive("attention_tangent", [0], _tangent, _tangent)
_, _pull_back = _primitive("attention_gradients", [0, 1, 2], partial(_gradients, _plain), partial(_gradients, _fused))


def _linear(arrays: Arrays, tangents: Arrays, *, form: Form, program: Any) -> tuple[list[Array], list[Array]]:
    """The derivative as one step, so that its transpose can be another kernel."""
    return _attend(*arrays, form=form), _derive(*arrays, *map(ad.instantiate_zeros, tangents), form=form)


def _transposed(d_outs: Sequence[Array], *given: Any, form: Form, program: Any) -> list[Array | None]:
    """The gradients, by cuDNN's own kernel; it computes the forward pass once more, for what that leaves for it."""
    d_out = ad.instantiate_zeros(d_outs[0])  # type: ignore[no-untyped-call]
    gradients = _pull_back(*given[:3], d_out, form=form)
    wanted = map(ad.is_undefined_primal, given[3:])
    return [None] * 3 + [d if want else None for d, want in zip(gradients, wanted, strict=True)]


ad.primitive_jvps[_attention] = _linear
ad.primitive_transposes[_along] = _transposed


@partial(jax.jit, static_argnums=3)
def _compiled(q: Array, k: Array, v: Array, form: Form) -> Array:
    """In one program, so that the transposes around cuDNN's kernel move nothing."""
    return _attend(q, k, v, form=form)[0]
