"""Operations of users in functions that JAX transforms: kernels with the derivatives and batches of the reference."""

from __future__ import annotations

from collections.abc import Callable
from threading import local
from typing import Any

import jax

from xarrayops.plugin import Array, CallTests, Operation, options_of, written_options

_jax: Any = jax  # untyped: JAX does not annotate these functions
CALL_TESTS = CallTests(eager_array="not isinstance({x}, _Tracer)", names={"_Tracer": jax.core.Tracer})


class _References(local):
    """Whether operations run their references in this thread: an export is loaded where the kernels may not exist."""

    wanted = False


references = _References()


def carry_operation(operation: Operation, /) -> Callable[..., Any]:
    """The operation for tracers; the reference alone if the operation has neither a kernel nor a gradient."""
    if not operation.has_kernel and operation.gradient is None:
        return operation.reference
    made: dict[tuple[str, tuple[int, ...]], Callable[..., Any]] = {}

    def call(*arrays: Array | None, **options: Any) -> Any:
        if references.wanted:
            return operation.reference(*arrays, **options)
        places = tuple(k for k, x in enumerate(arrays) if x is not None)
        key = written_options(options), places
        if key not in made:
            made[key] = _transformable(operation, key[0], places)
        return made[key](*(arrays[k] for k in places))

    return call


def _transformable(operation: Operation, written: str, places: tuple[int, ...]) -> Callable[..., Any]:
    """A function of the given arrays with rules for batches and derivatives."""
    options = options_of(written)

    def filled(given: tuple[Array, ...]) -> list[Array | None]:
        arrays: list[Array | None] = [None] * len(operation.arrays)
        for place, x in zip(places, given, strict=True):
            arrays[place] = x
        return arrays

    def reference(*given: Array) -> Any:
        return operation.reference(*filled(given), **options)

    def plain(*given: Array) -> Any:
        return operation.serve(*filled(given), **options)

    def batched(size: int, in_batched: list[bool], *given: Array) -> Any:
        found = _jax.vmap(reference, in_axes=tuple(0 if each else None for each in in_batched), axis_size=size)(*given)
        return found, _jax.tree.map(lambda _: True, found)

    served = _jax.custom_batching.custom_vmap(plain)
    served.def_vmap(batched)
    differentiable: Any
    if operation.gradient is None:
        differentiable = _jax.custom_jvp(served)
        differentiable.defjvp(lambda values, tangents: _jax.jvp(reference, values, tangents))
        return differentiable

    gradient = operation.gradient

    def backward(given: tuple[Array, ...], g: Any) -> tuple[Any, ...]:
        found = gradient(g, *filled(given), **options)
        listed = found if isinstance(found, (tuple, list)) else (found,)
        return tuple(listed[k] for k in places)

    differentiable = _jax.custom_vjp(served)
    differentiable.defvjp(lambda *given: (served(*given), given), backward)
    return differentiable
