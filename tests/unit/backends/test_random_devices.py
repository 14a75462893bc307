"""The source of random numbers on devices, compiled for the CPU: its bits, and one kernel for each draw."""

import ctypes

import numpy as np
import pytest

from tests import cuda_on_cpu
from tests.unit.backends.test_random import DRAWS, KEY, check
from xarrayops._generic import random as generic
from xarrayops._system import compiler
from xarrayops.plugin import device_random
from xarrayops.plugin.random import Draw

pytestmark = pytest.mark.skipif(compiler.find(cuda=False) is None, reason="no C++ compiler is installed")
SHAPES = ((), (0,), (2, 0, 3), (7,), (300, 3), (2, 2**12))


def kernel_of(kind, dtype, device=None):
    return cuda_on_cpu.kernel(device_random.source(kind, dtype), device_random.NAME)


def drawn(draw, words=KEY, size=1, grid=(1, 1, 1)):
    out = np.full(size + 1, 77, draw.dtype)
    numbers = device_random.arguments(draw, words, 1, size)
    given = [ctypes.c_double(x) if isinstance(x, float) else ctypes.c_longlong(x) for x in numbers]
    addresses = [ctypes.c_void_p(x) for x in (out.ctypes.data, 0, 0)]
    kernel_of(draw.kind, draw.dtype)(grid, (64, 1, 1), [*addresses, *given])
    assert out[-1] == 77
    return out[:-1]


@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_the_bits_are_those_of_numpy(draw):
    want = generic.random_draw(np, draw, KEY, (40_000,), None)
    for grid in ((1, 1, 1), (700, 1, 1)):  # several elements for a thread, and threads without one
        assert drawn(draw, size=40_000, grid=grid).tobytes() == want.tobytes()


def test_the_grid_has_a_thread_for_each_element_up_to_a_limit():
    assert device_random.grid(1, 1) == (1, 1, 1)
    assert device_random.grid(3, 257) == (2, 3, 1)
    blocks, keys, _ = device_random.grid(1 << 40, 1 << 40)
    assert blocks * device_random.THREADS < 1 << 31
    assert keys < 1 << 16  # the limit of CUDA


@pytest.fixture
def torch(monkeypatch):
    """PyTorch, whose kernel for devices runs on the CPU."""
    torch = pytest.importorskip("torch")
    from xarrayops_backends.torch._random import kernels

    monkeypatch.setattr(kernels, "_kernel", kernel_of)
    return torch


def test_torch_fills_tensors_for_one_key_and_for_several(torch):
    from xarrayops_backends.torch._random import kernels

    device = torch.device("cpu")
    keys = torch.tensor([[KEY, (1, 2)], [(5, 6), KEY], [(0, 0), (9, 9)]], dtype=torch.uint32)
    for draw in DRAWS:
        for shape in SHAPES:
            check(lambda draw, key, *place: kernels.drawn(draw, key, None, *place), draw, shape, device)
            check(lambda draw, key, *place: kernels.drawn(draw, (0, 0), key, *place), draw, shape, device, keys[0, 0])
        found = kernels.drawn(draw, (0, 0), keys[:, 1], (3,), device)
        want = [generic.random_draw(np, draw, tuple(key), (3,), None) for key in keys[:, 1].tolist()]
        np.testing.assert_array_equal(found.numpy(), np.stack(want))


def test_torch_makes_keys_for_one_key_and_for_several(torch):
    from xarrayops_backends.torch._random import kernels, steps

    keys = torch.tensor([KEY, (1, 2), (5, 6)], dtype=torch.uint32)
    for key, shape in ((keys[0], ()), (keys[0], (4, 2)), (keys, (3,)), (keys, (3, 5)), (keys, (3, 0))):
        for dtype, most in ((torch.int32, 2**31), (torch.int64, 2**32)):
            counters = torch.arange(most - 15, most)[: np.prod(shape, dtype=int)].reshape(shape).to(dtype)
            assert torch.equal(kernels.keys(key, counters), steps.keys_of_counters(key, counters))


def counted(torch, function):
    """The operators that run in a call, of those that are kernels."""
    from torch.utils._python_dispatch import TorchDispatchMode

    names = []

    class Counter(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            names.append(function.name())
            return function(*args, **(kwargs or {}))

    with Counter():
        function()
    return [name for name in names if not name.startswith(("aten::empty", "aten::new_empty"))]


@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_a_draw_of_torch_on_a_device_is_one_kernel(torch, draw):
    from torch._subclasses.fake_tensor import FakeTensorMode

    import xarrayops as xo

    functions = xo.backend("torch").functions
    with FakeTensorMode():
        device = torch.device("cuda")
        key = torch.empty(2, dtype=torch.uint32, device=device)
        for each in (KEY, key):
            found = []
            names = counted(torch, lambda: found.append(functions["random_draw"](draw, each, (3, 4), device)))
            assert names == ["xarrayops::drawn"]
            assert (found[0].shape, found[0].device.type) == ((3, 4), "cuda")
        counters = torch.empty(5, dtype=torch.int64, device=device)
        assert counted(torch, lambda: functions["random_keys"](key, counters)) == ["xarrayops::keys"]


def test_torch_compile_keeps_a_draw_on_a_device_as_one_operator(torch):
    """Inductor would approximate divisions and contract products: no step of a draw may reach it."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    import xarrayops as xo

    draw = xo.backend("torch").functions["random_draw"]
    with FakeTensorMode():
        key = torch.empty(2, dtype=torch.uint32, device="cuda")
        graph = make_fx(lambda key: draw(Draw("normal", "float32", loc=1.0, scale=0.3), key, (5,), key.device))(key)
    called = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    assert [name for name in called if not name.startswith("aten.empty")] == ["xarrayops.drawn.default"]
