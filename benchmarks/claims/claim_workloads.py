"""The workloads of the claims: built-in workloads at the claimed sizes, and a few others.

Some call PyTorch directly, because the claims are about features that only PyTorch has.
"""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench import Workload
from xarrayops.bench.workloads import WORKLOADS as BUILT_IN
from xarrayops.plugin import Array

_BATCH, _HEADS, _HEAD_SIZE = 8, 8, 64
_HALF_IN_FLOAT = 2.0**13
"""The epsilon of float16 in units of the epsilon of float32."""
_built_in = {workload.name: workload for workload in BUILT_IN}


def _sized(name: str, built_in: str, toy: int, default: int, **changes: Any) -> Workload:
    """A built-in workload under another name, in float32 and at one size."""
    sizes = {"toy": (toy,), "default": (default,)}
    return replace(_built_in[built_in], name=name, sizes=sizes, dtypes=("float32",), **changes)


def _columns(n: int) -> int:
    return n * 4 // 3


def plain_attention(q: Array, k: Array, v: Array, /) -> Array:
    """``softmax(q @ k.T / sqrt(d)) @ v`` as separate functions, with all scores in memory at once."""
    scores = xo.multiply(xo.matmul(q, xo.matrix_transpose(k)), 1 / math.sqrt(_HEAD_SIZE))
    weights = xo.exp(xo.subtract(scores, xo.max(scores, axis=-1, keepdims=True)))
    return xo.matmul(xo.divide(weights, xo.sum(weights, axis=-1, keepdims=True)), v)


def _attention(name: str, function: Callable[..., Array], timed: str) -> Workload:
    """Eight times the built-in workload, at two lengths, so that the result exceeds the overhead of a process."""
    return replace(
        _built_in["attention prefill"],
        name=name,
        function=function,
        inputs=lambda random, n: tuple(random.standard_normal((_BATCH, _HEADS, n, _HEAD_SIZE)) for _ in range(3)),
        sizes={"toy": (16, 32), "default": (512, 1024)},
        timed=f"{timed}: 8 sequences, 8 heads of 64",
        operations=lambda n: 4.0 * _BATCH * _HEADS * _HEAD_SIZE * n * n,
    )


def _product_relu(a: Any, b: Any) -> Any:
    return np.maximum(a @ b, 0)


def matmul_relu(a: Any, b: Any, /) -> Any:
    """``relu(a @ b)`` in eager PyTorch."""
    import torch

    return torch.relu(a @ b)


@cache
def _script() -> Callable[[Any, Any], Any]:
    import torch

    if not hasattr(torch.jit, "script"):
        raise xo.Unsupported(f"PyTorch {torch.__version__} has no TorchScript. Instead: torch.compile.")

    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.relu(a @ b)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        scripted: Callable[[Any, Any], Any] = torch.jit.script(product)
    return scripted


def scripted_matmul_relu(a: Any, b: Any, /) -> Any:
    """``relu(a @ b)`` in TorchScript."""
    return _script()(a, b)


def layers(x: Any, *weights: Any) -> Any:
    """Matrix products, each followed by relu."""
    for w in weights:
        x = matmul_relu(x, w)
    return x


def autocast_layers(x: Any, *weights: Any) -> Any:
    """The layers under autocast to float16, with a float32 result."""
    if not x.is_cuda:
        raise xo.Unsupported("the claim is about float16 on CUDA. Instead: a CUDA device.")
    import torch

    with torch.autocast("cuda", dtype=torch.float16):
        return layers(x, *weights).float()


@cache
def _compiled_by_tensorrt() -> Callable[..., Any]:
    import torch
    import torch_tensorrt  # noqa: F401 - it registers the compiler

    compiled: Callable[..., Any] = torch.compile(layers, backend="tensorrt", options={"use_fp32_acc": True})
    return compiled


