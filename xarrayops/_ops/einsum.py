"""einsum: a function that the standard lacks and every supported library has."""

from __future__ import annotations

from xarrayops._core.dispatch.arguments import Several
from xarrayops._core.dispatch.errors import FAILURES, add_call
from xarrayops._core.dispatch.lookup import resolve, resolved, table
from xarrayops._ops.explained import explain_call
from xarrayops._ops.verb import Verb
from xarrayops.plugin.arrays import ArrayT

_einsum = table("einsum", globals(), "_einsum")


def einsum(subscripts: str, /, *operands: ArrayT) -> ArrayT:
    """Einstein summation in NumPy's notation.

    Parameters
    ----------
    subscripts : str
        For example ``"ij,jk->ik"``: the labels of each operand's axes, then the labels of the result's axes.
    *operands : array
        Arrays of one library.

    Returns
    -------
    array
        An array of the operands' library and promoted dtype. float32 is summed in float32, never in TF32, unless the
        user selected another precision in the library.

    Raises
    ------
    ValueError
        The subscripts do not match the operands.

    Notes
    -----
    Law: ``einsum("ij,jk->ik", a, b)`` equals ``matmul(a, b)`` up to rounding.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> xo.einsum("ii->", np.eye(3))
    np.float64(3.0)
    """
    key = (Several, *{*map(type, operands)})
    try:
        f = _einsum[key]
    except KeyError:
        if not isinstance(subscripts, str):
            raise TypeError(_of_lists(subscripts, *operands)) from None
        f = getattr(resolved, resolve("einsum", key))
    try:
        return f(subscripts, *operands)
    except FAILURES as error:
        add_call(error, "einsum", operands)
        raise


def _of_lists(*given: object) -> str:
    """The error message for a call with lists of axes, NumPy's other notation."""
    from string import ascii_letters  # needed for errors only

    lists = [each for each in given if isinstance(each, (list, tuple))]
    known = all(axis is ... or axis in range(len(ascii_letters)) for axes in lists for axis in axes)
    if not lists or not known:
        return f"xo.einsum: subscripts must be a string such as 'ij,jk->ik', not {type(given[0]).__name__}"
    labels = ["".join("..." if axis is ... else ascii_letters[axis] for axis in axes) for axes in lists]
    count = len(given) - len(lists)
    arrays = ", ".join(f"x{i}" for i in range(1, count + 1))
    result = "".join(f"->{label}" for label in labels[count:])
    return f"xo.einsum does not take lists of axes. Instead: xo.einsum({','.join(labels[:count]) + result!r}, {arrays})"


VERBS = (Verb("einsum", einsum, hook="einsum", explain=explain_call),)
