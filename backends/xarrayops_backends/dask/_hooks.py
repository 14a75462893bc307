"""What xarrayops asks of a backend beyond the standard."""

from __future__ import annotations

from importlib import metadata

import numpy as np

from xarrayops.plugin import Array
from xarrayops_backends.dask import _blocks
from xarrayops_backends.dask._blocks import da


def versions() -> dict[str, str]:
    """Dask's version, and NumPy's, which does the work."""
    return {"dask": metadata.version("dask"), "numpy": np.__version__}


def is_lazy(x: Array, /) -> bool:
    """Always: even an array made of NumPy's memory is a task graph."""
    return True


def compute(*arrays: Array) -> tuple[Array, ...]:
    """The arrays as their chunks' library has them, by one run of the scheduler, which shares what they share."""
    values = da.compute(*arrays)
    return tuple(np.asarray(v) if isinstance(v, np.generic) else v for v in values)


def synchronize(*arrays: Array) -> None:
    """Nothing runs behind the caller's back."""


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """Dask's einsum, which fails on the diagonal of unlike chunks, and sums products of small integers as int64."""
    terms = subscripts.replace(" ", "").partition("->")[0].replace("...", "").split(",")
    wide = map(_blocks.widened, operands)
    pieces = (x if len(set(term)) == len(term) else x.rechunk(-1) for x, term in zip(wide, terms, strict=True))
    with _blocks.unwarned():
        return da.einsum(subscripts, *pieces).astype(np.result_type(*(x.dtype for x in operands)))
