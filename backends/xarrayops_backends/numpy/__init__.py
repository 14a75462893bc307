"""NumPy: the backend of the CPU, built on NumPy itself.

Elementwise functions are NumPy's own ufuncs, bare: a wrapper would cost a third of such a call on a small array. So
arrays of what is no number (objects, text, dates, records) are refused by every function but the elementwise ufuncs
that have a loop for them.
"""
# ruff: noqa: F401 - functions of dtypes are imported to be offered

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from functools import partial, reduce, wraps
from typing import Any, NamedTuple

import numpy as np

from xarrayops._protocol.surface import SURFACE
from xarrayops.errors import Unsupported, what_there_is
from xarrayops.plugin import Array, Device, Gap, Memory, SparseSupport, unsupported
from xarrayops.plugin.attention import host as blocked
from xarrayops.plugin.dtypes import (
    NUMBERS,
    OBJECTS,
    as_dtype,
    can_cast,
    dtype_name,
    dtype_refusal,
    finfo,
    gap_of,
    iinfo,
    isdtype,
    refuse_discarding,
    result_type,
)
from xarrayops.plugin.layout import permute, views
from xarrayops_backends.numpy._compat import MENDED
from xarrayops_backends.numpy._update import update

NAMESPACE: Any = np
ARRAY_TYPES = (np.ndarray, np.generic)
REFUSED_TYPES = {
    "numpy.matrix": Gap("np.matrix keeps two dimensions and multiplies by *", "np.asarray(x)"),
    "numpy.MaskedArray": Gap("a masked array carries a mask that no standard function heeds", "x.filled(value)"),
}


ENVIRONMENT = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "MKL_NUM_THREADS",
    "NPY_DISABLE_CPU_FEATURES",
)
SPARSE = SparseSupport("xarrayops_backends.numpy._sparse", "scipy.sparse", extra="sparse")


class __array_namespace_info__(np.__array_namespace_info__):  # type: ignore[misc]  # noqa: N801 - the standard's name
    """NumPy lists its devices; since 2025.12 the standard wants a tuple."""

    def devices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The CPU."""
        return ("cpu",)

    def capabilities(self) -> dict[str, Any]:  # type: ignore[override]
        """Before 2.2 NumPy did not tell its limit."""
        return {"max dimensions": 64, **super().capabilities()}


def versions() -> dict[str, str]:
    """NumPy's version."""
    return {"numpy": np.__version__}


def devices() -> list[Device]:
    """The CPU."""
    return [Device("cpu", "cpu", "cpu")]


def as_device(device: Any, /) -> str:
    """Only the CPU."""
    if device not in ("cpu", "cpu:0"):
        raise ValueError(what_there_is(device, ("cpu",)))
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
    """Python objects have no numeric dtype; text, dates and records each verb refuses, and so does exchange."""
    return OBJECTS if x.dtype.hasobject else None


def _require_numbers(verb: str, dtype: np.dtype[Any]) -> None:
    gap = gap_of(dtype)
    if gap is not None:
        raise Unsupported(f"xo.{verb}: {gap}")


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """NumPy's einsum, in the order of contraction that costs least."""
    if builtins.any(x.dtype.kind == "V" for x in operands):  # which NumPy's einsum refuses
        wide = (np.astype(x, np.float32) if x.dtype.kind == "V" else x for x in operands)
        return np.einsum(subscripts, *wide, optimize=len(operands) > 2).astype(np.result_type(*operands))
    return np.einsum(subscripts, *operands, optimize=len(operands) > 2)


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
        exported=x.dtype.type.__module__ == "numpy",  # the dtypes of ml_dtypes are refused
    )


def memory_offset(x: Array, /) -> int:
    """From the first byte of the array that x is a view of; NumPy keeps no other owner's extent."""
    first, owner = x, x.base
    while owner is not None:  # past what stands between in stride_tricks and in our own views
        first, owner = owner if isinstance(owner, np.ndarray) else first, getattr(owner, "base", None)
    return 0 if first is x else int(x.ctypes.data - np.lib.array_utils.byte_bounds(first)[0])


