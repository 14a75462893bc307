"""Transformations of functions by JAX, and arrays that are opaque to transformations and the compiler."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._compiler import _jit, _with_options
from xarrayops_backends.jax._devices import _on_platform

_jax: Any = jax  # untyped: JAX does not annotate these functions
Arrays = tuple[Array, ...]


def vjp(function: Callable[..., Arrays], arrays: Arrays, cotangents: Arrays, /) -> Arrays:
    """`jax.vjp`."""
    with _within_mesh(arrays):
        _, pull = _jax.vjp(function, *arrays)
        return tuple(pull(tuple(cotangents)))


def _within_mesh(arrays: Arrays) -> AbstractContextManager[Any]:
    """The mesh of the arrays if it has explicit axes: JAX takes the derivative of a sum for one on a single device."""
    mesh = _shards.explicit_mesh(arrays)
    return nullcontext() if mesh is None else _jax.set_mesh(mesh)


def vmap(function: Callable[..., Any], /) -> Callable[..., Any]:
    """`jax.vmap`."""
    return _jax.vmap(function)


class _Thread(threading.local):
    """The number of functions that this thread differentiates."""

    depth = 0


_thread = _Thread()


def value_and_grad(function: Callable[..., tuple[Array, Arrays]], arrays: Arrays, /) -> tuple[Array, Arrays, Arrays]:
    """`jax.value_and_grad`."""

    def of_all(given: Arrays) -> tuple[Array, Arrays]:
        return function(*given)

    _thread.depth += 1
    try:
        with _within_mesh(arrays):
            (value, others), found = _jax.value_and_grad(of_all, has_aux=True)(arrays)
    finally:
        _thread.depth -= 1
    return value, others, found


def checkpoint(function: Callable[..., Arrays], arrays: Arrays, /) -> Arrays:
    """As `jax.checkpoint`, but on CPUs the gradient is computed in a branch.

    XLA's compiler for CPUs drops the barriers by which `jax.checkpoint` separates the two computations, and then stores
    the values of the first one. It keeps a branch on the incoming gradient, which cannot run before that is known.
    """
    traced = _jax.make_jaxpr(function)(*arrays)  # arrays of enclosing functions are arguments of its program

    def of_all(*given: Array) -> Arrays:
        captured = len(traced.consts)
        return tuple(_jax.core.eval_jaxpr(traced.jaxpr, given[:captured], *given[captured:]))

    given = (*traced.consts, *arrays)
    return _in_a_branch(of_all, list(map(_has_gradient, given)))(*given)


def _has_gradient(x: Any) -> bool:
    """Whether an array has a gradient."""
    return jnp.issubdtype(x.dtype, jnp.inexact)


def _in_a_branch(function: Callable[..., Arrays], is_real: list[bool]) -> Callable[..., Arrays]:
    """The function with a gradient that computes the function again, in a branch."""

    def merged(real: Arrays, others: Arrays) -> Arrays:
        reals, rest = iter(real), iter(others)
        return tuple(next(reals) if each else next(rest) for each in is_real)

    def of_real(others: Arrays, real: Arrays) -> Arrays:
        return tuple(filter(_has_gradient, function(*merged(real, others))))

    def gradients(real: Arrays, others: Arrays, cotangents: Arrays) -> Arrays:
        _, pull = _jax.vjp(partial(of_real, others), real)
        (found,) = pull(cotangents)
        return tuple(found)

    def zeros(real: Arrays, *_: Arrays) -> Arrays:
        return tuple(map(jnp.zeros_like, real))

    def in_a_branch(known: Array, *given: Arrays) -> Arrays:
        found: Arrays = _jax.lax.cond(_always(known), gradients, zeros, *given)
        return found

    def behind_a_barrier(_: Array, *given: Arrays) -> Arrays:
        return gradients(*_jax.lax.optimization_barrier(given))

    forwards, backwards = _with_options(function), _with_options(gradients)

    def forward(*arrays: Array) -> tuple[Arrays, Arrays]:
        return forwards(*arrays), arrays

    def backward(arrays: Arrays, cotangents: Arrays) -> tuple[Array | None, ...]:
        real = tuple(x for x, each in zip(arrays, is_real, strict=True) if each)
        others = tuple(x for x, each in zip(arrays, is_real, strict=True) if not each)
        incoming = tuple(filter(_has_gradient, cotangents))
        known = next((g for g in incoming if g.size), None)
        if known is None:
            return tuple(jnp.zeros_like(x) if each else None for x, each in zip(arrays, is_real, strict=True))
        is_compiled = isinstance(known, jax.core.Tracer)  # outside of compilers nothing is reordered
        found = iter(
            _on_platform(None, known, real, others, incoming, cpu=in_a_branch, default=behind_a_barrier)
            if is_compiled
            else backwards(real, others, incoming)
        )
        return tuple(next(found) if each else None for each in is_real)

    served = _jax.custom_vjp(forwards)
    served.defvjp(forward, backward)
    return cast("Callable[..., Arrays]", served)


def _always(x: Array) -> Array:
    """True, as a value that depends on x for the compiler."""
    x = jnp.real(x.reshape(-1)[0])
    bits = _jax.lax.bitcast_convert_type(x, f"uint{8 * x.dtype.itemsize}")
    return (bits | bits.dtype.type(1)) != 0


def no_grad() -> AbstractContextManager[Any]:
    """Raise inside a gradient: JAX differentiates everything that it traces."""
    if _thread.depth:
        raise Unsupported(
            "xo.no_grad: JAX differentiates everything inside the function that xo.grad differentiates. Instead: "
            "jax.lax.stop_gradient(x)"
        )
    return nullcontext()


@partial(_jit, static_argnums=1)
def opaque(x: Array, shape: tuple[int, ...], /) -> Array:
    """XLA replaces a quotient x / y with a broadcast y by the product of x and 1 / y."""
    return _jax.lax.optimization_barrier(_jax.lax.stop_gradient(jnp.broadcast_to(x, shape)))
