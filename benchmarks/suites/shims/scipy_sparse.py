"""SciPy's tests of sparse arrays call xo.sparse and xo.matmul.

On another library the operands and the result are converted. Calls that ours refuses with Unsupported are counted, and
SciPy serves them, as it serves arrays that are not two-dimensional, and dtypes that the library does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sps

import xarrayops as xo
from shims.routing import CALLS, DTYPES, LIBRARY, route, to_library, to_numpy

CLASSES = (sps.csr_array, sps.csc_array, sps.coo_array, sps.bsr_array)


def serves(x: Any) -> bool:
    """Whether x is an operand that ours takes: a matrix or a dense array of a dtype that the library has."""
    if isinstance(x, sps.sparray):
        return type(x) in CLASSES and x.ndim == 2 and x.dtype.name in DTYPES
    return type(x) is np.ndarray and x.ndim in (1, 2) and x.dtype.name in DTYPES


def carried(x: Any) -> Any:
    """The operand in the tested library."""
    if not isinstance(x, sps.sparray):
        return to_library(x)
    return x if LIBRARY == "numpy" else xo.sparse.convert(x, backend=LIBRARY)


def verb(function: Callable[..., Any], *, dense: bool = False) -> Callable[..., Any]:
    """A method that calls a verb of ours on operands that it takes. A dense operand makes the result dense."""

    def method(*operands: Any) -> Any:
        if not all(map(serves, operands)):
            return NotImplemented
        try:
            result = function(*map(carried, operands))
        except xo.Unsupported:
            CALLS["refused"] += 1
            return NotImplemented
        is_dense = dense or any(isinstance(x, np.ndarray) for x in operands)
        return to_numpy(result) if is_dense else xo.sparse.convert(result, backend="numpy")

    return method


def binary(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method of two containers of one shape; dense operands and broadcasting stay SciPy's."""
    call = verb(function)
    return lambda a, b: call(a, b) if isinstance(b, sps.sparray) and a.shape == b.shape else NotImplemented


def total(s: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The sum along an axis or of all."""
    if dtype is not None or out is not None or isinstance(axis, tuple):
        return NotImplemented
    return verb(lambda x: xo.sparse.sum(x, axis=axis), dense=True)(s)


def transposed(s: Any, axes: Any = None, copy: bool = False) -> Any:
    """The transpose; SciPy's other options stay SciPy's."""
    return verb(xo.sparse.transpose)(s) if axes is None and not copy else NotImplemented


def filled(s: Any, order: Any = None, out: Any = None) -> Any:
    """The dense array; SciPy's options stay SciPy's."""
    return verb(xo.sparse.to_dense, dense=True)(s) if order is None and out is None else NotImplemented


def conversion(format: str) -> Callable[..., Any]:
    """The method that converts to a format."""

    def method(s: Any, copy: bool = False, **options: Any) -> Any:
        if (s.format == format and not copy) or options:
            return NotImplemented  # SciPy returns the container itself, or has options of its own
        return verb(lambda x: xo.sparse.convert(x, format=format))(s)

    return method


for container in CLASSES:
    route(container, "__add__", binary(xo.sparse.add))
    route(container, "multiply", binary(xo.sparse.multiply))
    route(container, "__matmul__", verb(xo.matmul))
    route(container, "__rmatmul__", verb(lambda s, x: xo.matmul(x, s)))
    route(container, "sum", total)
    route(container, "transpose", transposed)
    route(container, "toarray", filled)
    for name in ("csr", "csc", "coo", "bsr"):
        route(container, f"to{name}", conversion(name))
