"""checkpoint and no_grad: store less for gradients."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Any, Self

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.resolved import is_traced
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._ops.random import streams
from xarrayops._ops.transformations.arguments import arrays_of, form_of, library_of, rebuilt
from xarrayops._ops.transformed import transformed
from xarrayops.plugin.arrays import Array


def checkpoint(function: Callable[..., Any], /) -> Callable[..., Any]:
    """Recompute the intermediate values of a function for gradients, instead of storing them.

    This takes less memory and more time: a stack of n layers, each a checkpoint, stores only the inputs of its layers.
    PyTorch uses `torch.utils.checkpoint`, JAX `jax.checkpoint` or, on CPUs, a branch. Other libraries store nothing for
    gradients, and the function is simply called. The second computation draws the same numbers from generators of
    `xarrayops.random`; generators with ``native=True`` raise, and on JAX a generator must be made from a key inside the
    function. PyTorch's global generator is reset too.

    Parameters
    ----------
    function : callable
        It must not write to its arguments, and must return the same for the same arguments. JAX traces it:
        arrays in its arguments have no values, other arguments keep theirs.

    Returns
    -------
    callable
        It has the arguments and results of the function.

    Raises
    ------
    Unsupported
        By a call: the arrays are of PyTorch/XLA; the function draws from a generator with ``native=True``.

    Notes
    -----
    Inside `torch.func` and `vmap` on PyTorch, the intermediate values are stored: PyTorch does not support checkpoints
    there. On CPUs JAX computes the gradient in a branch, because XLA would otherwise store the intermediate values of
    layers that follow each other; `jax.jvp` and `jax.jacfwd` of a checkpoint raise there.

    Source: T. Chen, B. Xu, C. Zhang and C. Guestrin, "Training deep nets with sublinear memory cost", 2016.

    Examples
    --------
    >>> import torch
    >>> import xarrayops as xo
    >>> layer = xo.checkpoint(lambda x: xo.tanh(xo.square(x)))
    >>> float(xo.grad(lambda x: xo.sum(layer(x)))(torch.tensor(0.0)))
    0.0
    """

    @explaining_arrays("checkpoint")
    def computed_again(*args: Any, **kwargs: Any) -> Any:
        backend = library_of("checkpoint", (args, kwargs))
        if backend is None:
            return function(*args, **kwargs)
        arguments = [args, kwargs]
        first: list[streams.Numbers] = []
        form: list[Any] = []

        def of_arrays(*given: Array) -> tuple[Array, ...]:
            positional, named = rebuilt(arguments, given)
            if first:
                with streams.repeated(first[0]):
                    result = function(*positional, **named)
            else:
                with streams.recorded() as numbers:
                    first.append(numbers)
                    result = function(*positional, **named)
            form[:] = [form_of(result)]
            return arrays_of(result)

        found = backend.functions["checkpoint"](of_arrays, arrays_of(arguments))
        return rebuilt(form[0], found)

    return transformed(computed_again, function, partial(checkpoint, function))


class no_grad:  # noqa: N801 - lower case, because it is used as a statement: with xo.no_grad()
    """Store nothing for gradients inside a ``with`` block or a decorated function.

    In PyTorch it is `torch.no_grad`: results computed inside are constants for gradients. The other libraries store
    nothing outside of a transformation. Inside a function that `grad` or `value_and_grad` differentiates on JAX the
    block raises, because JAX differentiates everything that it traces; inside `jax.grad` itself, and in a function that
    `jax.jit` has traced before, it has no effect.

    Raises
    ------
    Unsupported
        On entry, inside `grad` or `value_and_grad` on JAX.

    Examples
    --------
    >>> import torch
    >>> import xarrayops as xo
    >>> x = torch.ones(2, requires_grad=True)
    >>> with xo.no_grad():
    ...     y = xo.sum(x)
    >>> y.requires_grad
    False
    """

    def __init__(self) -> None:
        self._blocks: list[AbstractContextManager[Any]] = []

    def __enter__(self) -> Self:
        """Enter the block in every loaded library; in PyTorch while it traces a function."""
        if is_traced():
            self._blocks.append(find.named("torch").functions["no_grad"]())
            self._blocks[-1].__enter__()
            return self
        registry.load_imported()
        with ExitStack() as block:
            for hook in dict.fromkeys(backend.functions["no_grad"] for backend in registry.by_module.values()):
                block.enter_context(hook())
            self._blocks.append(block.pop_all())
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the block."""
        self._blocks.pop().__exit__(None, None, None)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a function: each call runs in such a block. It must not be a generator or a coroutine."""
        if isgeneratorfunction(function) or iscoroutinefunction(function) or isasyncgenfunction(function):
            raise TypeError(
                "xo.no_grad: the body of a generator or coroutine runs after the call. Instead: a with block inside it"
            )

        def inside(*args: Any, **kwargs: Any) -> Any:
            with no_grad():
                return function(*args, **kwargs)

        return transformed(inside, function, partial(self, function))
