"""Operations of users on Dask arrays: block by block if the operation is blockwise, else by the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.plugin import Array, Operation, core_dimensions, written_options
from xarrayops_backends.dask._blocks import da


class _OfBlock:
    """The operation with its options. Dask would pickle a function for its token, which takes a second."""

    def __init__(self, operation: Operation, options: dict[str, Any]) -> None:
        self._name = operation.name
        self._function = operation.function
        self._options = options

    def __call__(self, *blocks: Any) -> Any:
        return self._function(*blocks, **self._options)

    def __dask_tokenize__(self) -> Any:
        return self._name, id(self._function), written_options(self._options)


def _with_whole(x: Any, count: int) -> Any:
    """x with one chunk along each of its last axes."""
    return x.rechunk(dict.fromkeys(range(x.ndim - count, x.ndim), -1))


def carry_operation(operation: Operation, /) -> Callable[..., Any]:
    """A kernel for Dask arrays; else the operation on blocks that hold whole core dimensions; else the reference."""
    if operation.has_kernel or operation.blockwise is None:
        return operation.serve

    cores = core_dimensions(operation.blockwise)

    def call(*arrays: Array | None, **options: Any) -> Any:
        if any(x is None for x in arrays):
            return operation.reference(*arrays, **options)
        of_block = _OfBlock(operation, options)
        with np.errstate(all="ignore"):
            sample = of_block(*(np.zeros((1,) * x.ndim, x.dtype) for x in arrays if x is not None))
        dtypes = [y.dtype for y in sample] if isinstance(sample, tuple) else sample.dtype
        whole = [_with_whole(x, n) for x, n in zip(arrays, cores, strict=True)]
        return da.apply_gufunc(of_block, operation.blockwise, *whole, output_dtypes=dtypes)

    return call
