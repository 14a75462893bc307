"""Fake tensors, which have no memory: shapes, dtypes and devices as with CUDA, on any machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import xarrayops as xo

torch = pytest.importorskip("torch", exc_type=ImportError)
fake = pytest.importorskip("torch._subclasses.fake_tensor")

CASES: dict[str, tuple[Callable[..., Any], tuple[int, ...], str]] = {
    "add": (lambda x: xo.add(x, x), (3, 4), "float32"),
    "add scalar": (lambda x: xo.add(2.0, x), (3, 4), "float32"),
    "sum": (lambda x: xo.sum(x, axis=1, keepdims=True), (3, 1), "float32"),
    "sum of small integers": (lambda x: xo.sum(xo.astype(x, "int8")), (), "int64"),
    "mean": (lambda x: xo.mean(x, axis=0), (4,), "float32"),
    "var": (lambda x: xo.var(x, axis=(0, 1)), (), "float32"),
    "argmax": (lambda x: xo.argmax(x, axis=1), (3,), "int64"),
    "argsort": (lambda x: xo.argsort(x, descending=True), (3, 4), "int64"),
    "astype": (lambda x: xo.astype(x, "float64"), (3, 4), "float64"),
    "bitwise_and of wide unsigned": (lambda x: xo.bitwise_and(xo.astype(x, "uint32"), 3), (3, 4), "uint32"),
    "matmul": (lambda x: xo.matmul(x, xo.matrix_transpose(x)), (3, 3), "float32"),
    "einsum": (lambda x: xo.einsum("ij,kj->ik", x, x), (3, 3), "float32"),
    "concat": (lambda x: xo.concat([x, x], axis=0), (6, 4), "float32"),
    "permute_dims": (lambda x: xo.permute_dims(x, (1, 0)), (4, 3), "float32"),
    "reshape": (lambda x: xo.reshape(x, (-1,)), (12,), "float32"),
    "tril": (lambda x: xo.tril(x), (3, 4), "float32"),
    "where": (lambda x: xo.where(xo.greater(x, 0), x, 0.0), (3, 4), "float32"),
    "take": (lambda x: xo.take(x, xo.arange(2, like=x, dtype="int64"), axis=1), (3, 2), "float32"),
    "cumulative_sum": (lambda x: xo.cumulative_sum(x, axis=0, include_initial=True), (4, 4), "float32"),
    "zeros like": (lambda x: xo.zeros((2,), like=x), (2,), "float32"),
    "zeros_like": (lambda x: xo.zeros_like(x, dtype="int32"), (3, 4), "int32"),
    "linalg.inv": (lambda x: xo.linalg.inv(xo.matmul(x, xo.matrix_transpose(x))), (3, 3), "float32"),
    "linalg.qr": (lambda x: xo.linalg.qr(x)[1], (3, 4), "float32"),
    "fft.rfft": (lambda x: xo.fft.rfft(x), (3, 3), "complex64"),
    "at": (lambda x: xo.at(x)[0].add(1.0, copy=True), (3, 4), "float32"),
    "isin": (lambda x: xo.isin(xo.astype(x, "int32"), xo.astype(x, "int32")), (3, 4), "bool"),
    "searchsorted": (lambda x: xo.searchsorted(xo.reshape(x, (-1,)), x), (3, 4), "int64"),
}


GUARDED = {"at"}
"""These use x[i], which makes the tensor's device the current one, and so raises without a GPU."""


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
@pytest.mark.parametrize("name", CASES)
def test_result_of_fake_tensors(name: str, device: str, request: pytest.FixtureRequest) -> None:
    if name in GUARDED and device != "cpu" and not torch.cuda.is_available():
        request.applymarker(pytest.mark.xfail(raises=RuntimeError, reason="there is no GPU"))
    function, shape, dtype = CASES[name]
    with fake.FakeTensorMode():
        result = function(torch.empty(3, 4, device=device))
    assert isinstance(result, torch.Tensor)
    assert tuple(result.shape) == shape
    assert str(result.dtype) == f"torch.{dtype}"
    assert result.device == torch.device(device)


def test_device_of_a_fake_tensor() -> None:
    with fake.FakeTensorMode():
        x = torch.empty(3, device="cuda:1")
        assert xo.device(x) == torch.device("cuda:1")
        assert xo.device(xo.to_device(x, "cpu")) == torch.device("cpu")
