"""NumPy: the backend of the CPU, built on NumPy itself.

Elementwise functions are NumPy's own ufuncs, bare: a wrapper would cost a third of such a call on a small array. So an
array of Python objects is refused by every function but the ufuncs that have a loop for objects.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from xarrayops._hostview import view_bits
from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Device, Gap, Memory

NAMESPACE = np
ARRAY_TYPES = (np.ndarray, np.generic)
REFUSED_TYPES = {
    "numpy.matrix": Gap("np.matrix keeps two dimensions and multiplies by *", "np.asarray(x)"),
    "numpy.MaskedArray": Gap("a masked array carries a mask that no standard function heeds", "x.filled(value)"),
}
_OBJECTS = Gap("an array of Python objects has no numeric dtype", 'x.astype("float64"), or another numeric dtype')
_LOW_PRECISION = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
_ALIGNMENT_OF_KERNELS = 64


class __array_namespace_info__(np.__array_namespace_info__):  # type: ignore[misc]  # noqa: N801 - the standard's name
    """NumPy lists its devices; since 2025.12 the standard wants a tuple."""

    def devices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The CPU."""
        return ("cpu",)


def versions() -> dict[str, str]:
    """NumPy's version."""
    return {"numpy": np.__version__}


def devices() -> list[Device]:
    """The CPU."""
    return [Device("cpu", "cpu", "cpu")]


def as_dtype(name: str, /) -> Any:
    """The NumPy dtype; bfloat16 and float8 come from ml_dtypes."""
    if name in _LOW_PRECISION:
        try:
            import ml_dtypes
        except ImportError:
            raise ValueError(f"{name} needs ml_dtypes: pip install 'xarrayops[lowp]'") from None
        return np.dtype(getattr(ml_dtypes, name))
    if name not in _NATIVE:
        raise ValueError(f"the names are {', '.join((*_NATIVE, *_LOW_PRECISION))}")
    return _NATIVE[name]


def dtype_name(dtype: Any, /) -> str | None:
    """The name of a numeric dtype, of either byte order."""
    try:
        native = np.dtype(dtype)
    except TypeError:
        return None
    return native.name if native.name in _NATIVE or native.name in _LOW_PRECISION else None


_NATIVE = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}


def as_device(device: Any, /) -> str:
    """Only the CPU."""
    if device not in ("cpu", "cpu:0"):
        raise ValueError("NumPy arrays live on the cpu")
    return "cpu"


def device(x: Array, /) -> str:
    """Always the CPU."""
    return "cpu"


def to_device(x: Array, device: Any, /) -> Array:
    """x itself: there is one device."""
    return x


def is_lazy(x: Array, /) -> bool:
    """NumPy computes at once."""
    return False


def refuse(x: Array, /) -> Gap | None:
    """Python objects have no numeric dtype."""
    return _OBJECTS if x.dtype.hasobject else None


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """NumPy's einsum, in the order of contraction that costs least."""
    return np.einsum(subscripts, *operands, optimize=len(operands) > 2)


def update(x: Array, index: Any, op: str, value: Any, /, *, copy: bool | None) -> Array:
    """Item assignment, or ``ufunc.at``, which applies duplicates one after the other."""
    if copy is False and not x.flags.writeable:
        raise Unsupported("x is read-only. Instead: copy=None or copy=True, and use the result")
    target = x.copy() if copy or not x.flags.writeable else x
    if op == "set":
        target[index] = value
    else:
        _UPDATES[op].at(target, index, value)
    return target


_UPDATES = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}


def memory(x: Array, /) -> Memory | None:
    """The buffer of x; a dtype or byte order that only NumPy knows is named as NumPy spells it. A scalar has none."""
    if not isinstance(x, np.ndarray):
        return None
    return Memory(
        dtype=(x.dtype.isnative and dtype_name(x.dtype)) or x.dtype.str,
        shape=x.shape,
        strides=x.strides,
        itemsize=x.itemsize,
        pointer=x.ctypes.data,
        device="cpu",
        readonly=not x.flags.writeable,
    )


def export_refusal(x: Array, /) -> str | None:
    """Any array of numbers may leave."""
    return str(_OBJECTS) if x.dtype.hasobject else None


def import_refusal(dtype: str, /) -> str | None:
    """Bfloat16 and float8 need ml_dtypes; never a bare integer view."""
    try:
        as_dtype(dtype)
    except ValueError as error:
        return str(error)
    return None


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """Any host memory, read-only or not."""
    return None if memory.device == "cpu" else f"NumPy cannot see memory of device {memory.device}"


def alias(x: Any, memory: Memory, /) -> Array:
    """A view by address; of memory that its library never writes, a read-only one."""
    bits = view_bits(memory, x, readonly=memory.readonly or memory.immutable)
    return bits.view(as_dtype(memory.dtype))


def to_numpy(x: Array, /) -> Array:
    """x itself."""
    return np.asarray(x)