def contiguous(x: Array, /) -> Array:
    """By the host kernels: NumPy's own transposed copy is several times slower than memory (numpy#32453)."""
    return x if x.flags.c_contiguous else permute.contiguous(x)


def as_strided(x: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, /) -> Array:
    """NumPy's, and read-only where elements share a place, as NumPy's own broadcast and sliding-window views are."""
    size = x.itemsize
    steps = tuple(stride * size for stride in strides)
    view = views.of(x, shape, steps, typestr=f"|V{size}", offset=offset * size).view(x.dtype)
    if views.may_overlap(shape, steps, size):
        view.flags.writeable = False
    return view


ATTENTION_CANDIDATES = [("blocked", blocked.attention, blocked.refusal)]


pin_memory = unsupported(
    "NumPy page-locks no memory, but takes a view of PyTorch's",
    instead='xo.convert(xo.pin_memory(xo.convert(x, "torch")), "numpy")',
)


def export_refusal(x: Array, /) -> str | None:
    """Any array of numbers may leave."""
    return str(OBJECTS) if x.dtype.hasobject else None


def import_refusal(dtype: str, /) -> str | None:
    """Bfloat16 and float8 need ml_dtypes; never a bare integer view."""
    return dtype_refusal("NumPy", as_dtype, dtype)


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """Any host memory, read-only or not."""
    return None if memory.device == "cpu" else f"NumPy cannot see memory of device {memory.device}"


