"""The standard's functions of dtypes.

They dispatch on the dtype's own class; a dtype's name uses the default library.
"""

from __future__ import annotations

from typing import Any

from xarrayops._core import default_backend, registry
from xarrayops._core.dispatch import (
    Home,
    common_backend,
    conforms,
    constant_while_tracing,
    creator,
    hold_verb,
    home as array_home,
    is_unmet,
    resolved,
    signature,
)
from xarrayops._core.registry import SCALARS, Backend
from xarrayops._ops.explanation import Explanation, explain_served
from xarrayops._ops.verb import Verb
from xarrayops._protocol.candidates import Call
from xarrayops._protocol.dtypes import DTYPE_NAMES
from xarrayops._protocol.types import Array
from xarrayops.errors import BackendNotFound

DType = Any


def can_cast(from_: DType | Array, to: DType, /) -> bool:
    """Whether promotion allows a dtype, or an array's dtype, to become another.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.can_cast.html>
    """
    return bool(_call("can_cast", from_, to))


def finfo(type: DType | Array, /) -> Any:
    """Limits of a floating-point dtype.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.finfo.html>
    """
    return _call("finfo", type)


def iinfo(type: DType | Array, /) -> Any:
    """Limits of an integer dtype.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.iinfo.html>
    """
    return _call("iinfo", type)


def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """Whether a dtype is of a kind: "bool", "integral", "real floating", "numeric" …, a dtype, or one of several.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.isdtype.html>
    """
    return _is_of_kind(_home("isdtype", dtype), dtype, kind if isinstance(kind, tuple) else (kind,))


@constant_while_tracing
def _is_of_kind(home: Home, dtype: Any, kinds: tuple[Any, ...]) -> bool:
    backend = _backend(home)
    native = backend.native_dtype(dtype)
    name = backend.functions["dtype_name"](native)
    for kind in kinds:
        if isinstance(kind, str) and kind in DTYPE_NAMES:  # a library that lacks the dtype has no array of it
            found = kind == name
        else:
            found = backend.functions["isdtype"](native, kind if isinstance(kind, str) else backend.native_dtype(kind))
        if found:
            return True
    return False


def result_type(*arrays_and_dtypes: Array | DType | complex) -> DType:
    """The native dtype that promotion of arrays, dtypes and Python scalars yields.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.result_type.html>
    """
    return _call("result_type", *arrays_and_dtypes)


def _call(verb: str, *items: Any) -> Any:
    """Call what serves a verb, with every dtype native."""
    home = _home(verb, *items)
    function = getattr(resolved, _hold_function(verb, home))
    return function(*[item if type(item) in SCALARS or _is_array(item) else _native(home, item) for item in items])


def _home(verb: str, *items: Any) -> Home:
    """Where some arrays and dtypes are served: by the class of an array or of a dtype; by default if only by names.

    What it gives is a constant to torch.compile, which calls the functions below that are marked so while it traces.
    """
    arrays = {f"arguments[{i}]": item for i, item in enumerate(items) if _is_array(item)}
    if arrays:
        homes = [array_home(x) for x in arrays.values()]
        known = [each for each in homes if each is not None]
        if len(known) < len(homes) or len({_hold_function(verb, each) for each in known}) > 1:
            common_backend(verb, arrays)  # raises
        return known[0]
    for item in items:
        if type(item) not in SCALARS and not isinstance(item, str) and _is_dtype(item):
            return item if isinstance(item, type) else type(item), None
    if not any(isinstance(item, str) for item in items):
        raise BackendNotFound(f"xo.{verb} needs an array, a dtype or a dtype's name; it was given {items!r}.")
    return type(None), default_backend.current()[0]


def _is_array(item: Any) -> bool:
    cls = type(item)
    return not is_unmet(cls) or (conforms(cls) and registry.admit(item) is not None)


@constant_while_tracing
def _is_dtype(item: Any) -> bool:
    return registry.dtype_backend_name(item) is not None


def _backend(home: Home) -> Backend:
    cls, name = home
    owner = registry.dtype_backend_name(cls) if name is None and is_unmet(cls) else None
    return creator(cls, name) if owner is None else registry.backend_by_dtype_owner(owner)


@constant_while_tracing
def _hold_function(verb: str, home: Home) -> str:
    return hold_verb(verb, _backend(home))


@constant_while_tracing
def _native(home: Home, dtype: Any) -> Any:
    return _backend(home).native_dtype(dtype)


def explain_dtypes(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """What serves a function of dtypes, in the library of its arrays and dtypes."""
    bound = signature(verb).bind(*args, **kwargs)
    items = bound.args[:1] if verb == "isdtype" else bound.args
    home = _home(verb, *items)
    for item in items:
        if type(item) not in SCALARS and not _is_array(item):
            _native(home, item)
    return explain_served(verb, _backend(home), Call(bound.args, bound.kwargs))


VERBS = (
    Verb("can_cast", can_cast, explain=explain_dtypes),
    Verb("finfo", finfo, explain=explain_dtypes),
    Verb("iinfo", iinfo, explain=explain_dtypes),
    Verb("isdtype", isdtype, explain=explain_dtypes),
    Verb("result_type", result_type, explain=explain_dtypes),
)
