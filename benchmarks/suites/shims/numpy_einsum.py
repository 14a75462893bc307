"""NumPy's tests of einsum call xo.einsum, on arrays of one library.

The shim translates what NumPy has and xo.einsum has not: subscripts as lists, ``out`` and ``dtype``.
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np

import xarrayops as xo
from shims.routing import DTYPES, route, to_library, to_numpy

OPTIONS = {"out", "dtype", "casting", "optimize"}


def einsum(*arguments: Any, **options: Any) -> Any:
    """NumPy's einsum by ours; NotImplemented without operands, for other options and for other dtypes."""
    out, dtype = options.get("out"), options.get("dtype")
    if not arguments or not options.keys() <= OPTIONS or options.get("casting", "unsafe") != "unsafe":
        return NotImplemented
    subscripts, *operands = arguments if isinstance(arguments[0], str) else subscripts_first(arguments)
    if not operands:
        return NotImplemented
    arrays = [np.asarray(x) for x in operands]
    dtypes = [x.dtype for x in arrays] + [x.dtype for x in (out,) if isinstance(x, np.ndarray)]
    if any(each.name not in DTYPES for each in dtypes) or (out is not None and len(dtypes) == len(arrays)):
        return NotImplemented
    if dtype is not None:
        if np.dtype(dtype).name not in DTYPES:
            return NotImplemented
        arrays = [x.astype(dtype) for x in arrays]
    result = to_numpy(xo.einsum(subscripts, *map(to_library, arrays)))
    if out is not None:
        out[...] = result.astype(out.dtype)
    return result if out is None else out


def subscripts_first(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """``("ij,jk->ik", x, y)`` of ``(x, [0, 1], y, [1, 2], [0, 2])``; all other arguments stay."""
    operands, lists = arguments[: len(arguments) // 2 * 2 : 2], arguments[1::2]
    if not all(np.ndim(np.asarray(each, dtype=object)) == 1 for each in lists):
        return arguments
    result = [arguments[-1]] if len(arguments) % 2 else []
    terms = ["".join(map(_label, each)) for each in (*lists, *result)]
    return "->".join([",".join(terms[: len(lists)]), *terms[len(lists) :]]), *operands


def _label(axis: Any) -> str:
    return "..." if axis is Ellipsis else string.ascii_letters[axis] if 0 <= axis < 52 else "%"


route(np, "einsum", einsum)