def from_numpy(a: Any, device: Any, /) -> Array:
    """A copy that starts on a 64-byte boundary, where XLA and our own kernels want it."""
    a = np.asarray(a)
    dtype = a.dtype.newbyteorder("=")
    raw = np.empty(a.size * dtype.itemsize + _ALIGNMENT_OF_KERNELS, dtype=np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT_OF_KERNELS
    copy = raw[start : start + a.size * dtype.itemsize].view(dtype).reshape(a.shape)
    copy[...] = a
    return copy


def _reduction(ufunc: np.ufunc) -> Callable[..., Array]:
    """A reduction straight on the ufunc: NumPy's wrapper around it takes twice the time of a small array's sum."""

    def reduce(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
        if x.dtype.hasobject:
            raise Unsupported(str(_OBJECTS))
        return ufunc.reduce(x, axis, keepdims=keepdims)

    return reduce


def _accumulation(ufunc: np.ufunc) -> Callable[..., Array]:
    def reduce(
        x: Array, /, *, axis: int | tuple[int, ...] | None = None, dtype: Any = None, keepdims: bool = False
    ) -> Array:
        if x.dtype.hasobject:
            raise Unsupported(str(_OBJECTS))
        return ufunc.reduce(x, axis, dtype, keepdims=keepdims)

    return reduce


sum = _accumulation(np.add)
prod = _accumulation(np.multiply)
max = _reduction(np.maximum)
min = _reduction(np.minimum)
all = _reduction(np.logical_and)
any = _reduction(np.logical_or)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """NumPy's asarray, which would make an array of objects, or of text or dates, of what is no number."""
    result = np.asarray(obj, dtype=dtype, device=device, copy=copy)
    if result.dtype.hasobject:
        raise Unsupported(str(_OBJECTS))
    if result.dtype.kind in "SUMm":
        raise Unsupported(f"xo.asarray: values of dtype {result.dtype} are no numbers. Instead: np.asarray, for NumPy")
    return result


def matmul(x1: Array, x2: Array, /) -> Array:
    """Two matrices of floats go to BLAS by ``dot``, which gets there in half the time of the generalised ufunc."""
    kind = x1.dtype.kind
    if kind == "O" or x2.dtype.kind == "O":
        raise Unsupported(str(_OBJECTS))
    return x1.dot(x2) if kind in "fc" and x1.ndim == 2 == x2.ndim else np.matmul(x1, x2)


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """NumPy answers as Python does: ``1.0 // -inf`` is -1, ``inf // 1`` is NaN. To look for infinities costs 1 %."""
    kind = (x1 if hasattr(x1, "dtype") else x2).dtype.kind
    if kind != "f" or (np.isfinite(x1).all() and np.isfinite(x2).all()):
        return np.floor_divide(x1, x2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isinf(x1) | np.isinf(x2), np.divide(x1, x2), np.floor_divide(x1, x2))[()]


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """The result keeps the dtype of x; Python integers beyond it are no bounds at all."""
    if x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        min = None if type(min) is int and min <= limits.min else min
        max = None if type(max) is int and max >= limits.max else max
    if min is None and max is None:
        return x.copy()
    bounds = (b.astype(x.dtype) if hasattr(b, "dtype") else b for b in (min, max))
    return np.clip(x, *bounds)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """NumPy sorts upward only."""
    result = np.sort(x, axis=axis, stable=stable)
    return np.flip(result, axis=axis) if descending else result


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """NumPy sorts upward only; to reverse a stable order, equal elements must be met from behind."""
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    backward = np.argsort(np.flip(x, axis=axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - np.flip(backward, axis=axis)


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """NumPy takes None for a value to prepend or append."""
    ends = {name: end for name, end in (("prepend", prepend), ("append", append)) if end is not None}
    return np.diff(x, n=n, axis=axis, **ends)


class _FloatLimits(NamedTuple):
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


class _Eig(NamedTuple):
    eigenvalues: Array
    eigenvectors: Array


def finfo(type: Any, /) -> Any:
    """NumPy takes no array here, and gives limits that are no Python floats."""
    info = np.finfo(type.dtype if isinstance(type, ARRAY_TYPES) else type)
    limits = {name: float(getattr(info, name)) for name in ("eps", "max", "min", "smallest_normal")}
    return _FloatLimits(bits=info.bits, dtype=info.dtype, **limits)


def iinfo(type: Any, /) -> Any:
    """NumPy takes no array whose dtype it should describe."""
    return np.iinfo(type.dtype if isinstance(type, ARRAY_TYPES) else type)


def linalg_eig(x: Array, /) -> tuple[Array, Array]:
    """NumPy answers in real numbers where all eigenvalues happen to be real; the standard asks for complex ones."""
    values, vectors = np.linalg.eig(x)
    complex_ = np.result_type(x.dtype, np.complex64)
    return _Eig(values.astype(complex_, copy=False), vectors.astype(complex_, copy=False))


def linalg_eigvals(x: Array, /) -> Array:
    """As for eig."""
    return np.linalg.eigvals(x).astype(np.result_type(x.dtype, np.complex64), copy=False)


def fft_fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """NumPy knows no dtype here."""
    return np.fft.fftfreq(n, d=d).astype(dtype or np.float64, copy=False)


def fft_rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """NumPy knows no dtype here."""
    return np.fft.rfftfreq(n, d=d).astype(dtype or np.float64, copy=False)


def _refusing(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function, refusing arrays of objects, which NumPy would sort, compare or join by Python's rules."""

    @wraps(function)
    def checked(x: Any, /, *args: Any, **kwargs: Any) -> Array:
        for member in x if isinstance(x, (list, tuple)) else (x,):
            if isinstance(member, np.ndarray) and member.dtype.hasobject:
                raise Unsupported(str(_OBJECTS))
        return function(x, *args, **kwargs)

    return checked


for _name in (
    *("argmax", "argmin", "argsort", "astype", "broadcast_to", "clip", "concat", "count_nonzero", "cumulative_prod"),
    *(
        "cumulative_sum",
        "diff",
        "empty_like",
        "expand_dims",
        "flip",
        "full_like",
        "isin",
        "mean",
        "moveaxis",
        "nonzero",
    ),
    *("ones_like", "permute_dims", "repeat", "reshape", "roll", "searchsorted", "sort", "squeeze", "stack", "std"),
    *("take", "take_along_axis", "tensordot", "tile", "tril", "triu", "unique_all", "unique_counts", "unique_inverse"),
    *("unique_values", "unstack", "var", "where", "zeros_like"),
):
    globals()[_name] = _refusing(globals().get(_name, getattr(np, _name)))
