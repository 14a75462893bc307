"""The dtypes of NumPy and ml_dtypes, which CuPy, Dask and JAX use too."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache, reduce
from itertools import product
from typing import Any

import numpy as np

from xarrayops.errors import Unsupported, available_names, install_command
from xarrayops.plugin.arrays import FloatLimits, Gap

NUMBERS = "biufc"
"""The kinds of NumPy's numeric dtypes. Most dtypes of ml_dtypes have the kind "V", as records have."""
_LOW_PRECISION = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
_NATIVE = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}
_SCALARS = (bool, int, float, complex)
_OPERANDS: tuple[Any, ...] = (*_NATIVE.values(), *(scalar() for scalar in _SCALARS))
_PROMOTED: dict[Any, np.dtype[Any]] = {
    tuple(x if isinstance(x, np.dtype) else type(x) for x in pair): np.result_type(*pair)
    for pair in product(_OPERANDS, repeat=2)
    if any(isinstance(x, np.dtype) for x in pair)
} | {dtype: dtype for dtype in _NATIVE.values()}
"""The promoted dtype of two dtypes, of a dtype and the type of a Python scalar, or of one dtype."""


def as_dtype(name: str, /) -> Any:
    """The NumPy dtype of a name; bfloat16 and float8 come from ml_dtypes."""
    if name in _LOW_PRECISION:
        try:
            import ml_dtypes
        except ImportError:
            raise ValueError(f"it needs ml_dtypes: {install_command('lowp')}") from None
        return np.dtype(getattr(ml_dtypes, name))
    if name not in _NATIVE:
        raise ValueError(available_names(name, (*_NATIVE, *_LOW_PRECISION)))
    return _NATIVE[name]


def dtype_name(dtype: Any, /) -> str | None:
    """The name of a numeric dtype, in either byte order."""
    try:
        native = np.dtype(dtype)
    except TypeError:
        return None
    return _name_of(native)


@lru_cache
def _name_of(dtype: np.dtype[Any]) -> str | None:
    """Cached, because NumPy builds the name at each access."""
    name = dtype.name
    return name if name in _NATIVE or name in _LOW_PRECISION else None


@lru_cache
def gap_of(dtype: np.dtype[Any]) -> Gap | None:
    """Why arrays of a dtype are not supported, or None. The dtypes of ml_dtypes are recognised by name."""
    if dtype.hasobject:
        return Gap("an array of Python objects has no numeric dtype", 'x.astype("float64"), or another numeric dtype')
    if dtype.kind in NUMBERS or dtype_name(dtype) is not None:
        return None
    kind = dtype.kind
    instead = {"M": 'x.astype("int64")', "m": 'x.astype("int64")', "V": _of_records(dtype)}
    return Gap(f"dtype {dtype} is not numeric", instead.get(kind, "numpy.unique(x, return_inverse=True)[1]"))


def _of_records(dtype: np.dtype[Any]) -> str:
    """What to write for records, or for elements without a type: the first numeric field, or the bytes."""
    numeric = [name for name, field in (dtype.fields or {}).items() if gap_of(field[0]) is None]
    return f"x[{numeric[0]!r}]" if numeric else "NumPy's own functions"


def gap_of_array(x: Any) -> Gap | None:
    """`gap_of` the dtype of an array. For text and objects, what to do instead depends on the elements."""
    gap = gap_of(x.dtype)
    if gap is None or x.dtype.kind not in "OUST":
        return gap
    for numbers in ("float64", "complex128"):
        with suppress(Exception):  # the elements may be of any class
            x.astype(numbers)
            return Gap(gap.why, f'x.astype("{numbers}")')
    is_text = x.dtype.kind != "O" or all(isinstance(each, str) for each in np.asarray(x).flat)
    return Gap(gap.why, "numpy.unique(x, return_inverse=True)[1]" if is_text else "NumPy's own functions")


def refuse_discarding(source: np.dtype[Any], target: Any) -> None:
    """Raise if a cast would drop imaginary parts."""
    if source.kind == "c" and np.dtype(target).kind not in "cb":
        raise Unsupported(f"{source} to {np.dtype(target)} would drop the imaginary parts. Instead: xo.real(x) first")


def finfo(type: Any, /) -> Any:
    """NumPy's finfo accepts no array and no dtype of ml_dtypes, and its limits are not Python floats."""
    dtype = _dtype_of(type)
    if dtype.type.__module__ == "ml_dtypes":
        import ml_dtypes

        info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call, unused-ignore]
    else:
        info = np.finfo(dtype)
    limits = {name: float(getattr(info, name)) for name in ("eps", "max", "min", "smallest_normal")}
    return FloatLimits(bits=int(info.bits), dtype=info.dtype, **limits)


def iinfo(type: Any, /) -> Any:
    """NumPy's iinfo accepts no array."""
    return np.iinfo(_dtype_of(type))


def can_cast(from_: Any, to: Any, /) -> bool:
    """NumPy's can_cast accepts no array of another library."""
    return np.can_cast(_dtype_of(from_), to)


def isdtype(dtype: Any, kind: Any) -> bool:
    """NumPy's isdtype does not accept the dtypes of ml_dtypes or their names. They have the kinds of float32."""
    dtype = np.dtype(dtype)
    # np.isdtype raises for dtypes that NumPy does not define, so the kinds of float32 are tested.
    stand_in = np.dtype(np.float32) if dtype_name(dtype) in _LOW_PRECISION else dtype
    for one in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(one, str):
            found = one == dtype.name if one in _LOW_PRECISION else np.isdtype(stand_in, one)
        else:
            found = np.dtype(one).type is dtype.type
        if found:
            return True
    return False


def result_type(*arrays_and_dtypes: Any) -> Any:
    """NumPy has no common dtype of bfloat16 and float16, and a Python float widens the dtypes of ml_dtypes."""
    if 0 < len(arrays_and_dtypes) <= 2:  # in a tenth of the time
        a = arrays_and_dtypes[0]
        operands: Any = getattr(a, "dtype", type(a))
        if len(arrays_and_dtypes) == 2:
            b = arrays_and_dtypes[1]
            operands = operands, getattr(b, "dtype", type(b))
        dtype = _PROMOTED.get(operands)
        if dtype is not None:
            return dtype
    scalars = [item for item in arrays_and_dtypes if type(item) in _SCALARS]
    dtypes = [_dtype_of(item) for item in arrays_and_dtypes if type(item) not in _SCALARS]
    if not {dtype_name(dtype) for dtype in dtypes} & {*_LOW_PRECISION}:
        return np.result_type(*dtypes, *scalars)
    promoted = reduce(_promote, dtypes)
    if dtype_name(promoted) in _LOW_PRECISION:
        # A Python float must not widen a low-precision array, as it does not widen float32; a complex number needs a
        # complex dtype, and complex64 is the narrowest.
        return np.dtype(np.complex64) if complex in map(type, scalars) else promoted
    return np.result_type(promoted, *scalars)


def _promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32) if {a.name, b.name} == {"bfloat16", "float16"} else np.promote_types(a, b)


def _dtype_of(item: Any) -> np.dtype[Any]:
    """The dtype of an array; a dtype is returned as it is. A NumPy scalar class has a descriptor there."""
    dtype = getattr(item, "dtype", None)
    return dtype if isinstance(dtype, np.dtype) else np.dtype(item)
