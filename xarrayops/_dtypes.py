"""The standard's functions of dtypes.

They dispatch on the dtype's own class; a dtype's name uses the default library.
"""

from __future__ import annotations

from typing import Any

from xarrayops import _default, registry
from xarrayops.dispatch import common_backend
from xarrayops.errors import BackendNotFound
from xarrayops.plugin import Array
from xarrayops.registry import SCALARS, Backend

DType = Any


def can_cast(from_: DType | Array, to: DType, /) -> bool:
    """Whether promotion allows a dtype, or an array's dtype, to become another.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.can_cast.html>
    """
    backend = _backend("can_cast", from_, to)
    return bool(backend.functions["can_cast"](_native(backend, from_), _native(backend, to)))


def finfo(type: DType | Array, /) -> Any:
    """Limits of a floating-point dtype.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.finfo.html>
    """
    backend = _backend("finfo", type)
    return backend.functions["finfo"](_native(backend, type))


def iinfo(type: DType | Array, /) -> Any:
    """Limits of an integer dtype.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.iinfo.html>
    """
    backend = _backend("iinfo", type)
    return backend.functions["iinfo"](_native(backend, type))


def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """Whether a dtype is of a kind: "bool", "integral", "real floating", "numeric" …, a dtype, or one of several.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.isdtype.html>
    """
    backend = _backend("isdtype", dtype)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return any(_is_of_kind(backend, _native(backend, dtype), one) for one in kinds)


def _is_of_kind(backend: Backend, dtype: Any, kind: Any) -> bool:
    is_dtype = not isinstance(kind, str) or (kind != "bool" and kind in vars(backend.namespace))
    return bool(backend.functions["isdtype"](dtype, backend.native_dtype(kind) if is_dtype else kind))


def result_type(*arrays_and_dtypes: Array | DType | complex) -> DType:
    """The native dtype that promotion of arrays, dtypes and Python scalars yields.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.result_type.html>
    """
    backend = _backend("result_type", *arrays_and_dtypes)
    return backend.functions["result_type"](*(_native(backend, item) for item in arrays_and_dtypes))


def _backend(verb: str, *items: Any) -> Backend:
    """The one library of some arrays and dtypes; the default where only names are given."""
    arrays = {f"arguments[{i}]": item for i, item in enumerate(items) if registry.admit(item) is not None}
    if arrays:
        return common_backend(verb, arrays)
    for item in items:
        name = None if type(item) in SCALARS or isinstance(item, str) else registry.dtype_backend_name(item)
        if name is not None:
            return registry.backend_by_dtype_owner(name)
    if not any(isinstance(item, str) for item in items):
        raise BackendNotFound(f"xo.{verb} needs an array, a dtype or a dtype's name; it was given {items!r}.")
    return registry.backend_by_name(_default.current()[0])


def _native(backend: Backend, item: Any) -> Any:
    return item if type(item) in SCALARS or registry.admit(item) is not None else backend.native_dtype(item)
