"""Native kernels of users' operations on device arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy

from xarrayops.plugin import Array
from xarrayops.plugin.native import NativeKernel, Results, eager_kernel


def native_kernel(native: NativeKernel, /) -> Callable[..., Any]:
    """A native kernel. The reference runs once for each form of a call, because CuPy lacks arrays without values."""

    def on_stream(*arguments: Any) -> None:
        from tvm_ffi import device, use_raw_stream  # a package of the extra

        place = next(x for x in arguments if isinstance(x, cupy.ndarray)).device.id
        with use_raw_stream(device("cuda", place), cupy.cuda.get_current_stream(place).ptr):
            native.load()(*arguments)

    def results(*arrays: Array, **options: Any) -> Results:
        return Results.of(native.reference(*arrays, **options))

    return eager_kernel(native._replace(load=lambda: on_stream), results=results, empty=_empty)


def _empty(shape: tuple[int, ...], dtype: Any, x: Array) -> Array:
    with x.device:
        return cupy.empty(shape, dtype)
