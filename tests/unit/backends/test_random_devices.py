"""The source of random numbers on devices, compiled for the CPU: its bits, and one kernel for each draw."""

import ctypes
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from tests import cuda_on_cpu
from tests.unit.backends.test_random import DRAWS, KEY, check
from xarrayops._generic import random as generic
from xarrayops._system import compiler
from xarrayops.plugin import device_random
from xarrayops.plugin.random import Draw

pytestmark = pytest.mark.skipif(compiler.find(compiler.CPP) is None, reason="no C++ compiler is installed")
SHAPES = ((), (0,), (2, 0, 3), (7,), (300, 3), (2, 2**12))


def drawn(draw, words=KEY, size=1, grid=(1, 1, 1)):
    out = np.full(size + 1, 77, draw.dtype)
    numbers = device_random.arguments(draw, words, 1, size)
    given = [ctypes.c_double(x) if isinstance(x, float) else ctypes.c_longlong(x) for x in numbers]
    addresses = [ctypes.c_void_p(x) for x in (out.ctypes.data, 0, 0)]
    kernel = cuda_on_cpu.kernel(device_random.source(draw.kind, draw.dtype), device_random.NAME)
    kernel(grid, (64, 1, 1), [*addresses, *given])
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
    from xarrayops_backends.torch._random import runtime_compiler

    monkeypatch.setattr(runtime_compiler, "kernel", lambda source, name, device: cuda_on_cpu.kernel(source, name))
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


def counted(function, *args):
    """The result of a call, and the operators that run in it, of those that are kernels."""
    from torch.utils._python_dispatch import TorchDispatchMode

    names = []

    class Counter(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            names.append(function.name())
            return function(*args, **(kwargs or {}))

    with Counter():
        result = function(*args)
    return result, [name for name in names if not name.startswith(("aten::empty", "aten::new_empty"))]


@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_a_draw_of_torch_on_a_device_is_one_kernel(torch, draw):
    from torch._subclasses.fake_tensor import FakeTensorMode

    import xarrayops as xo

    functions = xo.backend("torch").functions
    with FakeTensorMode():
        device = torch.device("cuda")
        key = torch.empty(2, dtype=torch.uint32, device=device)
        for each in (KEY, key):
            found, names = counted(functions["random_draw"], draw, each, (3, 4), device)
            assert names == ["xarrayops::drawn"]
            assert (found.shape, found.device.type) == ((3, 4), "cuda")
        counters = torch.empty(5, dtype=torch.int64, device=device)
        assert counted(functions["random_keys"], key, counters)[1] == ["xarrayops::keys"]


def test_torch_compile_keeps_a_draw_on_a_device_as_one_operator(torch):
    """Inductor would approximate divisions and contract products: no step of a draw may reach it."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    import xarrayops as xo

    called = []

    def compiler(graph, inputs):
        called.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return graph.forward

    def noisy(key):
        rng = xo.random.default_rng(key)
        return rng.normal(1.0, 0.3, size=5, dtype="float32"), rng.integers(0, 7, size=(2, 3))

    with FakeTensorMode():
        key = torch.empty(2, dtype=torch.uint32, device="cuda")
        found = torch.compile(noisy, backend=compiler, fullgraph=True)(key)
    assert [(x.shape, x.device.type) for x in found] == [((5,), "cuda"), ((2, 3), "cuda")]
    kernels = [name for name in called if "built-in method" not in name]  # empty and full
    assert kernels == ["xarrayops.keys.default", "xarrayops.drawn.default"] * 2


class Rtc:
    """NVRTC's functions: the binary is the source."""

    def __init__(self):
        self.log, self.targets = b"", []

    def nvrtcCreateProgram(self, program, source, name, *headers):  # noqa: N802
        self.source = source
        return 0

    def nvrtcCompileProgram(self, program, count, options):  # noqa: N802
        self.targets.append([options[k].decode() for k in range(count)])
        self.log = b"it is wrong" if b"wrong" in self.source else b""
        return bool(self.log)

    def nvrtcDestroyProgram(self, program):  # noqa: N802
        return 0

    def __getattr__(self, name):
        text = {"ProgramLog": self.log, "CUBIN": self.source}[
            name.removeprefix("nvrtcGet").removesuffix("Size")
        ] + b"\0"

        def get(program, into):
            if name.endswith("Size"):
                into._obj.value = len(text)
            else:
                into.raw = text
            return 0

        return get


class Driver:
    """The driver's functions: the kernel of the loaded binary runs on the CPU."""

    status = 0

    def cuModuleLoadData(self, module, binary):  # noqa: N802
        self.source = binary.rstrip(b"\0").decode()
        return 0

    def cuModuleGetFunction(self, function, module, name):  # noqa: N802
        self.name = name.decode()
        return 0

    def cuLaunchKernel(self, function, *given):  # noqa: N802
        *shape, shared, stream, addresses, extra = given
        assert (shared, stream.value, extra) == (0, 1234, None)
        cuda_on_cpu.kernel(self.source, self.name).at(shape, addresses)
        return self.status


def test_torch_compiles_and_launches_the_kernel_by_the_functions_of_cuda(torch, monkeypatch):
    from xarrayops_backends.torch._random import kernels, runtime_compiler

    rtc, driver, current = Rtc(), Driver(), []
    monkeypatch.undo()  # the kernel that runs on the CPU
    properties = SimpleNamespace(major=9, minor=0)
    monkeypatch.setattr(runtime_compiler, "_libraries", lambda: (rtc, driver))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: properties)
    monkeypatch.setattr(torch.cuda, "device", lambda index: current.append(index) or nullcontext())
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: SimpleNamespace(cuda_stream=1234))
    empty = torch.empty
    monkeypatch.setattr(torch, "empty", lambda *shape, device=None, **options: empty(*shape, **options))
    runtime_compiler._loaded.cache_clear()
    draw = Draw("normal", "float64", loc=1.5, scale=0.3)
    assert kernels.refusal(draw.kind, draw.dtype, torch.device("cuda")) is None
    check(lambda draw, key, *place: kernels.drawn(draw, key, None, *place), draw, (300, 3), torch.device("cpu"))
    assert rtc.targets == [["--gpu-architecture=sm_90", "--std=c++17"]]  # compiled once
    assert set(current) == {1}
    driver.status = 700
    with pytest.raises(RuntimeError, match="cuLaunchKernel failed with status 700"):
        kernels.drawn(draw, KEY, None, (3,), torch.device("cpu"))
    monkeypatch.setattr(kernels, "source", lambda *names: "wrong")
    assert (
        kernels.refusal("bits", "uint8", torch.device("cuda", 1)) == "its kernel cannot be compiled here: it is wrong"
    )
    runtime_compiler._loaded.cache_clear()


