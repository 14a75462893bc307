"""cond, while_loop and scan: branches and loops that compilers can trace, with the same meaning in every library."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._ops.creation import asarray
from xarrayops._ops.transformations.arguments import arrays_of, library_of, name_of, rebuilt
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.nested import fill, is_array, leaves, leaves_as

Arrays = tuple[Array, ...]
_NUMBERS = (bool, int, float, complex)


@explaining_arrays("cond")
def cond(predicate: bool | Array, if_true: Callable[..., Any], if_false: Callable[..., Any], /, *operands: Any) -> Any:
    """``if_true(*operands)`` if the predicate is true, else ``if_false(*operands)``.

    If the predicate has no value yet, JAX uses `jax.lax.cond`, and PyTorch `torch.cond` inside `torch.compile`; both
    trace the two functions. Under `vmap` both are computed and the results selected. Elsewhere only the chosen function
    is called: outside of compilers, and under `grad` alone.

    Parameters
    ----------
    predicate : bool or array
        A 0-d boolean array. For a Python bool, or an array with a value, only one function is called.
    if_true, if_false : callable
        They return pytrees of arrays (nested tuples, lists and dictionaries) with the same shapes and dtypes. They must
        not write to their arguments.
    *operands
        Pytrees of arrays. Other values are constants.

    Raises
    ------
    TypeError
        The predicate is not boolean, or a function returns other values than arrays. `jax.jit` and `torch.compile`
        also raise if the results of the two functions differ in shape or dtype.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> halved = lambda x: xo.where(xo.greater(x, 1.0), x / 2, x)
    >>> x = np.asarray([1.0, 4.0])
    >>> xo.cond(xo.any(xo.greater(x, 1.0)), halved, lambda x: x, x)
    array([1., 2.])
    """
    if predicate is True or predicate is False:
        return (if_true if predicate else if_false)(*operands)
    backend = library_of("cond", (predicate, operands))
    if backend is None or not _is_truth(backend, predicate):
        raise TypeError("xo.cond: the predicate must be a bool or a 0-d boolean array")

    def of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
        def branch(*given: Array) -> Any:
            result = function(*rebuilt(operands, given))
            _require_arrays(f"xo.cond: {name_of(function)}", result)
            return result

        return branch

    return backend.functions["cond"](predicate, of_arrays(if_true), of_arrays(if_false), arrays_of(operands))


@explaining_arrays("while_loop")
def while_loop(condition: Callable[..., Any], body: Callable[..., Any], values: Any, /) -> Any:
    """The values after ``values = body(values)``, repeated while ``condition(values)`` is true.

    JAX uses `jax.lax.while_loop`, and PyTorch its own loop inside `torch.compile`. Other libraries use a Python loop.
    JAX cannot differentiate it in reverse mode; it can differentiate `scan`, for loops with a known number of steps.

    Parameters
    ----------
    condition : callable
        ``condition(values)`` returns a 0-d boolean array.
    body : callable
        ``body(values)`` returns values with the same structure, shapes and dtypes. It must not write to its argument.
    values : array, or nested tuple, list or dict of arrays
        The first values. Python numbers become arrays of the default dtype.

    Raises
    ------
    TypeError
        A value is neither an array nor a number; the body changes a shape, a dtype or the structure; the condition does
        not return a 0-d boolean array.

    Examples
    --------
    >>> import xarrayops as xo
    >>> steps, x = xo.while_loop(lambda v: v[1] < 100, lambda v: (v[0] + 1, v[1] * 3), (0, 2.0))
    >>> int(steps), float(x)
    (4, 162.0)
    """
    backend, values = _loop_values("xo.while_loop", values)

    def holds(*given: Array) -> Array:
        found = condition(rebuilt(values, given))
        if not is_array(found):
            found = asarray(found, like=given[0]) if type(found) is bool else found
        if not is_array(found) or not _is_truth(backend, found):
            raise TypeError("xo.while_loop: the condition must return a 0-d boolean array")
        return found

    def step(*given: Array) -> Arrays:
        return _kept("xo.while_loop: the body", values, given, body(rebuilt(values, given)))

    return rebuilt(values, backend.functions["while_loop"](holds, step, arrays_of(values)))


@explaining_arrays("scan")
def scan(
    function: Callable[..., Any], carry: Any, xs: Any = None, /, *, length: int | None = None, reverse: bool = False
) -> tuple[Any, Any]:
    """The last carry and the stacked results of ``carry, y = function(carry, x)`` for each item x, as `jax.lax.scan`.

    JAX uses `jax.lax.scan`; inside `torch.compile` PyTorch compiles one step of long loops. Other libraries use a
    Python loop. All libraries with gradients can differentiate it.

    Parameters
    ----------
    function : callable
        ``function(carry, x)`` returns the next carry, with the same shapes and dtypes, and a result: a pytree of
        arrays, or None. It must not write to its arguments.
    carry : array, or nested tuple, list or dict of arrays
        The first carry. Python numbers become arrays of the default dtype.
    xs : array, or nested tuple, list or dict of arrays, optional
        The items are indexed by the first axes, which have equal lengths. Without xs, x is None.
    length : int, optional
        The number of steps; required without xs.
    reverse : bool
        Whether the last item comes first. Results have the order of the items.

    Returns
    -------
    tuple
        The last carry, and the results with a new first axis. Without steps the results are unknown, so ``length`` must
        be at least 1.

    Raises
    ------
    TypeError, ValueError
        The function changes the shape or dtype of the carry; lengths differ; the length is 0.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> total, sums = xo.scan(lambda total, x: (total + x, total + x), 0.0, np.asarray([1.0, 2.0, 3.0]))
    >>> float(total), sums
    (6.0, array([1., 3., 6.]))
    """
    call = f"xo.scan({name_of(function)})"
    items = arrays_of(xs)
    backend, carry = _loop_values(call, carry, items)
    count = _length(call, items, length)
    if reverse:
        items = tuple(backend.functions["flip"](x, axis=0) for x in items)

    def step(given: Arrays, row: Arrays) -> tuple[Arrays, Any]:
        found = function(rebuilt(carry, given), rebuilt(xs, row) if items else None)
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise TypeError(f"{call}: the function must return a pair: the next carry and a result")
        after, y = found
        if y is not None:
            _require_arrays(call, y)
        return _kept(f"{call}: the function", carry, given, after), y

    def stacked(rows: list[Any]) -> Any:
        columns = zip(*map(arrays_of, rows), strict=True)
        return rebuilt(rows[0], map(backend.functions["stack"], columns))

    last, found = backend.functions["scan"](step, arrays_of(carry), items, count, stacked)
    if reverse:
        found = fill(found, lambda y: backend.functions["flip"](y, axis=0))
    return rebuilt(carry, last), found


def _length(call: str, items: Arrays, length: int | None) -> int:
    """The number of steps."""
    if any(x.ndim == 0 for x in items):
        raise ValueError(f"{call}: an array of xs is 0-d, without an axis of items")
    lengths = {x.shape[0] for x in items} | (set() if length is None else {index(length)})
    if len(lengths) != 1:
        raise ValueError(f"{call}: " + ("the lengths differ: " + str(sorted(lengths)) if lengths else "give length="))
    (count,) = lengths
    if count < 1:
        raise ValueError(f"{call}: a loop without steps has no results; the length must be at least 1")
    return int(count)


def _loop_values(call: str, values: Any, others: Arrays = ()) -> tuple[Backend, Any]:
    """The library of a loop, and its first values with arrays for Python numbers."""
    first = next((x for x in (*arrays_of(values), *others)), None)

    def as_array(value: Any) -> Any:
        if is_array(value):
            return value
        if type(value) not in _NUMBERS:
            raise TypeError(f"{call}: a value of the loop is {type(value).__name__}, neither an array nor a number")
        return asarray(value) if first is None else asarray(value, like=first)

    values = fill(values, as_array, kept=())
    backend = library_of(call.removeprefix("xo.").partition("(")[0], (values, others))
    if backend is None:
        raise TypeError(f"{call}: the loop has no values")
    return backend, values


def _kept(call: str, form: Any, before: Arrays, after: Any) -> Arrays:
    """The arrays after a step. Raises if their shapes or dtypes changed."""
    try:
        found = list(leaves_as(form, after))
    except TypeError as error:
        raise TypeError(f"{call} returned {error}") from None
    given = []
    for i, (x, y) in enumerate(zip(before, found, strict=True)):
        if type(y) in _NUMBERS:
            number = asarray(y, like=x, dtype=x.dtype)
            if type(y) in (float, complex) and not _is_floating(x):
                raise TypeError(f"{call} changed value {i} from {x.dtype} to {y!r}; a loop keeps dtypes")
            y = number
        if not is_array(y):
            raise TypeError(f"{call} returned {type(y).__name__} as value {i}, not an array")
        if y.shape != x.shape or y.dtype != x.dtype:
            raise TypeError(
                f"{call} changed value {i} from {x.dtype} {tuple(x.shape)} to {y.dtype} {tuple(y.shape)}; a loop keeps "
                f"shapes and dtypes. Instead: xo.astype, or other first values"
            )
        given.append(y)
    return tuple(given)


def _is_floating(x: Array) -> bool:
    """Whether an array has floating-point or complex numbers."""
    name = find.of(x).functions["dtype_name"](x.dtype) or ""
    return name.startswith(("float", "bfloat", "complex"))


def _require_arrays(call: str, result: Any) -> None:
    for value in leaves(result):
        if not is_array(value):
            raise TypeError(f"{call} returned {type(value).__name__}, not arrays")


def _is_truth(backend: Backend, x: Any) -> bool:
    """Whether a value is a 0-d boolean array."""
    return is_array(x) and tuple(x.shape) == () and backend.functions["dtype_name"](x.dtype) == "bool"