def tensorrt_layers(x: Any, *weights: Any) -> Any:
    """The layers in float16, compiled by TensorRT, with a float32 result. It was never run on hardware."""
    if not x.is_cuda or importlib.util.find_spec("torch_tensorrt") is None:
        raise xo.Unsupported("the claim is about TensorRT. Instead: a CUDA device, and pip install torch-tensorrt.")
    return _compiled_by_tensorrt()(x.half(), *(w.half() for w in weights)).float()


def any_layers(x: Any, *weights: Any) -> Any:
    """The layers in functions of xarrayops."""
    for w in weights:
        x = xo.maximum(xo.matmul(x, w), 0.0)
    return x


def bfloat16_layers(x: Any, *weights: Any) -> Any:
    """The layers in bfloat16, with a float32 result."""
    narrow = (xo.astype(w, "bfloat16") for w in weights)
    return xo.astype(any_layers(xo.astype(x, "bfloat16"), *narrow), "float32")


def _layers(random: Any, n: int) -> tuple[Any, ...]:
    """Inputs, and weights that preserve the magnitude of the activations."""
    return (random.standard_normal((n, n)), *(random.standard_normal((n, n)) / math.sqrt(n / 2) for _ in range(3)))


def _expected_layers(x: Any, *weights: Any) -> Any:
    for w in weights:
        x = _product_relu(x, w)
    return x


def _stack(name: str, function: Callable[..., Any], tolerance: float, timed: str) -> Workload:
    """A workload without operations, because the float32 roofline does not apply to float16."""
    return Workload(
        name,
        function,
        inputs=_layers,
        expected=_expected_layers,
        sizes={"toy": (48,), "default": (4096,)},
        timed=timed,
        tolerance=lambda n: tolerance * math.sqrt(n),
    )


WORKLOADS = (
    _sized("matmul contiguous", "matmul", 48, 1024),
    _sized("matmul transposed", "matmul transposed", 48, 1024),
    _sized("matmul strided", "matmul strided", 48, 1024),
    _sized("matmul 10000", "matmul", 64, 10_000),
    _sized("transpose contiguous", "transpose", 30, 2400),
    _sized(
        "transpose strided",
        "transpose",
        30,
        2400,
        inputs=lambda random, n: (random.standard_normal((n, 2 * _columns(n))),),
        expected=lambda wide: wide[:, ::2].T.reshape(-1),
        arrange=lambda wide: (wide[:, ::2],),
        nbytes=lambda n, itemsize: 2.0 * n * _columns(n) * itemsize,
        timed="the transposed copy of every second column of a matrix",
    ),
    _sized("relu", "relu", 7, 16384),
    _sized("relu in place", "relu in place", 7, 16384),
    _attention("attention plain", plain_attention, "products, max, exp, sum and quotient as separate functions"),
    _attention("attention flash", xo.attention, "xo.attention(q, k, v)"),
    _sized("from dense to coo", "sparse from_dense coo", 40, 2048),
    _sized("from dense to csr", "sparse from_dense csr", 40, 2048),
    _sized("matmul relu eager", "matmul", 48, 512, function=matmul_relu, expected=_product_relu, timed="relu(a @ b)"),
    _sized(
        "matmul relu script",
        "matmul",
        48,
        512,
        function=scripted_matmul_relu,
        expected=_product_relu,
        timed="relu(a @ b) in torch.jit.script",
    ),
    _stack("layers float32", layers, 4.0, "three layers relu(x @ w) in float32"),
    _stack(
        "layers autocast",
        autocast_layers,
        4.0 * _HALF_IN_FLOAT,
        "three layers relu(x @ w) under torch.autocast to float16",
    ),
    _stack(
        "layers tensorrt",
        tensorrt_layers,
        4.0 * _HALF_IN_FLOAT,
        "three layers relu(x @ w) in float16, compiled by TensorRT",
    ),
    _stack("layers float32 of any library", any_layers, 4.0, "three layers max(x @ w, 0) in float32"),
    _stack(
        "layers bfloat16",
        bfloat16_layers,
        32.0 * _HALF_IN_FLOAT,
        "three layers max(x @ w, 0) in bfloat16, with the casts",
    ),
)
