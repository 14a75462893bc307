"""vmap: turn a function of one item into a function of a batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._ops.transformations.arguments import arrays_of, form_of, library_of, name_of, rebuilt
from xarrayops._ops.transformed import transformed
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.nested import is_array, leaves

Axes = int | None | tuple[int | None, ...]


def vmap(function: Callable[..., Any], /, in_axes: Axes = 0, *, out_axes: int = 0) -> Callable[..., Any]:
    """Map a function over the items of a batch, all at once: `torch.func.vmap` or `jax.vmap`.

    Parameters
    ----------
    function : callable
        A function of one item. It returns a pytree of arrays, and must not write to its arguments. Branches on values
        are not possible.
    in_axes : int, None, or a tuple with one for each positional argument
        The batch axis of the arrays in an argument; None for an argument that is passed whole to all calls. Values that
        are not arrays, and keyword arguments, are always passed whole.
    out_axes : int
        The batch axis of the results.

    Returns
    -------
    callable

    Raises
    ------
    Unsupported
        By a call: the library of the arrays does not transform functions, such as NumPy.
    TypeError, ValueError
        By a call: the number of entries of ``in_axes`` differs from the number of arguments; no array has a batch axis;
        the numbers of items differ; an axis is out of bounds; the function does not return arrays.

    Examples
    --------
    >>> import torch
    >>> import xarrayops as xo
    >>> xo.vmap(xo.linalg.vector_norm)(torch.tensor([[3.0, 4.0], [6.0, 8.0]])).tolist()
    [5.0, 10.0]
    """

    @explaining_arrays("vmap")
    def batched(*args: Any, **kwargs: Any) -> Any:
        call = f"xo.vmap({name_of(function)})"
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        if len(axes) != len(args):
            raise ValueError(f"{call}: in_axes has {len(axes)} entries for {len(args)} positional arguments")
        backend = library_of("vmap", (args, kwargs))
        mapped = [value for value, axis in zip(args, axes, strict=True) if axis is not None]
        chosen = [axis for value, axis in zip(args, axes, strict=True) for _ in arrays_of(value) if axis is not None]
        arrays = arrays_of(mapped)
        if backend is None or not arrays:
            raise TypeError(f"{call}: no argument has an array with an axis of items")
        move = backend.functions["moveaxis"]
        items = [move(x, _axis(call, x, axis), 0) for x, axis in zip(arrays, chosen, strict=True)]
        if len({x.shape[0] for x in items}) != 1:
            raise ValueError(f"{call}: the numbers of items differ: {[x.shape[0] for x in items]}")
        form: list[Any] = []

        def of_items(*given: Array) -> tuple[Array, ...]:
            replaced = iter(rebuilt(mapped, given))
            taken = (value if axis is None else next(replaced) for value, axis in zip(args, axes, strict=True))
            result = function(*taken, **kwargs)
            if not all(map(is_array, leaves(result))):
                raise TypeError(f"{call}: the function must return arrays, not {type(result).__name__}")
            form[:] = [form_of(result)]
            return arrays_of(result)

        results = backend.functions["vmap"](of_items)(*items)
        return rebuilt(form[0], (move(x, 0, out_axes) for x in results))

    return transformed(batched, function, partial(vmap, function, in_axes, out_axes=out_axes))


def _axis(call: str, x: Array, axis: int) -> int:
    """The batch axis, checked to be within bounds."""
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"{call}: the axis {axis} of items is out of bounds for an array with {x.ndim} axes")
    return axis
