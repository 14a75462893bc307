"""Native kernels of users' operations on device arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy

from xarrayops.plugin import Array, CallTests
from xarrayops.plugin.native import NativeKernel, Results, eager_kernel
from xarrayops_backends.cupy._devices import _KIND

CALL_TESTS = CallTests(
    order={"C": "{x}.flags.c_contiguous", "F": "{x}.flags.f_contiguous"},
    device={_KIND: "True", "any": "True"},
    aligned="not {x}.data.ptr % {x}.dtype.alignment",
    address="{x}.data.ptr",
)


def native_kernel(native: NativeKernel, /) -> Callable[..., Any]:
    """A native kernel. The reference runs once for each form of a call, because CuPy lacks arrays without values."""

    def on_stream(*arguments: Any) -> None:
        from tvm_ffi import device, from_dlpack, use_raw_stream  # a package of the extra

        # -1 for "no wait": the kernel runs on the current stream. Otherwise CuPy lets the default stream wait for it.
        lent = [from_dlpack(x.__dlpack__(stream=-1)) if isinstance(x, cupy.ndarray) else x for x in arguments]
        place = arguments[0].device
        with place, use_raw_stream(device(_KIND, place.id), cupy.cuda.get_current_stream(place.id).ptr):
            native.load()(*lent)

    def results(*arrays: Array, **options: Any) -> Results:
        return Results.of(native.reference(*arrays, **options))

    return eager_kernel(native._replace(load=lambda: on_stream), results=results, empty=_empty)


def _empty(shape: tuple[int, ...], dtype: Any, x: Array) -> Array:
    with x.device:
        return cupy.empty(shape, dtype)
