# Long: one class, with NumPy's methods of ufuncs.
"""Elementwise functions as objects with NumPy's methods reduce, accumulate, reduceat, outer and at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce, wraps
from itertools import accumulate
from math import inf
from operator import index
from typing import Any, TypeVar, cast

import xarrayops as xo
from xarrayops._core.backends.find import SCALARS
from xarrayops._core.backends.numpy_scalars import as_number, is_numpy_scalar
from xarrayops._core.backends.resolved import is_traced
from xarrayops._core.dispatch.errors import refuse_arguments
from xarrayops._generic.extra.common import part, rows
from xarrayops.errors import Unsupported
from xarrayops.numpy import _axes, _operands as ops, _promotion, _results
from xarrayops.numpy._dtypes import named
from xarrayops.numpy._loops import loop, reduction_loop
from xarrayops.numpy._own import by_numpy
from xarrayops.numpy._reductions import COMBINED, reduced
from xarrayops.plugin.candidates import constant_while_tracing

_DEFAULTS = {"out": None, "where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True}
MethodT = TypeVar("MethodT", bound=Callable[..., Any])
REDUCTIONS = {function: verb for verb, function in COMBINED.items()}
"""Our reduction for each function of two operands."""
UPDATES = {name: name for name in ("add", "subtract", "multiply", "divide")} | {"maximum": "max", "minimum": "min"}
"""The method of `xarrayops.at` for each function of two operands."""
IDENTITIES = {
    **dict.fromkeys(("add", "bitwise_or", "bitwise_xor", "logical_or", "logical_xor", "hypot", "gcd"), 0),
    "multiply": 1,
    "logical_and": 1,
    "bitwise_and": -1,
    "logaddexp": -inf,
    "logaddexp2": -inf,
}
"""The neutral value of each function."""


def _or_numpys(method: MethodT) -> MethodT:
    """A method of ufuncs, with NumPy's for what only NumPy has."""

    @wraps(method)
    def function(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except Exception as error:  # JAX has classes of its own
            return by_numpy(f"{self.__name__}.{method.__name__}", error, args, kwargs)

    return cast("MethodT", function)


class ufunc:  # noqa: N801 - NumPy's name
    """An elementwise function with NumPy's arguments: the base class for one and two operands.

    ``out=`` is written in place if the library can, ``where=`` keeps the other elements of out, ``dtype=`` chooses
    the dtype of the computation, ``order="F"`` the order of the result. Unsupported arguments raise.
    """

    nin = 1
    nout = 1

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        nout: int = 1,
        prepared: Callable[..., list[Any]] = ops.with_numbers,
        mixed: Callable[..., Any] | None = None,
    ) -> None:
        self.__name__ = self.__qualname__ = function.__name__.removeprefix("_")
        self.__module__ = "xarrayops.numpy"
        self._function = function
        self._prepared = prepared
        """Makes arrays of the operands, each in its own dtype."""
        self._mixed = mixed or function
        """The function of operands in their own dtypes, for libraries that lack their common one."""
        self.nout = nout
        self.__doc__ = (getattr(function, "__doc__", None) or "").partition("\n")[0]

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    @property
    def nargs(self) -> int:
        """The number of arguments: operands and outputs."""
        return self.nin + self.nout

    @property
    def identity(self) -> float | None:
        """The result of an empty reduction; None if there is none."""
        return IDENTITIES.get(self.__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function of the operands; each kind of function has its parameters."""
        raise NotImplementedError

    def _call(
        self, values: tuple[Any, ...], out: Any, where: Any, casting: str, order: Any, dtype: Any, subok: Any
    ) -> Any:
        try:
            return self._result(values, out, where, casting, order, dtype, subok)
        except Exception as error:  # JAX has classes of its own
            options = {"out": out, "where": where, "casting": casting, "order": order, "dtype": dtype, "subok": subok}
            options = {name: value for name, value in options.items() if value is not _DEFAULTS[name]}
            try:
                given = dict(zip(("x1", "x2"), values, strict=False))
                refuse_arguments(error, f"np.{self.__name__}", given, ("x1", "x2"))
                raise
            except Exception as explanation:
                return by_numpy(self.__name__, explanation, values, options)

    def _result(
        self, values: tuple[Any, ...], out: Any, where: Any, casting: str, order: Any, dtype: Any, subok: Any
    ) -> Any:
        _results.no_subclass(self.__name__, subok, True)
        if out is None and where is True and SCALARS.issuperset(map(type, values)):  # NumPy's, whatever the library
            if is_traced():
                return self._number(values, order, dtype)
            values = tuple(map(ops.numpy_array, values))
        if where is not True:
            *_, mask = ops.arrays(*values, where)
            # 1, so that unused values cause no warnings; numbers stay weakly typed
            guarded = (xo.where(mask, x, xo.ones_like(x)) if ops.is_array(x) else x for x in self._prepared(*values))
            values = tuple(guarded)
        if dtype is not None and ops.first_array(values) is None:
            values = tuple(ops.arrays(*values, _results.only_of(out) if self.nout == 1 else None)[: self.nin])
        result = self._computed(self._prepared(*values), named(dtype), casting)
        if self.nout > 1:
            return self._several(result, out, casting)
        if where is not True:
            result = _results.kept(self.__name__, result, out, where, casting)
        return _results.written(self.__name__, _results.ordered(self.__name__, result, order), out, casting)

    @constant_while_tracing
    def _number(self, values: tuple[Any, ...], order: Any, dtype: Any) -> Any:
        """The Python number that equals the function of Python numbers: a constant for torch.compile."""
        found = self._call(tuple(ops.numpy_array(x) for x in values), None, True, "same_kind", order, dtype, True)
        return tuple(each.item() for each in found) if self.nout > 1 else found.item()

    def _computed(self, values: list[Any], dtype: str | None, casting: str) -> Any:
        """The function of the operands in the dtypes of NumPy's loop; in a common dtype if NumPy has no such loop."""
        found = loop(self.__name__, values, dtype, casting)
        if found is None:
            given = values if dtype is None else (xo.astype(x, dtype) for x in ops.arrays(*values))
            return self._function(*_promotion.harmonised(*given))
        dtypes, casts, added = found
        if casts is None:
            return self._function(*values)
        missing = [each for each in added if ops.lacks(ops.first_array(values), each)]
        if missing and any(map(is_numpy_scalar, values)):  # next to arrays of such a library they are weakly typed
            return self._computed([*map(as_number, values)], dtype, casting)
        if missing and not any(each in missing for each in dtypes[self.nin :]):
            return self._mixed(*values)
        return self._function(
            *(
                x if to is None else xo.astype(x if hasattr(x, "dtype") else ops.arrays(*values, x)[-1], to)
                for x, to in zip(values, casts, strict=True)
            )
        )

    def _several(self, results: tuple[Any, ...], out: Any, casting: str) -> tuple[Any, ...]:
        if out is None:
            return results
        if not isinstance(out, tuple):
            raise TypeError("'out' must be a tuple of arrays")
        if len(out) != self.nout:
            raise TypeError("The 'out' tuple must have exactly one entry per ufunc output")
        return tuple(_results.written(self.__name__, r, o, casting) for r, o in zip(results, out, strict=True))

    def _require_two(self, method: str) -> None:
        if self.nin != 2 or self.nout != 1:
            raise ValueError(f"{method} only supported for binary functions")

    @_or_numpys
    def reduce(
        self,
        array: Any,
        axis: int | tuple[int, ...] | None = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """The function applied along the axes, from the first element to the last."""
        self._require_two("reduce")
        (x,) = ops.arrays(array)
        if self.__name__ in REDUCTIONS:
            reduction_loop(self.__name__, "reduce", x, named(dtype))  # raises where NumPy has none
            return reduced(REDUCTIONS[self.__name__], x, axis, dtype, out, keepdims, initial, where)
        if where is not True:
            raise Unsupported(
                f"np.{self.__name__}.reduce: where= is not supported. Instead: np.where(where, x, neutral_value)"
            )
        found = self._folded(_results.widened_for(self.__name__, out, x, dtype), axis, dtype, keepdims, initial)
        return _results.written(self.__name__, found, out, "unsafe")  # as in NumPy

    def _for_reduction(self, method: str, x: Any, dtype: Any) -> Any:
        """The array in the dtype of NumPy's loop for reductions."""
        wanted = reduction_loop(self.__name__, method, x, named(dtype))
        return x if wanted is None else xo.astype(x, wanted)

    def _folded(self, x: Any, axis: int | tuple[int, ...] | None, dtype: Any, keepdims: bool, initial: Any) -> Any:
        x = self._for_reduction("reduce", x, dtype)
        axes = _axes.axes_of(x, _axes.axis_of_scalar(x, axis))
        if len(axes) > 1 and self.identity is None and self.__name__ not in ("fmax", "fmin"):
            raise ValueError(f"reduction operation '{self.__name__}' is not reorderable, so give one axis at most")
        if not axes:
            return x
        values, shape = rows(xo, x, axes, keepdims=keepdims)
        if initial is None and not values.shape[-1]:
            if self.identity is None:
                raise ValueError(f"zero-size array to reduction operation {self.__name__} which has no identity")
            initial = self.identity
        start = [] if initial is None else [xo.full(values.shape[:-1], initial, dtype=x.dtype, like=x)]
        return xo.reshape(reduce(self, [*start, *xo.unstack(values, axis=-1)]), shape)

    def _along_axis(self, method: str, array: Any, axis: int | None, dtype: Any, out: Any) -> tuple[Any, int]:
        self._require_two(method)
        (x,) = ops.arrays(array)
        axis = 0 if axis is None and x.ndim == 1 else _axes.one_axis(axis, x.ndim)
        return _results.widened_for(self.__name__, out, x, dtype), axis

    @_or_numpys
    def accumulate(self, array: Any, axis: int | None = 0, dtype: Any = None, out: Any = None) -> Any:
        """The results of applying the function to the first elements along an axis: all partial results."""
        x, axis = self._along_axis("accumulate", array, axis, dtype, out)
        if self.__name__ in ("add", "multiply"):
            cumulative = xo.cumulative_sum if self.__name__ == "add" else xo.cumulative_prod
            return _results.written(self.__name__, cumulative(x, axis=axis, dtype=named(dtype)), out, "unsafe")
        x = self._for_reduction("accumulate", x, dtype)
        partial = list(accumulate(xo.unstack(x, axis=axis), self))
        return _results.written(self.__name__, xo.stack(partial, axis=axis) if partial else x, out, "unsafe")

    @_or_numpys
    def reduceat(self, array: Any, indices: Any, axis: int | None = 0, dtype: Any = None, out: Any = None) -> Any:
        """The reductions of the slices between consecutive indices along an axis; the indices are read."""
        x, axis = self._along_axis("reduceat", array, axis, dtype, out)
        parts = [self.reduce(part(x, axis, *ends), axis, dtype) for ends in _slices(indices, x.shape[axis])]
        found = xo.stack(parts, axis=axis) if parts else self.accumulate(part(x, axis, 0, 0), axis, dtype)
        return _results.written(self.__name__, found, out, "unsafe")

    @_or_numpys
    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Any:
        """The function of all pairs of elements of A and B."""
        self._require_two("outer")
        a, b = ops.arrays(*self._prepared(A, B))
        return self(xo.reshape(a, (*a.shape, *(1,) * b.ndim)), b, **kwargs)

    @_or_numpys
    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """Apply the function to the selected elements of a, in place; duplicate indices accumulate."""
        update = UPDATES.get(self.__name__)
        if update is None:
            raise Unsupported(
                f"np.{self.__name__}.at is not supported. Instead, for distinct indices: "
                f"a[indices] = np.{self.__name__}(a[indices], ...)"
            )
        if not ops.is_array(a):
            raise TypeError("first operand must be array")
        value = ops.arrays(a, b)[1] if isinstance(b, (list, tuple)) or ops.is_array(b) else b
        try:
            getattr(xo.at(a)[indices], update)(value, copy=False)
        except Unsupported as error:
            raise Unsupported(
                f"np.{self.__name__}.at: {error}. Instead, for a library whose arrays do not change: "
                f"a = xo.at(a)[indices].{update}(b)"
            ) from error


class UnaryUfunc(ufunc):
    """An elementwise function of one operand."""

    def __call__(
        self,
        x: Any,
        /,
        out: Any = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
        subok: bool = True,
    ) -> Any:
        return self._call((x,), out, where, casting, order, dtype, subok)


class BinaryUfunc(ufunc):
    """An elementwise function of two operands, which broadcast."""

    nin = 2

    def __call__(
        self,
        x1: Any,
        x2: Any,
        /,
        out: Any = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
        subok: bool = True,
    ) -> Any:
        return self._call((x1, x2), out, where, casting, order, dtype, subok)


class ProductUfunc(ufunc):
    """A product of vectors or matrices, over the last axes."""

    nin = 2

    def __call__(
        self,
        x1: Any,
        x2: Any,
        /,
        out: Any = None,
        *,
        axes: Any = None,
        axis: int | None = None,
        keepdims: bool = False,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
        subok: bool = True,
    ) -> Any:
        moved = "np.moveaxis of the operands, and np.expand_dims of the result"
        is_moved = axis is not None and self.__name__ != "vecdot"
        _results.refuse(self.__name__, moved, axes=axes is not None, axis=is_moved, keepdims=bool(keepdims))
        values = (x1, x2) if axis is None else tuple(xo.moveaxis(x, index(axis), -1) for x in ops.arrays(x1, x2))
        return self._call(values, out, True, casting, order, dtype, subok)


def _slices(indices: Any, extent: int) -> Iterator[tuple[int, int]]:
    """The ends of the slices of reduceat; an index that does not increase selects one element."""
    starts = [int(i) for i in (indices if isinstance(indices, (list, tuple)) else xo.unstack(ops.array(indices)))]
    if any(not 0 <= i < extent for i in starts):
        raise IndexError(f"index out of bounds in reduceat [0, {extent})")
    for i, start in enumerate(starts):
        stop = starts[i + 1] if i + 1 < len(starts) else extent
        yield start, max(stop, start + 1)
