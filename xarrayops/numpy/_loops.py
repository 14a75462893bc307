"""The dtypes in which NumPy computes an elementwise function: its loops, by ``numpy.<function>.resolve_dtypes``."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import xarrayops as xo
from xarrayops._core.backends.dtype_names import name_of
from xarrayops._core.modes.defaults import floating_dtype
from xarrayops.numpy import _operands as ops, _promotion
from xarrayops.plugin.candidates import constant_while_tracing

_WEAK = (int, float, complex)
"""The Python numbers that NumPy types weakly."""
_found: dict[Any, Any] = {}


Loop = tuple[tuple[str, ...], tuple[str | None, ...] | None, tuple[str, ...]]
"""The dtypes of the operands and results; those to which operands are cast; those that no operand has, but bool.

If no operand is cast, and the library has all dtypes, the second is None.
"""


def loop(name: str, values: list[Any], dtype: str | None, casting: str) -> Loop | None:
    """The loop in which NumPy computes; `TypeError` where it has none, or the cast is not allowed.

    None for dtypes that NumPy lacks, and where the default of `xarrayops.use` decides.
    """
    kinds = tuple([x.dtype if hasattr(x, "dtype") else type(x) for x in values])
    return _loop_of(name, kinds, dtype, casting, floating_dtype())


@constant_while_tracing
def _loop_of(name: str, kinds: tuple[Any, ...], dtype: str | None, casting: str, default: str | None) -> Loop | None:
    key = name, kinds, dtype, casting, default
    try:
        return _found[key]
    except KeyError:
        names = [kind if kind in ops.NUMBERS else name_of(kind) for kind in kinds]
        dtypes: tuple[str, ...] | None = None
        if {*names, dtype} - {None, *ops.NUMBERS} <= _promotion.DTYPES_OF_NUMPY and None not in names:
            dtypes = _resolved(name, names, dtype, "same_kind" if casting == "same_value" else casting)
            dtypes = dtypes if default is None or dtype is not None else _in_default(names, dtypes, default)
        found = None
        if dtypes is not None:
            pairs = zip(names, dtypes, strict=False)
            casts = tuple(None if _fits(own, wanted) else wanted for own, wanted in pairs)
            # a cast counts although an operand has its dtype: that may be a NumPy scalar next to an array of JAX
            new = (each for each, to in zip_longest(dtypes, casts) if each not in names or each == to)
            added = tuple(dict.fromkeys(each for each in new if each != "bool"))
            found = dtypes, casts if added or any(casts) else None, added
        return _found.setdefault(key, found)


def _fits(own: Any, wanted: str) -> bool:
    """Whether an operand needs no cast. A Python number takes the dtype of the arrays if its class is not higher."""
    higher = {int: ("bool",), float: ("bool", "int"), complex: ("bool", "int", "float")}.get(own, ())
    return own == wanted or (own in ops.NUMBERS and not any(kind in wanted for kind in higher))


def _resolved(name: str, kinds: list[Any], dtype: str | None, casting: str) -> tuple[str, ...]:
    import numpy

    function: Any = getattr(numpy, name)
    outputs = [None] * function.nout
    chosen = {} if dtype is None else {"signature": (*[None] * len(kinds), *[numpy.dtype(dtype)] * function.nout)}
    if any(kind in _WEAK for kind in kinds):
        # resolve_dtypes crashes the process (NumPy 2.4) where a Python number may not be cast, so a call looks first.
        function(*(kind(1) if kind in _WEAK else numpy.ones(0, kind) for kind in kinds), dtype=dtype, casting=casting)
        casting = "unsafe"
    given = [kind if kind in _WEAK else numpy.dtype(kind) for kind in kinds]
    found = function.resolve_dtypes((*given, *outputs), casting=casting, **chosen)
    return tuple([each.name for each in found])


def _in_default(names: list[Any], found: tuple[str, ...], default: str) -> tuple[str, ...] | None:
    """The default floating-point dtype instead of NumPy's where all operands are integers; else the library's."""
    if any(name in (float, complex) or (name not in _WEAK and not _is_integer(name)) for name in names):
        return None
    return tuple(default if xo.isdtype(name, "real floating") else name for name in found)


def _is_integer(name: Any) -> bool:
    return name is bool or xo.isdtype(name, ("integral", "bool"))


def reduction_loop(name: str, method: str, x: Any, dtype: str | None) -> str | None:
    """The dtype in which NumPy reduces or accumulates an array; `TypeError` if it has no loop; None as in `loop`."""
    return _reduction_loop_of(name, method, x.dtype, dtype, floating_dtype())


@constant_while_tracing
def _reduction_loop_of(name: str, method: str, kind: Any, dtype: str | None, default: str | None) -> str | None:
    key = name, method, kind, dtype, default
    if key not in _found:
        own = name_of(kind)
        is_known = {own, dtype or own} <= _promotion.DTYPES_OF_NUMPY
        found = _reduced(name, method, own, dtype) if is_known else None
        is_default = found is not None and default is not None and dtype is None and not _is_integer(found)
        wanted = default if is_default and _is_integer(own) else found
        _found[key] = dtype if wanted is None else wanted
    return _found[key]


def _reduced(name: str, method: str, own: str | None, dtype: str | None) -> str:
    import numpy

    return getattr(getattr(numpy, name), method)(numpy.ones(2, own), dtype=dtype).dtype.name
