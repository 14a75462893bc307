# Long: functions of NumPy by the section of its reference.
"""New arrays. Without an array in ``like=`` they follow `xarrayops.use`, with NumPy's default dtypes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from operator import index
from typing import TYPE_CHECKING, Any, Literal, Protocol

import xarrayops as xo
from xarrayops._core.backends.resolved import is_traced
from xarrayops.numpy import _axes, _operands as ops, _results
from xarrayops.numpy._dtypes import named

Shape = int | tuple[int, ...]


def _require_extents(shape: tuple[int, ...]) -> None:
    """Raise for a negative extent, which torch takes as the array's own."""
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")


def _floating(dtype: Any) -> Any:
    return ops.name_of_default(float) if dtype is None else named(dtype)


def _c_or_f(order: str) -> str:
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    return order


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = 0,
    like: Any = None,
) -> Any:
    """An array with the values, copied by default, by `xarrayops.asarray`."""
    _results.no_subclass("array", subok)
    _results.refuse("array", "leave it out: nested sequences have all their levels", ndmax=ndmax not in (0, None))
    x = asarray(object, dtype, order, copy=copy, like=like)
    return xo.reshape(x, (*(1,) * (index(ndmin) - x.ndim), *x.shape)) if x.ndim < ndmin else x


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None, like: Any = None
) -> Any:
    """An array with the values, by `xarrayops.asarray`; arrays stay in their library."""
    like = ops.reference(like)
    if like is None and isinstance(a, (list, tuple)):
        like = ops.first_array(a)
    x = ops.new_array(a, dtype=named(dtype), like=like, device=device, copy=copy)
    return _results.ordered("asarray", x, order)


def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None, like: Any = None
) -> Any:
    """An array with the values, by `asarray`; only NumPy has subclasses, which it keeps."""
    if ops.is_array(a) and dtype is order is device is copy is like is None:
        return a
    return asarray(a, dtype, order, device=device, copy=copy, like=like)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """An array with the values; NaN and infinities raise ValueError."""
    instead = "np.asarray(a), and the test before the compiled function"
    _results.require_values("asarray_chkfinite", instead)
    x = asarray(a, dtype, order)
    if not _results.truth("asarray_chkfinite", xo.all(xo.isfinite(x)), instead):
        raise ValueError("array must not contain infs or NaNs")
    return x


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """An array of at least one dimension in C order, by `xarrayops.contiguous`."""
    x = asarray(a, dtype, like=like)
    return xo.contiguous(x if x.ndim else xo.reshape(x, (1,)))


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """An array in Fortran order, by `xarrayops.contiguous`."""
    x = asarray(a, dtype, like=like)
    return xo.contiguous(x, order="F") if x.ndim else xo.reshape(x, (1,))


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """An array in the order that is required: C or F."""
    letters = {each[0].upper() for each in ([requirements] if isinstance(requirements, str) else requirements or ())}
    if not letters <= {"C", "F", "A", "O", "W", "E"}:
        raise KeyError(f"np.require: requirements must be of C, F, A, O, W and E, not {requirements!r}")
    if letters >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    x = asarray(a, dtype, "F" if "F" in letters else "C" if "C" in letters else None, like=like)
    return xo.asarray(x, copy=True) if letters & {"O", "W"} else x


