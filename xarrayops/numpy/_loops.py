"""The loops of ufuncs: the dtypes in which a ufunc computes, chosen by ``dtype=`` and ``casting=`` as in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xarrayops.numpy import _operands as ops
from xarrayops.plugin.candidates import constant_while_tracing

Operand = str | type
"""The name of an array's dtype, or the class of a Python number, which is weakly typed."""


@constant_while_tracing
def loop(name: str, operands: Sequence[Operand], dtype: str | None, casting: Any) -> tuple[str, ...] | None:
    """The dtypes of the operands and the results in a loop of a ufunc; NumPy's errors if there is no such loop.

    ``dtype`` is that of all results. None for dtypes that NumPy lacks: they have no loops.
    """
    import numpy

    if not {x for x in (*operands, dtype) if isinstance(x, str)} <= ops.DTYPES_OF_NUMPY:
        return None
    ufunc = getattr(numpy, name)
    given = [x if isinstance(x, type) and x is not bool else numpy.dtype(x) for x in operands]
    signature = (*[None] * ufunc.nin, *[None if dtype is None else numpy.dtype(dtype)] * ufunc.nout)
    found = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout), signature=signature, casting=casting)
    return tuple(each.name for each in found)


@constant_while_tracing
def loop_of_reduction(name: str, operand: str | None, dtype: str | None) -> str | None:
    """The dtype in which a ufunc reduces or accumulates an array, with any cast; None for dtypes that NumPy lacks."""
    import numpy

    if not {operand, dtype or operand} <= ops.DTYPES_OF_NUMPY:
        return None
    given = None, numpy.dtype(operand), None
    signature = None if dtype is None else numpy.dtype(dtype), None, None
    found = getattr(numpy, name).resolve_dtypes(given, signature=signature, casting="unsafe", reduction=True)
    return str(found[1].name)
