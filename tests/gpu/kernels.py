"""Probes of our own kernels, of streams, graphs and several devices: exact results, compared with NumPy's."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from report import Probe, Wrong, accelerated, grid, libraries, on, places

import xarrayops as xo
from xarrayops.plugin import Device

SOURCE = """
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/cuda/base.h>
#include <tvm/ffi/function.h>
using tvm::ffi::TensorView;

__global__ void doubled(const float* x, float* y, int64_t n) {
  int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

void twice(TensorView x, TensorView out) {
  auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(x.device().device_type, x.device().device_id));
  int64_t n = x.numel();
  if (n) doubled<<<(n + 255) / 256, 256, 0, stream>>>(
      static_cast<const float*>(x.data_ptr()), static_cast<float*>(out.data_ptr()), n);
  TVM_FFI_CHECK_CUDA_ERROR(cudaGetLastError());
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(twice, twice);
"""
"""A kernel for the current device: the backend must make that of the arrays current."""
SEEDS = (0, 1, 2**63)
DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        f"{name} {dtype}": lambda rng, size, name=name, dtype=dtype: getattr(rng, name)(size=size, dtype=dtype)
        for name in ("random", "normal", "exponential")
        for dtype in ("float32", "float64")
    },
    **{
        f"integers below {high}": lambda rng, size, high=high: rng.integers(0, high, size=size)
        for high in (2, 1000, 2**40)
    },
    "permutation": lambda rng, size: rng.permutation(int(np.prod(size))),
}
CALLS: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x + x,
    "matmul": lambda x: xo.matmul(x, xo.matrix_transpose(x)),
    "sum": lambda x: xo.sum(x, axis=0),
    "softmax": lambda x: xo.softmax(x * 0),
    "sort": lambda x: xo.sort(x, axis=-1),
}


def compared(found: Any, want: Any) -> None:
    """Raise if a result differs from NumPy's in a bit."""
    host = xo.convert(found, "numpy")
    if host.dtype != want.dtype or not np.array_equal(host, want):
        differing = int(np.sum(host != want)) if host.shape == want.shape else -1
        raise Wrong(
            f"{differing} of {want.size} numbers differ; {host.dtype} {host.shape}, not {want.dtype} {want.shape}"
        )


def each_place(probe: Probe, examined: Callable[[str, Device], dict[str, Any]]) -> None:
    """A case for each device of each library."""
    for library in libraries():
        for place in places(library):
            probe.examine(f"{library} {place.name}", lambda *given, a=(library, place): examined(*a))


def native(probe: Probe) -> None:
    """A CUDA source of an operation, built here, on every device while the first one is current."""
    operation = xo.operation("probes::twice")(lambda x: xo.add(x, x))
    served = tuple(library for library in libraries() if places(library)[0].kind == "cuda" and accelerated(library))
    if not served:
        probe.note("every library", "refused", reason="no CUDA device")
        return
    operation.native("cuda", sources={"twice.cu": SOURCE}, entry="twice", serves=served, dtypes=("float32",))
    operation.build()

    def examined(library: str, place: Device) -> dict[str, Any]:
        for size in (1, 1000, 100_003):
            host = grid((size,), size)
            x = on(library, host, place)
            compared(operation(x), 2 * host)
        chosen = xo.explain(operation, x).chosen
        if library in served and chosen != f"{library}:cuda":
            raise Wrong(f"{chosen} serves")
        return {"kernel": chosen}

    each_place(probe, examined)


def draws(probe: Probe) -> None:
    """Random numbers on every device: the bits of NumPy's."""

    def examined(library: str, place: Device) -> dict[str, Any]:
        sizes = ((), (3,), (257, 5), (1000, 1001)) if accelerated(library) else ((), (10, 11))
        for name, draw in DRAWS.items():
            for size in sizes:
                for seed in SEEDS:
                    try:
                        compared(
                            draw(xo.random.default_rng(seed, backend=library, device=place.native), size),
                            draw(xo.random.default_rng(seed), size),
                        )
                    except Wrong as error:
                        raise Wrong(f"{name} of shape {size} with seed {seed}: {error}") from None
        return {"draws": len(DRAWS)}

    each_place(probe, examined)


def integers(probe: Probe) -> None:
    """Products of 8-bit integers of all kinds of shapes: exact, and wrapping without ``out_dtype``."""
    shapes = [
        ((1, 64), (64, 8)),
        ((16, 100), (100, 24)),
        ((17, 33), (33, 7)),
        ((3, 20, 64), (64, 32)),
        ((8, 4100), (4100, 16)),
    ]

    def examined(library: str, place: Device) -> dict[str, Any]:
        random = np.random.default_rng(0)
        for dtype in ("int8", "uint8"):
            limits = np.iinfo(dtype)
            for first, second in shapes:
                a, b = (random.integers(limits.min, limits.max + 1, shape).astype(dtype) for shape in (first, second))
                exact = a.astype(np.int64) @ b.astype(np.int64)
                x, y = (on(library, each, place) for each in (a, b))
                compared(xo.matmul(x, y, out_dtype="int32"), exact.astype(np.int32))
                compared(xo.matmul(x, y), exact.astype(dtype))
        return {"shapes": len(shapes)}

    each_place(probe, examined)


def quantised(probe: Probe) -> None:
    """`xo.quantize` and `xo.qmatmul` of two and three axes: the bits of NumPy's."""

    def examined(library: str, place: Device) -> dict[str, Any]:
        random = np.random.default_rng(0)
        weights = random.standard_normal((64, 24)).astype("float32")
        for shape in ((1, 64), (40, 64), (2, 5, 64)):
            host = random.standard_normal(shape).astype("float32")
            for scheme in ("symmetric", "asymmetric"):
                want, x = xo.quantize(host, axis=-2, scheme=scheme), on(library, host, place)
                found = xo.quantize(x, axis=-2, scheme=scheme)
                compared(found.values, want.values)
                compared(found.scale, want.scale)
            w, on_device = xo.quantize(weights, axis=-1), xo.quantize(on(library, weights, place), axis=-1)
            compared(xo.qmatmul(x, on_device), xo.qmatmul(host, w))
        return {}

    each_place(probe, examined)


def streams(probe: Probe) -> None:
    """Work and conversions in four streams at once, with the engines of the other libraries."""
    host = grid((512, 512))
    for library in libraries():

        def examined(library: str = library) -> dict[str, Any]:
            others = [name for name in libraries() if name != library]
            results = []
            for stream in _streams(library, 4):
                with stream:
                    x = on(library, host)
                    for _ in range(10):
                        x = xo.matmul(x, xo.matrix_transpose(x)) * 0 + on(library, host)
                    for other in others:
                        x = xo.convert(xo.convert(x, other) + 0, library)
                    with xo.engines(*others):
                        results.append(xo.sort(x, axis=-1))
            for found in results:
                compared(found, np.sort(host, axis=-1))
            return {"streams": len(results), "through": others}

        probe.examine(library, examined)


def _streams(library: str, count: int) -> list[AbstractContextManager[Any]]:
    """Streams of PyTorch or CuPy; JAX has none that users choose."""
    if not accelerated(library) or library == "jax":
        return [nullcontext() for _ in range(count)]
    module = importlib.import_module(library)
    if library == "cupy":
        return [module.cuda.Stream(non_blocking=True) for _ in range(count)]
    return [module.cuda.stream(module.cuda.Stream()) for _ in range(count)]


def graphs(probe: Probe) -> None:
    """A CUDA graph that captures our functions, replayed with other values."""
    if "torch" not in libraries() or not accelerated("torch"):
        probe.note("torch", "refused", reason="no CUDA device")
        return
    import torch

    first, second = grid((128, 64), 1), grid((128, 64), 2)
    for name, call in CALLS.items():

        def examined(call: Callable[[Any], Any] = call) -> dict[str, Any]:
            x = on("torch", first)
            call(x)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                found = call(x)
            x.copy_(on("torch", second))
            graph.replay()
            compared(found, xo.convert(call(on("torch", second)), "numpy"))
            return {}

        probe.examine(name, examined)


def several(probe: Probe) -> None:
    """Compiled functions and engines on the second device, while the first one is current."""
    host = grid((64, 64))
    for library in libraries():
        found = places(library)
        if len(found) < 2:
            probe.note(library, "refused", reason="it has one device")
            continue

        def examined(library: str = library, found: list[Device] = found) -> dict[str, Any]:
            compiled = xo.jit(lambda x: xo.sort(xo.add(x, x), axis=-1))
            for place in (*found[:2], *found[:2]):
                x = on(library, host, place)
                results = [compiled(x)]
                with xo.engines(*(name for name in libraries() if name != library)):
                    results += [xo.sort(xo.add(x, x), axis=-1)]
                for result in results:
                    if xo.device(result) != place.native:
                        raise Wrong(f"the result is on {xo.device(result)}, not on {place.name}")
                    compared(result, np.sort(2 * host, axis=-1))
            if len(compiled.ledger) != 2:
                raise Wrong(f"{len(compiled.ledger)} signatures for two devices")
            return {}

        probe.examine(library, examined)


PROBES = (native, draws, integers, quantised, streams, graphs, several)
