"""unique: the distinct elements or slices of an array, with NumPy's options."""

from __future__ import annotations

from typing import Any, Literal, overload

from xarrayops._core.dispatch.errors import FAILURES, add_call
from xarrayops._core.dispatch.lookup import resolve, resolved, table
from xarrayops._core.dispatch.refused import NotGiven, Refused, shows_own_parameters, wrong_call
from xarrayops._ops.explained import explain_call
from xarrayops._ops.explanation import Explanation
from xarrayops._ops.verb import Verb
from xarrayops.plugin.arrays import ArrayT

_unique = table("unique", globals(), "_unique")


@overload
def unique(
    x: ArrayT,
    /,
    *,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
) -> ArrayT: ...
@overload
def unique(
    x: ArrayT,
    /,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> ArrayT | tuple[ArrayT, ...]: ...
@shows_own_parameters
def unique(
    x: ArrayT,
    extra: Refused = NotGiven,
    /,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    equal_nan: Refused = None,
    sorted: Refused = None,
    dim: Refused = None,
) -> ArrayT | tuple[ArrayT, ...]:
    """The sorted distinct elements of x, or its distinct slices along an axis.

    Parameters
    ----------
    x : array
        Of any shape.
    return_index : bool
        Also return the index of the first occurrence of each value.
    return_inverse : bool
        Also return the index of each element's value: in the shape of x, or one for each slice along ``axis``.
    return_counts : bool
        Also return the number of occurrences of each value.
    axis : int, optional
        Compare slices along this axis, in lexicographic order. By default the elements are compared.

    Returns
    -------
    array or tuple of arrays
        The values, then the requested index, inverse and counts. The values have the dtype of x.

    Raises
    ------
    Unsupported
        Under ``jax.jit``, where a shape cannot depend on values. Dask stays lazy: sizes are NaN until computed.

    Notes
    -----
    As in NumPy, complex numbers sort by their real part, then by their imaginary part. NaNs come last. All NaNs count
    as one value, the first one; NumPy's own function may keep another of several complex NaNs. With ``axis`` each slice
    of a matrix with a NaN is distinct. The functions of the standard (`unique_values`, `unique_counts`,
    `unique_inverse`, `unique_all`) keep every NaN. Law: without ``axis``, the values are ``reshape(x, -1)[index]``.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.unique(np.asarray([3, 1, 3]), return_counts=True)
    (array([1, 3]), array([1, 2]))
    """
    if extra is not NotGiven or equal_nan is not None or sorted is not None or dim is not None:
        raise wrong_call("unique", locals())
    if axis in (0, -1) and getattr(x, "ndim", 0) == 1:  # the slices are elements
        axis = None
    try:
        f = _unique[type(x)]
    except KeyError:
        f = getattr(resolved, resolve("unique", type(x)))
    try:
        return f(x, return_index=return_index, return_inverse=return_inverse, return_counts=return_counts, axis=axis)
    except FAILURES as error:
        add_call(error, "unique", x)
        raise


def explain_unique(verb: str, /, x: ArrayT, **options: Any) -> Explanation:
    """Explain `unique`, with its defaults: the hook has none."""
    defaults = {"return_index": False, "return_inverse": False, "return_counts": False, "axis": None}
    return explain_call(verb, x, **defaults | options)


VERBS = (Verb("unique", unique, hook="unique", explain=explain_unique),)