def alias(x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """The owner's own view; of memory that its library never writes, a read-only one."""
    return host()


def lend(x: Array, /) -> Array:
    """x itself."""
    return x


def borrow(a: Array, /) -> Array:
    """The array itself."""
    return a


def to_numpy(x: Array, /) -> Array:
    """x itself."""
    return np.asarray(x)


def from_numpy(a: Any, device: Any, /) -> Array:
    """A copy that begins at a cache line, where XLA wants it."""
    a = np.asarray(a)
    copy = views.aligned(a.shape, a.dtype.newbyteorder("="))
    if copy.dtype == a.dtype:
        permute.copy(a, copy)
    else:
        copy[...] = a
    return copy


def _reduction(verb: str, ufunc: np.ufunc) -> Callable[..., Array]:
    """A reduction straight on the ufunc: NumPy's wrapper around it takes twice the time of a small array's sum."""

    def reduced(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
        if x.dtype.kind not in NUMBERS:
            _require_numbers(verb, x.dtype)
        return ufunc.reduce(x, axis, keepdims=keepdims)

    return reduced


def _accumulation(verb: str, ufunc: np.ufunc) -> Callable[..., Array]:
    def reduced(
        x: Array, /, *, axis: int | tuple[int, ...] | None = None, dtype: Any = None, keepdims: bool = False
    ) -> Array:
        if x.dtype.kind not in NUMBERS:
            _require_numbers(verb, x.dtype)
        return ufunc.reduce(x, axis, dtype, keepdims=keepdims)

    return reduced


sum = _accumulation("sum", np.add)
prod = _accumulation("prod", np.multiply)
max = _reduction("max", np.maximum)
min = _reduction("min", np.minimum)
all = _reduction("all", np.logical_and)
any = _reduction("any", np.logical_or)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """NumPy's asarray, which would make an array of objects, or of text or dates, of what is no number."""
    if dtype is not None and isinstance(obj, ARRAY_TYPES):
        refuse_discarding(obj.dtype, dtype)
    result = np.asarray(obj, dtype=dtype, device=device, copy=copy)
    _require_numbers("asarray", result.dtype)
    return result


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """NumPy drops imaginary parts with no more than a warning."""
    refuse_discarding(x.dtype, dtype)
    if np.dtype(dtype).kind not in NUMBERS:
        _require_numbers("astype", np.dtype(dtype))
    return np.astype(x, dtype, copy=copy, device=device)


def matmul(x1: Array, x2: Array, /) -> Array:
    """Two matrices of floats go to BLAS by ``dot``, which gets there in half the time of the generalised ufunc."""
    kind = x1.dtype.kind
    if kind not in NUMBERS or x2.dtype.kind not in NUMBERS:
        _require_numbers("matmul", x1.dtype)
        _require_numbers("matmul", x2.dtype)
    return x1.dot(x2) if kind in "fc" and x1.ndim == 2 == x2.ndim else _narrowed(np.matmul(x1, x2), x1, x2)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """NumPy's, in the dtype of the operands."""
    return _narrowed(np.vecdot(x1, x2, axis=axis), x1, x2)  # type: ignore[call-overload]


def _narrowed(product: Array, x1: Array, x2: Array) -> Array:
    """NumPy takes the dtypes of ml_dtypes for float32 in products, and gives that."""
    return product.astype(np.result_type(x1, x2)) if "V" in (x1.dtype.kind, x2.dtype.kind) else product


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """NumPy answers as Python does: ``1.0 // -inf`` is -1, ``inf // 1`` is NaN. To look for infinities costs 1 %."""
    kind = (x1 if hasattr(x1, "dtype") else x2).dtype.kind
    if kind != "f" or (np.isfinite(x1).all() and np.isfinite(x2).all()):
        return np.floor_divide(x1, x2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isinf(x1) | np.isinf(x2), np.divide(x1, x2), np.floor_divide(x1, x2))[()]


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """The result keeps the dtype of x, in which the bounds are taken: fractions are dropped, limits are not passed."""
    return x.copy() if min is None and max is None else np.clip(x, _bound(x, min), _bound(x, max))


def _bound(x: Array, value: Any) -> Any:
    """A bound in the dtype of x; the nearest limit where an integer dtype does not reach that far."""
    has_dtype = hasattr(value, "dtype")
    if value is None or (has_dtype and value.dtype == x.dtype):
        return value
    if x.dtype.kind not in "iu":
        return astype(value, x.dtype, copy=False) if has_dtype else value
    limits = np.iinfo(x.dtype)
    if not has_dtype:
        return limits.min if value <= limits.min else limits.max if value >= limits.max else int(value)
    low, high = (x.dtype.type(limit) for limit in (limits.min, limits.max))
    with np.errstate(invalid="ignore"):  # the cast of what lies outside
        return np.where(value <= limits.min, low, np.where(value >= limits.max, high, value.astype(x.dtype)))


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


class _Eig(NamedTuple):
    eigenvalues: Array
    eigenvectors: Array


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


def _refusing(verb: str, function: Callable[..., Array]) -> Callable[..., Array]:
    """The function, refusing arrays of no numbers, which NumPy would sort, compare or join by Python's rules."""

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Array:
        for x in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(x, ARRAY_TYPES):
                if x.dtype.kind not in NUMBERS:
                    _require_numbers(verb, x.dtype)
            elif isinstance(x, (list, tuple)):
                for member in x:
                    if isinstance(member, ARRAY_TYPES):
                        _require_numbers(verb, member.dtype)
        return function(*args, **kwargs)

    return checked


def _implementation(verb: str) -> Callable[..., Array]:
    own = globals().get(verb.replace(".", "_")) or MENDED.get(verb)
    return own if own is not None else reduce(getattr, verb.split("."), NAMESPACE)


_BARE = (sum, prod, max, min, all, any, matmul, floor_divide)
"""What looks for itself; and floor_divide, which stands in for an elementwise ufunc and must cost as little."""

for _verb, _signature in {**SURFACE, "einsum": "(*operands)", "update": "(x)"}.items():
    _function = _implementation(_verb)
    _is_elementwise = isinstance(_function, np.ufunc | partial) and getattr(_function, "signature", None) is None
    _takes_arrays = re.match(r"\((x1?|condition|\*?arrays|\*operands)\b", _signature) and _verb != "from_dlpack"
    if _verb in MENDED:
        globals()[_verb] = _function
    if _takes_arrays and not _is_elementwise and _function not in _BARE:
        globals()[_verb.replace(".", "_")] = _refusing(_verb, _function)