@pytest.mark.device
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_the_kernel_on_a_device(library):
    """The draws of a real device, by the kernel: the contract compares few numbers, this test many."""
    import xarrayops as xo

    found = next((each for each in xo.backends() if each.name == library and each.available), None)
    gpus = [each for each in found.backend.devices() if each.kind in ("cuda", "rocm")] if found else []
    if not gpus or "standin" in found.backend.versions.get("cupy", ""):
        pytest.skip(f"{library} sees no GPU")
    name = {"torch": "operator", "cupy": "threefry"}[library]
    (function,) = (each for kind, each, _ in found.backend.kernels("random_draw") if kind == name)
    for draw in DRAWS:
        for shape in (*SHAPES, (10**6,)):
            check(function, draw, shape, gpus[-1].native)


ON_CUPY = """
import cupy, numpy as np
from cupy._kernels import launched
from tests.unit.backends.test_random import DRAWS, KEY, check
from xarrayops._core.backends import find
from xarrayops.plugin.random import threefry

functions = find.named("cupy").functions
with cupy.cuda.Device(1):
    key, counters = cupy.asarray(KEY, dtype=cupy.uint32), cupy.asarray([[0, 1, 2**32 - 1]])
    for draw in DRAWS:
        for shape in ((), (2, 0, 3), (7,), (300, 3)):
            for each in (KEY, key):
                launched.clear()
                check(lambda draw, key, *place: functions["random_draw"](draw, each, *place), draw, shape, "cuda:1")
                assert launched == ["xarrayops_draw"] * (0 not in shape), (draw, launched)
for each in (KEY, key):
    launched.clear()
    keys = functions["random_keys"](each, counters)
    assert launched == ["xarrayops_draw"] and keys.device.id == 1
    assert cupy.asnumpy(keys).tolist() == [[list(threefry(KEY, 0, x)) for x in (0, 1, 2**32 - 1)]]
"""


def test_a_draw_of_cupy_is_one_kernel_on_the_device_asked_for(standin_environment):
    done = subprocess.run([sys.executable, "-c", ON_CUPY], env=standin_environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
