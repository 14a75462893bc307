"""Device memory and precision settings that backends report; the allocators are simulated."""

from __future__ import annotations

import pytest

import xarrayops as xo


class Allocator:
    """An allocator that counts the bytes in use and their peak."""

    def __init__(self, used, peak):
        self.used, self.peak = used, peak

    def takes(self, nbytes):
        self.used += nbytes
        self.peak = max(self.peak, self.used)

    def call(self, *sizes):
        """Allocate these sizes in order, then free all except the last, which is the result."""

        def call():
            for size in sizes:
                self.takes(size)
            self.used -= sum(sizes)

        return call


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_no_device_memory_is_reported_on_the_host(library):
    pytest.importorskip(library)
    backend, called = xo.backend(library), []
    for device in backend.devices():
        if device.kind == "cpu":
            assert backend.functions["free_bytes"](device.native) is None
            assert backend.functions["release_memory"](device.native) is None
            assert backend.functions["peak_bytes"](device.native, lambda: called.append(1)) is None
    assert not called


class TestTorch:
    @pytest.fixture
    def cuda(self, monkeypatch):
        torch = pytest.importorskip("torch")
        allocator = Allocator(100, 900)

        def reset(device):
            allocator.peak = allocator.used

        for name, function in {
            "synchronize": lambda device: None,
            "reset_peak_memory_stats": reset,
            "memory_allocated": lambda device: allocator.used,
            "memory_reserved": lambda device: 400,
            "max_memory_allocated": lambda device: allocator.peak,
            "mem_get_info": lambda device: (1000, 2000),
            "is_initialized": lambda: True,
            "empty_cache": lambda: setattr(allocator, "emptied", True),
        }.items():
            monkeypatch.setattr(torch.cuda, name, function)
        allocator.device = torch.device("cuda", 0)
        return allocator

    def test_the_peak_is_that_of_the_call(self, cuda):
        peak_bytes = xo.backend("torch").functions["peak_bytes"]
        assert peak_bytes(cuda.device, cuda.call(30, 20)) == 50, "independent of earlier calls"

    def test_free_bytes_include_those_cached_by_the_allocator(self, cuda):
        functions = xo.backend("torch").functions
        assert functions["free_bytes"](cuda.device) == 1000 + 400 - 100
        functions["release_memory"](cuda.device)
        assert cuda.emptied

    def test_the_switches_in_force(self, monkeypatch):
        torch = pytest.importorskip("torch")
        switches = xo.backend("torch").functions["precision_switches"]
        before = switches()
        assert before["float32_matmul_precision"] == "highest"
        assert before["cuda.matmul.allow_bf16_reduced_precision_reduction"] == "True"
        assert {"cuda.matmul.fp32_precision", "cudnn.conv.fp32_precision"} <= before.keys()
        kept = torch.backends.cuda.matmul.fp32_precision
        try:
            torch.backends.cuda.matmul.fp32_precision = "tf32"  # from now on allow_tf32 raises
            assert switches()["cuda.matmul.fp32_precision"] == "tf32"
        finally:
            torch.backends.cuda.matmul.fp32_precision = kept


