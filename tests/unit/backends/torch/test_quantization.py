"""Quantisation on CUDA: the kernel compiled for the CPU, quotients, and the number of kernels."""

import math

import numpy as np
import pytest

import xarrayops as xo
from tests import cuda_on_cpu
from xarrayops._system import compiler

torch = pytest.importorskip("torch", exc_type=ImportError)

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from xarrayops_backends.torch import _quantization  # noqa: E402

RNG = np.random.default_rng(3)
ROWS = {
    "normal": RNG.standard_normal((5, 300)),
    "ties": np.arange(-254, 255)[None] / 2,
    "zeros": np.zeros((2, 3)),
    "tiny": np.full((1, 4), 1e-38) * [1, -1, 2, 0],
    "not finite": np.asarray([[1, math.nan, 2], [math.inf, 1, -1], [3, -math.inf, math.nan], [1, 2, 3]]),
    "stack": RNG.standard_normal((2, 3, 7)) * 10.0 ** RNG.integers(-30, 30, (2, 3, 1)),
    "vector": RNG.standard_normal(9),
}


@pytest.mark.skipif(compiler.find(compiler.CPP) is None, reason="no C++ compiler is installed")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", ROWS)
def test_the_kernel_has_the_bits_of_numpy(monkeypatch, rows, dtype):
    monkeypatch.setattr(
        _quantization._runtime_compiler, "kernel", lambda source, name, device: cuda_on_cpu.kernel(source, name)
    )
    host = ROWS[rows].astype(dtype)
    x = torch.from_numpy(host)
    found = _quantization._rows_now(x, torch.linalg.vector_norm(x, math.inf, -1, keepdim=True))
    expected = xo.quantize(host, axis=tuple(range(host.ndim - 1)))
    np.testing.assert_array_equal(found[0].numpy(), expected.values)
    np.testing.assert_array_equal(found[1].numpy().reshape(expected.scale.shape), expected.scale)


class Operators(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if not function.is_view and "empty" not in str(function):
            self.calls.append((str(function), [x for x in args if isinstance(x, torch.Tensor)]))
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("shape", [(64, 512), (2, 3, 32, 512)])
def test_a_product_of_quantised_arrays_on_cuda_has_six_kernels(shape):
    with FakeTensorMode():
        x = torch.empty(shape, device="cuda")
        w = xo.Quantized(torch.empty((512, 64), dtype=torch.int8, device="cuda"), torch.empty((1, 64), device="cuda"))
        with Operators() as seen:
            assert xo.qmatmul(x, w).shape == (*shape[:-1], 64)
    names = [name for name, _ in seen.calls if not name.startswith("prim")]
    assert len(names) <= 6, names
    assert "aten._int_mm.default" in names
    assert not [name for name in names if name in ("aten.mm.default", "aten.bmm.default")]


def test_a_scale_on_the_cpu_is_moved_before_cuda_divides():
    """CUDA would multiply by the reciprocal of a number on the CPU, which rounds twice."""
    with FakeTensorMode():
        x, scale = torch.empty(5, device="cuda"), torch.empty(())
        with Operators() as seen:
            xo.quantize(x, calibration=xo.Calibration(scale))
    (quotient,) = [arrays for name, arrays in seen.calls if name.startswith("aten.div")]
    assert {y.device.type for y in quotient} == {"cuda"}


def test_compiled_functions_divide_on_cuda_by_an_operator(monkeypatch):
    """Inductor's own quotients of float32 are not rounded correctly there."""
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    with FakeTensorMode():
        x = torch.empty((4, 5), device="cuda")
        divided = make_fx(_quantization.quotient)(x, x)
        rows = make_fx(lambda x: _quantization.quantized_rows(x))(x)
    for graph, name in ((divided, "xarrayops.quotient.default"), (rows, "xarrayops.quantized_rows.default")):
        called = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
        assert name in called
        assert not [each for each in called if each.startswith("aten.div")]
