"""Calls of usual sizes whose numbers of kernels on CUDA are known, by name: the function, and its arrays."""

from __future__ import annotations

from typing import Any

import xarrayops as xo
import xarrayops.numpy as xnp

_Array = tuple[tuple[int, ...], str]


def _generator() -> Any:
    return xo.random.default_rng(1, backend="torch", device="cuda:0")


def _quantised(values: Any, scale: Any) -> Any:
    return xo.Quantized(values, scale)


def _array(*shape: int, dtype: str = "float32") -> _Array:
    return shape, dtype


_X = _array(1024, 1024)
_WEIGHTS = _array(4096, 4096, dtype="int8"), _array(1, 4096)
_INT8 = _array(64, 4096, dtype="int8"), _array(4096, 4096, dtype="int8")
_UINT8 = _array(64, 4096, dtype="uint8"), _array(4096, 4096, dtype="uint8")
_IMAGES, _KERNELS = _array(8, 64, 56, 56), _array(64, 64, 3, 3)
_Q, _KV = _array(2, 8, 256, 64, dtype="bfloat16"), _array(2, 2, 300, 64, dtype="bfloat16")
_LONG = _array(100_000)

CALLS: dict[str, tuple[Any, ...]] = {
    "take of a matrix": (lambda x, i: xo.take(x, i, axis=0), _X, _array(64, dtype="int64")),
    "take of xarrayops.numpy": (lambda x, i: xnp.take(x, i, axis=0), _X, _array(64, dtype="int64")),
    "unravel_index of xarrayops.numpy": (lambda i: xnp.unravel_index(i, (8, 8)), _array(64, dtype="int64")),
    "geomspace of xarrayops.numpy": (lambda x: xnp.geomspace([1.0, -2.0], 8j, 4, like=x), _X),
    "geomspace of arrays of xarrayops.numpy": (lambda x: xnp.geomspace(x, 9.0, 4), _array(64)),
    "nanargmax of xarrayops.numpy": (lambda x: xnp.nanargmax(x, 1), _X),
    "nanargmax of integers of xarrayops.numpy": (lambda x: xnp.nanargmax(x, 1), _array(64, 64, dtype="int32")),
    "nanargmin of xarrayops.numpy": (lambda x: xnp.nanargmin(x, 1), _X),
    "real_if_close of xarrayops.numpy": (xnp.real_if_close, _array(64, dtype="complex64")),
    "take_along_axis": (lambda x, i: xo.take_along_axis(x, i, axis=0), _X, _array(64, 1024, dtype="int64")),
    "softmax": (lambda x: xo.softmax(x, axis=-1), _X),
    "softmax of bfloat16": (lambda x: xo.softmax(x, axis=-1), _array(1024, 1024, dtype="bfloat16")),
    "logsumexp": (lambda x: xo.logsumexp(x, axis=-1), _X),
    "isclose": (lambda x, y: xo.isclose(x, y), _X, _X),
    "allclose": (lambda x, y: xo.allclose(x, y), _X, _X),
    "nan_to_num": (xo.nan_to_num, _X),
    "nan_to_num of bfloat16": (xo.nan_to_num, _array(1024, 1024, dtype="bfloat16")),
    "nanmean": (lambda x: xo.nanmean(x, axis=1), _X),
    "median": (lambda x: xo.median(x, axis=1), _X),
    "quantile": (lambda x: xo.quantile(x, 0.3, axis=1), _X),
    "cumulative_sum": (lambda x: xo.cumulative_sum(x, axis=0), _X),
    "interp": (xo.interp, _LONG, _array(64), _array(64)),
    "histogram": (lambda x: xo.histogram(x, 64), _LONG),
    "bincount of a length": (lambda x: xo.bincount(x, length=64), _array(100_000, dtype="int64")),
    "digitize": (xo.digitize, _LONG, _array(64)),
    "searchsorted": (xo.searchsorted, _array(1000), _array(1000)),
    "gradient": (xo.gradient, _X),
    "cov": (xo.cov, _X),
    "convolve with 129 taps": (xo.convolve, _LONG, _array(129)),
    "correlate with 129 taps": (xo.correlate, _LONG, _array(129)),
    "polyval": (xo.polyval, _array(8), _X),
    "topk": (lambda x: xo.topk(x, 8), _X),
    "sort": (xo.sort, _X),
    "quantize by rows": (lambda x: tuple(xo.quantize(x, axis=0)), _X),
    "dequantize": (lambda v, s: xo.dequantize(_quantised(v, s)), *_WEIGHTS),
    "qmatmul": (lambda x, v, s: xo.qmatmul(x, _quantised(v, s)), _array(64, 4096), *_WEIGHTS),
    "qmatmul of a stack": (lambda x, v, s: xo.qmatmul(x, _quantised(v, s)), _array(4, 64, 4096), *_WEIGHTS),
    "qmatmul of one row": (lambda x, v, s: xo.qmatmul(x, _quantised(v, s)), _array(1, 4096), *_WEIGHTS),
    "qmatmul of quantised activations": (
        lambda q, t, v, s: xo.qmatmul(_quantised(q, t), _quantised(v, s)),
        *(_array(64, 4096, dtype="int8"), _array(64, 1)),
        *_WEIGHTS,
    ),
    "matmul of int8 in int32": (lambda a, b: xo.matmul(a, b, out_dtype="int32"), *_INT8),
    "matmul of uint8 and int8 in int32": (lambda a, b: xo.matmul(a, b, out_dtype="int32"), _UINT8[0], _INT8[1]),
    "matmul of uint8 in int32": (lambda a, b: xo.matmul(a, b, out_dtype="int32"), *_UINT8),
    "matmul of int8": (xo.matmul, *_INT8),
    "matmul of uint8": (xo.matmul, *_UINT8),
    "matmul of int32": (xo.matmul, *[_array(64, 64, dtype="int32")] * 2),
    "matmul of int64": (xo.matmul, *[_array(64, 64, dtype="int64")] * 2),
    "einsum of int64": (lambda a: xo.einsum("ij,jk->ik", a, a), _array(8, 8, dtype="int64")),
    "einsum of booleans": (lambda a: xo.einsum("ij,jk->ik", a, a), _array(8, 8, dtype="bool")),
    "random.random": (lambda: _generator().random((1000, 1000), dtype="float32"),),
    "random.normal": (lambda: _generator().normal(size=(1000, 1000), dtype="float32"),),
    "random.normal of float64": (lambda: _generator().normal(size=(1000, 1000), dtype="float64"),),
    "random.exponential": (lambda: _generator().exponential(size=(1000, 1000), dtype="float32"),),
    "random.integers": (lambda: _generator().integers(0, 10, size=(1000,)),),
    "conv2d": (lambda x, w: xo.conv2d(x, w, padding=1), _IMAGES, _KERNELS),
    "conv2d of NHWC": (lambda x, w: xo.conv2d(x, w, padding=1, layout="NHWC"), _array(8, 56, 56, 64), _KERNELS),
    "avg_pool2d of 3 by 3": (lambda x: xo.avg_pool2d(x, 3, stride=2, padding=1), _IMAGES),
    "max_pool2d of 3 by 3": (lambda x: xo.max_pool2d(x, 3, stride=2, padding=1), _IMAGES),
    "at add": (lambda x, i, v: xo.at(x)[i].add(v), _X, _array(64, dtype="int64"), _array(64, 1024)),
    "at set": (lambda x, i, v: xo.at(x)[i].set(v), _X, _array(64, dtype="int64"), _array(64, 1024)),
    "at set of a mask": (lambda x: xo.at(x)[xo.greater(x, 0)].set(0.0), _X),
    "attention": (lambda q, k, v: xo.attention(q, k, v, causal=True), _Q, _Q, _Q),
    "attention of groups": (xo.attention, _Q, _KV, _KV),
    "attention of lengths": (
        lambda q, k, v, n: xo.attention(q, k, v, kv_lengths=n),
        *(_Q, _KV, _KV, _array(2, dtype="int64")),
    ),
    "attention of float32": (xo.attention, *[_array(2, 8, 256, 64)] * 3),
}
