"""The operations of users, and their compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from xarrayops._generic import declared
from xarrayops.plugin.native import NativeKernel
from xarrayops.plugin.operations import Operation


def carry_operation(xp: ModuleType, operation: Operation, /) -> Callable[..., Any]:
    """A function for calls of a user's operation that a transformation of the library must see.

    These are calls under a compiler, a gradient or a batch, and calls with arrays without values; not plain calls. The
    function is called like ``operation.serve``. It uses the operation's gradient, and derives from the reference what
    the library cannot know about a kernel: shapes, gradients, batches. The generic function returns
    ``operation.serve``, for libraries without transformations.
    """
    return operation.serve


@declared("compiled kernels are not supported", instead='xo.convert(x, "numpy") if the arrays are in host memory')
def native_kernel(xp: ModuleType, native: NativeKernel, /) -> Callable[..., Any]:
    """A kernel that calls a compiled function: ``kernel(*arrays, **options)``, as for `xarrayops.operation`.

    It allocates the results, with the shapes and dtypes of the reference, and passes the current stream of the
    device. The arrays satisfy the requirements of the kernel, and none is None. It may raise `Unsupported` if a package
    is missing. `xarrayops.plugin.native` has helpers for such kernels.
    """
    raise NotImplementedError
