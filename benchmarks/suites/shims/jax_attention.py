"""JAX's tests of dot_product_attention compare JAX's own function with xo.attention.

The tests call an implementation by name, which becomes ours, and the default, which stays JAX's. On another library a
callback computes the result, and on PyTorch the gradient too; NumPy and Dask have no gradients, so there JAX's own
reference gives them and only the results are compared.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import xarrayops as xo
from shims.routing import LIBRARY, route

REFERENCE = jax.nn.dot_product_attention
WITHOUT_BFLOAT16 = ("numpy", "dask")


def attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    implementation: Any = None,
    **options: Any,
) -> Any:
    """JAX's function by xo.attention; NotImplemented for the reference."""
    if implementation is None:
        return NotImplemented
    arrays = (query, key, value, bias, mask, query_seq_lengths, key_value_seq_lengths)
    if LIBRARY != "jax":
        return on_host(tuple(options.items()), *arrays)
    result = ours(options, *arrays)
    return (result[0], jax.lax.stop_gradient(result[1])) if isinstance(result, tuple) else result


def reference(
    options: dict[str, Any], q: Any, k: Any, v: Any, bias: Any, mask: Any, q_lengths: Any, kv_lengths: Any
) -> Any:
    """JAX's own function."""
    lengths = {"query_seq_lengths": q_lengths, "key_value_seq_lengths": kv_lengths}
    return REFERENCE(q, k, v, bias, mask, **lengths, **options)


def ours(options: dict[str, Any], q: Any, k: Any, v: Any, bias: Any, mask: Any, q_lengths: Any, kv_lengths: Any) -> Any:
    """xo.attention with JAX's options: causal means that query i sees the keys up to i."""
    result = xo.attention(
        *(q, k, v),
        layout="BSHD" if len(q.shape) == 4 else "SHD",
        mask=mask,
        bias=bias,
        causal="top_left" if options.get("is_causal") else False,
        window=options.get("local_window_size"),
        scale=options.get("scale"),
        q_lengths=q_lengths,
        kv_lengths=kv_lengths,
        return_lse=bool(options.get("return_residual")),
    )
    if not options.get("return_residual"):
        return result
    out, lse = result
    return out, xo.astype(xo.moveaxis(lse, -1, -2), out.dtype)


def _on_library(x: Any) -> Any:
    """An array of the tested library."""
    if x is None:
        return None
    values = np.asarray(x)
    if LIBRARY in WITHOUT_BFLOAT16 and values.dtype == jnp.bfloat16:
        values = values.astype(np.float32)
    return xo.convert(values, LIBRARY, copy=True)


def _computed(options: dict[str, Any], like: Any, *arrays: Any) -> Any:
    """The results as NumPy's arrays with the dtypes that JAX expects."""
    result = ours(options, *map(_on_library, arrays))
    return jax.tree.map(lambda x, y: _to_host(x).astype(y.dtype), result, like)


def _to_host(x: Any) -> Any:
    return np.asarray(xo.convert(xo.compute(x), "numpy"))


def _gradients(options: dict[str, Any], cotangents: Any, *arrays: Any) -> Any:
    """PyTorch's gradients of ours. In JAX the logsumexp has none."""
    import torch

    inputs = [_on_library(x) for x in arrays]
    leaves = [x.requires_grad_() for x in inputs if x is not None and x.is_floating_point()]
    out, cotangent = jax.tree.leaves(ours(options, *inputs))[0], jax.tree.leaves(cotangents)[0]
    return [_to_host(x) for x in torch.autograd.grad(out, leaves, _on_library(cotangent))]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def on_host(options: Any, *arrays: Any) -> Any:
    """Ours, in a callback of JAX's."""
    like = jax.eval_shape(partial(reference, dict(options)), *arrays)
    return jax.pure_callback(partial(_computed, dict(options), like), like, *arrays, vmap_method="sequential")


def _forward(options: Any, *arrays: Any) -> Any:
    return on_host(options, *arrays), arrays


def _backward(options: Any, arrays: Any, cotangents: Any) -> Any:
    if LIBRARY != "torch":
        return jax.vjp(partial(reference, dict(options)), *arrays)[1](cotangents)
    floating = [x is not None and jnp.issubdtype(x.dtype, jnp.floating) for x in arrays]
    like = [
        jax.ShapeDtypeStruct(x.shape, x.dtype) for x, is_floating in zip(arrays, floating, strict=True) if is_floating
    ]
    call = partial(_gradients, dict(options))
    found = iter(jax.pure_callback(call, like, cotangents, *arrays, vmap_method="sequential"))
    return tuple(
        next(found) if is_floating else None if x is None else np.zeros(x.shape, jax.dtypes.float0)
        for x, is_floating in zip(arrays, floating, strict=True)
    )


on_host.defvjp(_forward, _backward)


route(jax.nn, "dot_product_attention", attention)
