"""The functions of the standard for dtypes.

They dispatch on the class of a native dtype. If all dtypes are names, the default library serves them.
"""

from __future__ import annotations

from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.find import SCALARS
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.arguments import has_array_namespace, signature
from xarrayops._core.dispatch.creation import creation_backend
from xarrayops._core.dispatch.errors import FAILURES, add_call
from xarrayops._core.dispatch.lookup import constant_while_tracing
from xarrayops._core.modes import defaults
from xarrayops._ops.explained import explain_served
from xarrayops._ops.explanation import Explanation
from xarrayops._ops.verb import Verb
from xarrayops.errors import NotAnArray
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.dtypes import COMPLEX_OF

DType = Any
_answers: dict[tuple[type, DType, Any], bool] = {}
"""Cached results of `isdtype`, by class and native dtype. The class comes first because array_api_strict warns if its
dtypes are compared with dtypes of other classes."""


def can_cast(from_: DType | Array, to: DType, /) -> bool:
    """Whether promotion allows a dtype, or an array's dtype, to become another.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.can_cast.html>
    """
    return bool(_call("can_cast", from_, to))


def finfo(type: DType | Array, /) -> Any:
    """The limits of a floating-point dtype.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.finfo.html>
    """
    return _call("finfo", type)


def iinfo(type: DType | Array, /) -> Any:
    """The limits of an integer dtype.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.iinfo.html>
    """
    return _call("iinfo", type)


@constant_while_tracing
def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """Whether a dtype is of a kind: "bool", "integral", "real floating", "numeric" …, a dtype, or a tuple of these.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.isdtype.html>
    """
    key = (type(dtype), dtype, kind)
    try:
        return _answers[key]
    except (KeyError, TypeError):
        backend = _backend("isdtype", dtype)
        try:
            answer = backend.is_of_kind(dtype, kind if isinstance(kind, tuple) else (kind,))
        except FAILURES as error:
            add_call(error, "isdtype", dtype, kind)
            raise
    if not isinstance(dtype, str):  # the default library serves names
        _answers[key] = answer
    return answer


def result_type(*arrays_and_dtypes: Array | DType | complex) -> DType:
    """The native dtype that results from promotion of arrays, dtypes and Python scalars.

    Integers and a Python float give the default floating-point dtype.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.result_type.html>
    """
    default = defaults.floating_dtype()
    if default is not None:
        others = [item for item in arrays_and_dtypes if type(item) not in (float, complex)]
        if 0 < len(others) < len(arrays_and_dtypes):
            backend, dtype = _backend("result_type", *others), _call("result_type", *others)
            if backend.is_of_kind(dtype, ("bool", "integral")):
                is_complex = any(type(item) is complex for item in arrays_and_dtypes)
                return backend.native_dtype(COMPLEX_OF[default] if is_complex else default)
    return _call("result_type", *arrays_and_dtypes)


def _call(verb: str, *items: Any) -> Any:
    """Call the backend's function for a verb, with every dtype native."""
    backend = _backend(verb, *items)
    natives = [item if type(item) in SCALARS or _is_array(item) else backend.native_dtype(item) for item in items]
    try:
        return backend.functions[verb](*natives)
    except FAILURES as error:
        add_call(error, verb, *items)
        raise


def _backend(verb: str, *items: Any) -> Backend:
    """The backend of an array or of a native dtype; the default backend if all items are names."""
    arrays = {f"arguments[{i}]": item for i, item in enumerate(items) if _is_array(item)}
    if arrays:
        return find.one_of(verb, arrays)
    for item in items:
        backend = None if type(item) in SCALARS or isinstance(item, str) else find.of_dtype(item)
        if backend is not None:
            return backend
    if not any(isinstance(item, str) for item in items):
        raise NotAnArray(f"xo.{verb} needs an array, a dtype or the name of a dtype; the arguments were {items!r}.")
    return creation_backend(None, None)[0]


def _is_array(item: Any) -> bool:
    cls = type(item)
    return find.of_class(cls) is not None or (has_array_namespace(cls) and find.if_array(item) is not None)


def explain_dtypes(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain a function of dtypes in the library of its arrays and dtypes."""
    bound = signature(verb).bind(*args, **kwargs)
    items = bound.args[:1] if verb == "isdtype" else bound.args
    backend = _backend(verb, *items)
    for item in items:
        if type(item) not in SCALARS and not _is_array(item):
            backend.native_dtype(item)
    return explain_served(verb, backend, Call(bound.args, bound.kwargs))


VERBS = (
    Verb("can_cast", can_cast, explain=explain_dtypes),
    Verb("finfo", finfo, explain=explain_dtypes),
    Verb("iinfo", iinfo, explain=explain_dtypes),
    Verb("isdtype", isdtype, explain=explain_dtypes),
    Verb("result_type", result_type, explain=explain_dtypes),
)
