"""Decide from the form of a call whether an engine's function returns the same as the caller's library.

The form consists of the dtypes of the arrays and the classes of the numbers. Libraries follow one standard, but differ
where it does not specify: default dtypes, promotion of integers with floating-point numbers, errors for values.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.find import SCALARS
from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes import defaults
from xarrayops._ops.engines import functions
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.dtypes import INTEGER_LIMITS
from xarrayops.plugin.hooks import array_roles

_INTEGERS = frozenset(("bool", *INTEGER_LIMITS))


def refusal_of_formats(own: Backend, engine: Backend, args: tuple[Any, ...], plain: type) -> str | None:
    """Why an engine cannot serve a call with containers: its index dtypes differ, so the result's would be wider.

    A container has its own format, and the request of `from_dense` has the format of the result. A dense array has
    none.
    """
    for x in _flat(args):
        if type(x) is plain and not own.has_sparse_layouts:
            continue
        sparse = find.sparse_of(x)
        name = getattr(x, "format", None) if sparse is None else sparse.seen(x).format
        if name is not None and own.sparse.index_dtypes(name) != engine.sparse.index_dtypes(name):
            return f"{engine.name} has different index dtypes in {name} containers"
    return None


class Form(Record):
    """The form of a call: the names of its keywords, and a part for each argument, the positional ones first.

    A part is the dtype of an array, the class of another argument, or, for a sequence, a tuple of parts.
    """

    keywords: tuple[str, ...]
    parts: tuple[Any, ...]


def refusal_of_verb(verb: str, own: Backend, engine: Backend) -> str | None:
    """Why an engine cannot serve any call of a verb; None if it can serve some."""
    if verb in functions.OWN_LIBRARY_ONLY:
        return functions.OWN_LIBRARY_ONLY[verb]
    if verb in functions.ERRORS_OF_VALUES and engine.ignores_values and not own.ignores_values:
        return f"{engine.name} does not check the values, and {own.name} raises for some"
    if verb in functions.INDICES and narrower_index(verb, own, engine) is None:
        return _other_default("indexing", own, engine)
    return None


def narrower_index(verb: str, own: Backend, engine: Backend) -> str | None:
    """The index dtype of a library that lacks the engine's, to which results are cast; None for others.

    Such a library lacks the engine's integer dtype, so a result of that dtype is an index or a count.
    """
    wide = default_dtype(engine, "indexing")
    is_lacking = verb in functions.INDICES and own.functions["import_refusal"](wide) is not None
    return default_dtype(own, "indexing") if is_lacking else None


def refusals_of_form(verb: str, own: Backend, engine: Backend, form: Form) -> Iterator[str]:
    """The reasons why an engine cannot serve calls of a form; none if it can."""
    skipped, roles = functions.NOT_PROMOTED.get(verb, ()), array_roles(verb)
    at = len(form.parts) - len(form.keywords)
    joined = list(_flat(tuple(part for i, part in enumerate(form.parts[:at]) if i not in skipped)))
    named = zip(form.keywords, form.parts[at:], strict=True)
    joined += _flat(tuple(part for name, part in named if name in roles))
    for dtype in [part for part in _flat(form.parts) if type(part) is not type]:
        if refusal := _refusal_of_dtype(own.functions["dtype_name"](dtype), dtype, engine):
            yield refusal
    dtypes = [part for part in joined if type(part) is not type]
    numbers = [part for part in joined if part in SCALARS]
    names = [own.functions["dtype_name"](dtype) for dtype in dtypes]
    are_integers = all(name in _INTEGERS for name in names)
    if verb in functions.CAST and are_integers:
        numbers = [number for number in numbers if number not in (float, complex)]
        default = defaults.floating_dtype() or default_dtype(own, "real floating")
        if refusal := engine.functions["import_refusal"](default):
            yield f"integers give {own.name}'s default dtype: {refusal}"
        if verb in functions.ELEMENTWISE:
            result = own.functions[verb](own.functions["empty"]((0,), dtype=dtypes[0]))
            if own.functions["dtype_name"](result.dtype) != default:
                yield f"{verb} of {names[0]} is {result.dtype} in {own.name}"
    if are_integers and verb in functions.DEFAULT_FLOATS and (refusal := _other_default("real floating", own, engine)):
        yield refusal
    gives_integers = are_integers and (verb in functions.SUMS or ("bool" in names and int in numbers))
    if gives_integers and (refusal := _other_default("integral", own, engine)):
        yield refusal
    if len(set(dtypes)) + len(set(numbers)) > 1 and (refusal := _other_promotion(own, engine, dtypes, numbers)):
        yield refusal


def has_integers(own: Backend, form: Form) -> bool:
    """Whether an array of the form has integers or booleans."""
    return any(type(part) is not type and own.functions["dtype_name"](part) in _INTEGERS for part in _flat(form.parts))


def _flat(parts: Any) -> Any:
    for part in parts:
        if type(part) is tuple:
            yield from _flat(part)
        else:
            yield part


def _refusal_of_dtype(name: str | None, dtype: Any, engine: Backend) -> str | None:
    if name is None:
        return f"dtype {dtype} is not one of the standard"
    return engine.functions["import_refusal"](name)


def _other_promotion(own: Backend, engine: Backend, dtypes: list[Any], numbers: list[type]) -> str | None:
    """Why the dtype of the result would differ; None if both libraries promote alike."""
    examples = [number(1) for number in numbers]
    names = [own.functions["dtype_name"](dtype) for dtype in dtypes]
    try:
        ours = own.functions["dtype_name"](own.functions["result_type"](*dtypes, *examples))
        native = map(engine.native_dtype, names)
        theirs = engine.functions["dtype_name"](engine.functions["result_type"](*native, *examples))
    except Exception as error:  # a library may raise any error for dtypes without a common dtype
        return f"{', '.join(names)} have no common dtype: {error}"
    shown = ", ".join([*names, *(f"a Python {number.__name__}" for number in numbers)])
    return None if ours == theirs else f"{shown} give {ours} in {own.name}, and {theirs} in {engine.name}"


def _other_default(kind: str, own: Backend, engine: Backend) -> str | None:
    ours, theirs = default_dtype(own, kind), default_dtype(engine, kind)
    return None if ours == theirs else f"{own.name}'s default dtype ({kind}) is {ours}, and {engine.name}'s is {theirs}"


@cache
def default_dtype(backend: Backend, kind: str) -> str:
    """The name of a default dtype of a library: "real floating", "integral" or "indexing"."""
    native = backend.namespace.__array_namespace_info__().default_dtypes()[kind]
    return backend.functions["dtype_name"](native)