class TestJax:
    @pytest.fixture
    def device(self, monkeypatch):
        jax = pytest.importorskip("jax")
        allocator = Allocator(1000, 50_000)

        def zeros(n, dtype, device):
            allocator.takes(n * dtype.dtype.itemsize)

        monkeypatch.setattr("xarrayops_backends.jax._devices.jnp.zeros", zeros)
        monkeypatch.setattr(jax, "block_until_ready", lambda x: x)
        stats = {"bytes_limit": 10**6}
        allocator.memory_stats = lambda: {
            **stats,
            "bytes_in_use": allocator.used,
            "peak_bytes_in_use": allocator.peak,
        }
        return allocator

    @pytest.mark.parametrize("sizes", [(30, 20), (70_000,), (0,)])
    def test_the_peak_is_that_of_the_call(self, device, sizes):
        """XLA never resets its peak, and an earlier call may have raised it."""
        assert xo.backend("jax").functions["peak_bytes"](device, device.call(*sizes)) == sum(sizes)

    def test_the_peak_is_unknown_if_other_libraries_took_the_memory(self, device, monkeypatch):
        """Below its limit XLA may find no memory, if it does not reserve it at the start."""
        jax = pytest.importorskip("jax")

        def zeros(n, dtype, device):
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")

        monkeypatch.setattr("xarrayops_backends.jax._devices.jnp.zeros", zeros)
        assert xo.backend("jax").functions["peak_bytes"](device, device.call(30)) is None

    def test_free_bytes_are_the_rest_of_the_limit(self, device):
        assert xo.backend("jax").functions["free_bytes"](device) == 10**6 - 1000
        device.memory_stats = dict
        assert xo.backend("jax").functions["free_bytes"](device) is None

    def test_the_switches_in_force(self):
        jax = pytest.importorskip("jax")
        switches = xo.backend("jax").functions["precision_switches"]
        assert switches()["jax_default_matmul_precision"] == "None"
        with jax.default_matmul_precision("tensorfloat32"):
            assert switches()["jax_default_matmul_precision"] == "tensorfloat32"


CUPY = """
import cupy
import xarrayops as xo
from xarrayops_backends.cupy import _devices

device = xo.backend("cupy").devices()[1].native
pool, pinned, freed = cupy.get_default_memory_pool(), cupy.get_default_pinned_memory_pool(), []
pool.free_bytes = lambda: freed.append(cupy.cuda.runtime.getDevice()) or 500
pool.free_all_blocks = pinned.free_all_blocks = lambda: freed.append(cupy.cuda.runtime.getDevice())
functions = xo.backend("cupy").functions
assert functions["free_bytes"](device) == (79 << 30) + 500
functions["release_memory"](device)
assert freed == [1, 1, 1], "pools are queried on the requested device"
hooks = []
entered = cupy.cuda.MemoryHook.__enter__
cupy.cuda.MemoryHook.__enter__ = lambda hook: hooks.append(hook) or entered(hook)

def call():
    (hook,) = hooks
    for index, sizes in ((1, (512, 1024)), (0, (1 << 20,))):
        for size in sizes:
            hook.malloc_postprocess(device_id=index, size=size - 1, mem_size=size, mem_ptr=64, pmem_id=1)
    hook.free_postprocess(device_id=1, mem_size=512, mem_ptr=64, pmem_id=1)
    hook.malloc_postprocess(device_id=1, size=256, mem_size=256, mem_ptr=64, pmem_id=1)
    hook.malloc_postprocess(device_id=1, size=1 << 40, mem_size=1 << 40, mem_ptr=0, pmem_id=0)  # it failed

assert functions["peak_bytes"](device, call) == 1536
print("done")
"""


def test_cupy_counts_the_blocks_of_its_pool(run, standin_environment):
    assert run(CUPY, **standin_environment) == "done"


@pytest.mark.parametrize(
    ("library", "names"),
    [
        ("torch", ("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "PYTORCH_CUDA_ALLOC_CONF")),
        (
            "jax",
            ("NVIDIA_TF32_OVERRIDE", "XLA_FLAGS", "XLA_PYTHON_CLIENT_MEM_FRACTION", "JAX_PLATFORMS"),
        ),
        ("numpy", ("OPENBLAS_CORETYPE", "OMP_NUM_THREADS")),
    ],
)
def test_environment_variables_that_affect_results_are_reported(monkeypatch, library, names):
    pytest.importorskip(library)
    before = xo.backend(library).environment
    for name in names:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("NO_CONCERN_OF_XLA_FLAGS", "1")
    found = xo.backend(library).environment
    assert found == before | dict.fromkeys(names, "1")


def test_unset_environment_variables_are_not_reported(backend, monkeypatch):
    made = backend(ENVIRONMENT=("NO_SUCH_VARIABLE", "NO_SUCH_PREFIX_*"))
    assert made.environment == backend().environment == {}
    monkeypatch.setenv("NO_SUCH_PREFIX_A", "b")
    assert made.environment == {"NO_SUCH_PREFIX_A": "b"}