def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """A copy of the array, by `xarrayops.asarray`."""
    _results.no_subclass("copy", subok)
    return _results.ordered("copy", xo.asarray(ops.array(a), copy=True), order)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """The array in another dtype, by `xarrayops.astype`, whose ``saturate=True`` limits numbers that it cannot hold."""
    if not ops.is_array(x):
        raise TypeError(f"Input should be a NumPy array. It is of type {type(x)}.")
    return xo.astype(x, named(dtype), copy=copy, device=device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array over the memory of another library's array, by `xarrayops.from_dlpack`."""
    return xo.from_dlpack(x, device=device, copy=copy)


def _new(verb: str, shape: Shape, dtype: Any, order: str, device: Any, like: Any) -> Any:
    x = getattr(xo, verb)(_axes.integers(shape), dtype=_floating(dtype), device=device, like=ops.reference(like))
    return _results.ordered(verb, x, _c_or_f(order))


def zeros(shape: Shape, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """An array of zeros, by `xarrayops.zeros`."""
    return _new("zeros", shape, dtype, order, device, like)


def ones(shape: Shape, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """An array of ones, by `xarrayops.ones`."""
    return _new("ones", shape, dtype, order, device, like)


def empty(shape: Shape, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """An array of undefined values, by `xarrayops.empty`."""
    return _new("empty", shape, dtype, order, device, like)


def full(
    shape: Shape, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> Any:
    """An array of one value, which broadcasts, by `xarrayops.full`."""
    _require_extents(_axes.integers(shape))
    x = ops.new_array(fill_value, dtype=named(dtype), like=ops.reference(like), device=device)
    return _results.ordered("full", _filled(x, _axes.integers(shape)), _c_or_f(order))


def _filled(value: Any, shape: tuple[int, ...]) -> Any:
    """A new array of a value, which broadcasts to the shape without its first axes of size 1, as in an assignment."""
    extra = max(value.ndim - len(shape), 0)
    value = xo.reshape(value, value.shape[extra:]) if extra and {*value.shape[:extra]} == {1} else value
    return xo.asarray(xo.broadcast_to(value, shape), copy=True)


def _another(verb: str, a: Any, dtype: Any, order: str, subok: bool, shape: Any, device: Any) -> Any:
    _results.no_subclass(verb, subok, True)
    x = ops.array(a)
    of_shape = x.shape if shape is None else _axes.integers(shape)
    ours = getattr(xo, verb.removesuffix("_like"))
    made = ours(tuple(of_shape), dtype=x.dtype if dtype is None else named(dtype), like=x, device=device)
    return _results.ordered(verb, made, _order_of(x, order))


def _order_of(x: Any, order: str) -> str:
    """The order of a new array like x, whose strides torch.compile does not read."""
    if is_traced():
        return order
    return "F" if order in ("K", "A") and _results.is_fortran(x) else order


def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Zeros in the shape, the dtype and the library of a, by `xarrayops.zeros`."""
    return _another("zeros_like", a, dtype, order, subok, shape, device)


def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Ones in the shape, the dtype and the library of a, by `xarrayops.ones`."""
    return _another("ones_like", a, dtype, order, subok, shape, device)


def empty_like(
    prototype: Any, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Undefined values in the shape, the dtype and the library of the prototype, by `xarrayops.empty`."""
    return _another("empty_like", prototype, dtype, order, subok, shape, device)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """One value, which broadcasts, in the shape, the dtype and the library of a, by `xarrayops.full`."""
    _results.no_subclass("full_like", subok, True)
    x = ops.array(a)
    target = x.dtype if dtype is None else named(dtype)
    value = ops.cast_new(fill_value, target, like=x, device=device)
    if shape is None and value.ndim == 0 and xo.is_lazy(x):  # the sizes may be unknown
        found = xo.where(xo.ones_like(x, dtype="bool", device=device), value, value)
        return _results.ordered("full_like", found, _order_of(x, order))
    of_shape = tuple(x.shape) if shape is None else _axes.integers(shape)
    _require_extents(of_shape)
    return _results.ordered("full_like", _filled(value, of_shape), _order_of(x, order))


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """A matrix with ones on a diagonal, by `xarrayops.eye`."""
    columns = None if M is None else index(M)
    made = xo.eye(index(N), columns, k=index(k), dtype=_floating(dtype), device=device, like=ops.reference(like))
    return _results.ordered("eye", made, _c_or_f(order))


def identity(n: int, dtype: Any = None, *, like: Any = None) -> Any:
    """The square matrix with ones on the main diagonal, by `xarrayops.eye`."""
    return eye(n, dtype=dtype, like=like)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, like: Any = None) -> Any:
    """A matrix with ones on and below a diagonal, by `xarrayops.tril`."""
    return xo.tril(ones((N, N if M is None else M), dtype, like=like), k=_axes.whole(k))


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: Literal["xy", "ij"] = "xy") -> Any:
    """Grids of coordinates, by `xarrayops.broadcast_to`; with ``sparse`` vectors that broadcast to them."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    if not xi:
        return ()
    vectors = [xo.reshape(x, (_axes.size_of(x),)) for x in ops.arrays(*xi)]
    places = [1, 0, *range(2, len(vectors))] if indexing == "xy" and len(vectors) > 1 else [*range(len(vectors))]
    thin = [
        xo.reshape(x, tuple(-1 if axis == place else 1 for axis in range(len(vectors))))
        for x, place in zip(vectors, places, strict=True)
    ]
    if sparse:
        return tuple(thin)
    shape = tuple(xo.broadcast_shapes(*(x.shape for x in thin)))
    return tuple(xo.asarray(xo.broadcast_to(x, shape), copy=bool(copy)) for x in thin)


def fromfunction(
    function: Callable[..., Any], shape: tuple[int, ...], *, dtype: Any = None, like: Any = None, **kwargs: Any
) -> Any:
    """The function of the grids of indices, as whole arrays."""
    return function(*indices(shape, float if dtype is None else dtype, like=like), **kwargs)


def indices(dimensions: tuple[int, ...], dtype: Any = int, sparse: bool = False, *, like: Any = None) -> Any:
    """The grids of the indices of each axis, by `xarrayops.arange`."""
    shape = _axes.integers(tuple(dimensions))
    if not sparse:
        _require_extents(shape)
    chosen = named(dtype) or (int if sparse else float)
    vectors = [xo.arange(n, dtype=chosen, like=ops.reference(like)) for n in shape]
    if not vectors:
        return () if sparse else xo.zeros((0,), dtype=chosen, like=ops.reference(like))
    grids = meshgrid(*vectors, sparse=sparse, indexing="ij")
    return grids if sparse else xo.stack(list(grids))


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    """A vector of the values of an iterable."""
    count = index(count)
    values = list(iter if count < 0 else islice(iter, count))
    if len(values) < count:
        raise ValueError("iterator too short: Expected more items than it has")
    return asarray(values, dtype, like=like)


def frombuffer(buffer: Any, dtype: Any = None, count: int = -1, offset: int = 0, *, like: Any = None) -> Any:
    """A vector of the values in a buffer of bytes, which are copied."""
    import numpy

    values = numpy.frombuffer(buffer, "float64" if dtype is None else named(dtype), count, offset)
    if (reference := ops.reference(like)) is not None:
        return xo.asarray(values.copy(), like=reference)
    return xo.convert(values.copy(), xo.zeros(0, dtype="uint8"))


class _Window(Protocol):
    """The parameters of windows."""

    def __call__(self, M: Any, *, like: Any = None) -> Any: ...


def _window(name: str) -> _Window:
    def window(M: Any, *, like: Any = None) -> Any:
        return getattr(xo, name)(max(int(M), 0), dtype=ops.name_of_default(float), like=ops.reference(like))

    return ops.entitled(window, name, f"The window of M values, by `xarrayops.{name}`.")


bartlett, blackman, hamming, hanning = map(_window, ("bartlett", "blackman", "hamming", "hanning"))


def kaiser(M: Any, beta: float, *, like: Any = None) -> Any:
    """The Kaiser window of M values, by `xarrayops.kaiser`."""
    return xo.kaiser(max(int(M), 0), float(beta), dtype=ops.name_of_default(float), like=ops.reference(like))


if not TYPE_CHECKING:
    __all__ = ops.public(globals())
