"""grad and value_and_grad: the gradient of a function that returns a number."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import index
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._ops.transformations.arguments import arrays_of, form_of, library_of, name_of, rebuilt
from xarrayops._ops.transformed import transformed
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.dtypes import FLOATING_DTYPES
from xarrayops.plugin.nested import arrays_in, is_array

Positions = int | tuple[int, ...]


def value_and_grad(
    function: Callable[..., Any], /, argnums: Positions = 0, *, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """A function that returns the value of a function and its gradient, like `jax.value_and_grad`.

    PyTorch differentiates by autograd, and inside `vmap` and ``torch.func`` by ``torch.func``; JAX by
    ``jax.value_and_grad``. Calls may be nested, for derivatives of higher order. Arrays in closures are constants of
    this gradient. On PyTorch the results stay connected to outer tensors that require a gradient, as with
    ``torch.func``; inside `no_grad` they do not.

    Parameters
    ----------
    function : callable
        Its value is a real floating-point number: a 0-d array. It must not write to its arguments.
    argnums : int or tuple of ints
        The positions of the arguments to differentiate with respect to: pytrees of arrays.
    has_aux : bool
        Whether the function returns a pair of its value and other results, which have no gradient.

    Returns
    -------
    callable
        Takes the arguments of the function, and returns the value, or the pair, and the gradient: a pytree like the
        argument, with an array of the same shape, dtype and device for each array; a tuple if ``argnums`` is a tuple.
        It is zero where the value does not depend on an array. Values in the argument that are not arrays are returned
        unchanged.

    Raises
    ------
    Unsupported
        By a call: the library of the arrays does not differentiate, such as NumPy; an array is complex: PyTorch and JAX
        define its gradient differently.
    TypeError, ValueError, IndexError
        By a call: the arguments have no array; an array has integers; the value is not a real floating-point number;
        ``argnums`` is out of bounds, or names an argument twice.

    Examples
    --------
    >>> import torch
    >>> import xarrayops as xo
    >>> value, gradient = xo.value_and_grad(lambda x: xo.sum(xo.square(x)))(torch.tensor([1.0, 2.0]))
    >>> float(value), gradient.tolist()
    (5.0, [2.0, 4.0])
    """
    both = _differentiated("value_and_grad", function, argnums, has_aux=has_aux)
    return transformed(both, function, partial(value_and_grad, function, argnums, has_aux=has_aux))


def grad(function: Callable[..., Any], /, argnums: Positions = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of a function, like `jax.grad`.

    With ``has_aux`` it returns the gradient and the other results. Otherwise it is like `value_and_grad`.

    Examples
    --------
    >>> import torch
    >>> import xarrayops as xo
    >>> cube = lambda x: x**3
    >>> float(xo.grad(xo.grad(cube))(torch.tensor(2.0)))
    12.0
    """
    both = _differentiated("grad", function, argnums, has_aux=has_aux)

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return transformed(differentiated, function, partial(grad, function, argnums, has_aux=has_aux))


def _differentiated(
    verb: str, function: Callable[..., Any], argnums: Positions, *, has_aux: bool
) -> Callable[..., tuple[Any, Any]]:
    """`value_and_grad`, for messages that name this verb."""
    given = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    asked, is_one = tuple(index(each) for each in given), given is not argnums
    call = f"xo.{verb}({name_of(function)})"

    @explaining_arrays(verb)
    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        positions = _positions(call, asked, len(args))
        chosen = [args[position] for position in positions]
        backend = library_of(verb, (args, kwargs))
        arrays = arrays_of(chosen)
        if backend is None or not arrays:
            raise TypeError(f"{call}: no argument to differentiate by has an array")
        for position, value in zip(positions, chosen, strict=True):
            for name, x in arrays_in(value, f"argument {position}"):
                _require_real(call, backend, name, x)
        form: list[Any] = []

        def of_arrays(*arrays: Array) -> tuple[Array, tuple[Array, ...]]:
            taken = list(args)
            for position, value in zip(positions, rebuilt(chosen, arrays), strict=True):
                taken[position] = value
            result = function(*taken, **kwargs)
            if has_aux and not (isinstance(result, (tuple, list)) and len(result) == 2):
                raise TypeError(f"{call}: with has_aux=True the function must return a pair")
            value, others = result if has_aux else (result, None)
            _require_number(call, backend, value)
            form[:] = [form_of(others)]
            return value, arrays_of(others)

        value, others, found = backend.functions["value_and_grad"](of_arrays, arrays)
        gradients = rebuilt(chosen, found)
        return (value, rebuilt(form[0], others)) if has_aux else value, gradients[0] if is_one else (*gradients,)

    return differentiated


def _positions(call: str, asked: tuple[int, ...], count: int) -> list[int]:
    """The non-negative positions of the arguments to differentiate with respect to."""
    for position in asked:
        if not -count <= position < count:
            raise IndexError(f"{call}: argnums has {position}, but the call has {count} positional arguments")
    positions = [position % count for position in asked]
    if len(set(positions)) < len(positions):
        raise ValueError(f"{call}: argnums names an argument twice: {asked}")
    return positions


def _require_real(call: str, backend: Backend, name: str, x: Array) -> None:
    dtype = backend.functions["dtype_name"](x.dtype)
    if dtype is not None and dtype.startswith("complex"):
        raise Unsupported(
            f"{call}: {name} is {dtype}, and libraries define complex gradients differently. Instead: a "
            f"function of the real and the imaginary part"
        )
    if dtype not in FLOATING_DTYPES:
        raise TypeError(f"{call}: {name} is {dtype}; gradients require floating-point arrays")


def _require_number(call: str, backend: Backend, value: Any) -> None:
    """Raise unless the value of the function is a real floating-point number."""
    if not is_array(value):
        raise TypeError(f"{call}: the function returned {type(value).__name__}, not a 0-d array")
    dtype = backend.functions["dtype_name"](value.dtype)
    if tuple(value.shape) != () or dtype not in FLOATING_DTYPES:
        raise ValueError(
            f"{call}: the function returned {dtype} of shape {tuple(value.shape)}; the value must be a floating-point "
            f"number, of shape (). Instead: its sum or mean"
        )
