"""Operations of users."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from xarrayops._generic import declared
from xarrayops.plugin.native import NativeKernel
from xarrayops.plugin.operations import Operation


def carry_operation(xp: ModuleType, operation: Operation, /) -> Callable[..., Any]:
    """A function that serves calls of a user's operation where a transformation of the library must see it.

    That is under a compiler, a gradient or a batch, and for arrays without values; not for plain calls. The
    function is called as ``operation.serve``. It keeps the operation's gradient, and derives from the reference
    what the library cannot find out about a kernel: shapes, gradients, batches. The generic function returns
    ``operation.serve``: the library transforms nothing.
    """
    return operation.serve


@declared("it has no way to call compiled functions", instead='xo.convert(x, "numpy") if the arrays are in host memory')
def native_kernel(xp: ModuleType, native: NativeKernel, /) -> Callable[..., Any]:
    """A kernel that calls a compiled function: ``kernel(*arrays, **options)``, as of `xarrayops.operation`.

    It allocates the results, with the shapes and dtypes of the reference, and passes the current stream of the
    device. The arrays have the requirements of the kernel, and all are given. It may raise `Unsupported` if a
    package is missing. `xarrayops.plugin.native` has what such a kernel is made of.
    """
    raise NotImplementedError
