"""Native kernels on devices: what is built for them, the current device and stream, and the calls on CuPy."""

import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops._system import compiler, gpus
from xarrayops.plugin.arrays import Device
from xarrayops.plugin.native import NativeKernel

torch = pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("tvm_ffi")


def twice(x):
    return x + x


def test_cuda_and_hip_sources_serve_arrays_on_their_devices_only():
    made = xo.operation("tests::memory")(twice)
    for language in (compiler.CUDA, compiler.HIP):
        source = f"twice{language.suffixes[0]}"
        made.native(language.device, sources={source: ""}, entry="run", serves=("torch", "jax", "cupy"))
    explained = xo.explain(made, torch.ones(2))
    for candidate, language in zip(explained.candidates, (compiler.CUDA, compiler.HIP), strict=False):
        found = f"x is on cpu; the kernel runs on {language.device}"
        assert candidate.reason.startswith(
            found if compiler.find(language) else f"no {language.name} compiler was found"
        )
    assert made(torch.ones(2)).tolist() == [2, 2]


def test_jax_has_no_native_kernels_for_rocm():
    pytest.importorskip("jax_tvm_ffi")
    hook = find.named("jax").functions["native_kernel"]
    with pytest.raises(xo.Unsupported, match="jax-tvm-ffi serves cpu and cuda, not rocm"):
        hook(NativeKernel("tests", lambda: print, twice, (), "rocm"))


@pytest.mark.device
@pytest.mark.parametrize("index", [0, 1])
def test_the_source_of_the_docs_on_a_device(index):
    """Also on a device that is not the current one, and on a stream of its own."""
    if torch.version.hip or torch.cuda.device_count() <= index or compiler.find(compiler.CUDA) is None:
        pytest.skip(f"no CUDA device {index}, or no CUDA compiler")
    guide = Path(__file__).parents[4] / "docs" / "guides" / "operations.md"
    (source,) = re.findall(r"^```cuda\n(.*?)^```", guide.read_text(encoding="utf-8"), re.M | re.S)
    made = xo.operation("tests::doubled")(twice)
    made.native("cuda", sources={"twice.cu": source}, entry="twice", serves=["torch"], dtypes=("float32",))
    x = torch.arange(100_000.0, device=f"cuda:{index}")
    with torch.cuda.stream(torch.cuda.Stream(x.device)):
        y = made(x * 3)
    torch.cuda.synchronize(x.device)
    assert xo.explain(made, x).chosen == "torch:cuda"
    assert torch.equal(y, x * 6)
    assert made(x[:0]).shape == (0,)


def test_the_capabilities_of_the_devices_decide_what_is_built(monkeypatch):
    """Those that the library of the arrays reports, otherwise those of the driver."""
    made = xo.operation("tests::capabilities")(twice)
    made.native("cuda", sources={"a.cu": ""}, entry="run", serves=["torch"])
    (native,) = made.operation.natives
    monkeypatch.setattr(native, "unavailable", lambda: None)
    gpu = Device("cuda", "cuda:0", "a device", "a GPU")
    for known, reported, expected in (
        ({"capability": "9.0"}, ["8.0"], ["9.0"]),
        ({}, ["8.0"], ["8.0"]),
        ({}, [], []),
    ):
        functions = {"native_kernel": lambda native: print, "device_attributes": lambda device, known=known: known}
        backend = SimpleNamespace(name="torch", functions=functions, devices=lambda: [Device("cpu", "cpu", "cpu"), gpu])
        native.function_for(backend)
        monkeypatch.setattr(gpus, "capabilities", lambda kind, reported=reported: reported)
        assert native._capabilities() == expected


@pytest.mark.parametrize(("suffix", "kind"), [("cc", "cpu"), ("cu", "cuda"), ("hip", "rocm")])
def test_torch_makes_the_device_of_the_arrays_current(monkeypatch, suffix, kind):
    """tvm-ffi passes the stream of the arguments' device, on which another device cannot start a kernel."""
    current = []

    @contextmanager
    def device(place):
        current.append(place)
        yield
        current.pop()

    monkeypatch.setattr(torch.cuda, "device", device)
    seen = []
    found = NativeKernel("tests", lambda: lambda x, y: seen.append(list(current)), twice, (), kind)
    x = torch.ones(2)
    find.named("torch").functions["native_kernel"](found)(x)
    assert seen == [[] if kind == "cpu" else [x.device]]


def test_the_reference_gives_the_shapes_once_for_all_values_of_a_float():
    calls = []

    def reference(x, *, step: float, n: int):
        calls.append((step, n))
        return x + step

    kernel = find.named("numpy").functions["native_kernel"](
        NativeKernel("tests", lambda: lambda x, step, n, y: np.add(x, step * n, out=y), reference, ("step", "n"), "cpu")
    )
    for step, n in ((0.5, 1), (1.5, 1), (2.5, 1), (2.5, 2), (2, 2), (3, 2)):
        assert kernel(np.zeros(2), step=step, n=n).tolist() == [step * n] * 2
    assert calls == [(0.5, 1), (2.5, 2), (2, 2), (3, 2)]


ON_CUPY = """
import ctypes, cupy, numpy as np, tvm_ffi, xarrayops as xo
from xarrayops._core.backends import find
from xarrayops.plugin.native import NativeKernel

cupy_dlpack, streams, calls, references = cupy.ndarray.__dlpack__, [], [], []

def dlpack(self, *, stream="not given", **kwargs):
    streams.append(stream)
    return cupy_dlpack(self, stream=None if stream == "not given" else stream, **kwargs)

cupy.ndarray.__dlpack__ = dlpack

def host(x):
    return np.frombuffer((ctypes.c_double * x.numel()).from_address(x.data_ptr())).reshape(x.shape)

def function(x, weight, eps, out):
    assert all(isinstance(each, tvm_ffi.Tensor) for each in (x, weight, out))
    place = cupy.cuda.Device()
    calls.append((place.id, eps, tvm_ffi.get_raw_stream(tvm_ffi.device(KIND, place.id))))
    host(out)[...] = host(x) * host(weight) + eps

def reference(x, weight, *, eps: float):
    references.append(eps)
    return x * weight + eps

native = NativeKernel("tests", lambda: function, reference, ("eps",), KIND)
kernel = find.named("cupy").functions["native_kernel"](native)
with cupy.cuda.Device(1):
    x, weight = cupy.asarray(np.ones((2, 3))), cupy.asarray(np.ones(3))
with cupy.cuda.Stream() as stream:
    found = [kernel(x, weight, eps=eps) for eps in (2.0, 3.0, 4.0)]
assert [cupy.asnumpy(y).tolist() for y in found] == [[[1 + eps] * 3] * 2 for eps in (2, 3, 4)]
assert found[0].device.id == 1
assert calls == [(1, eps, stream.ptr) for eps in (2.0, 3.0, 4.0)], (calls, stream.ptr)
assert set(streams) == {-1}, streams
assert references == [2.0]

from xarrayops._ops.operations import definition, native
native.Native.unavailable = lambda self: None
native.Native.load = lambda self: function
made = xo.operation("tests::scaled")(reference)
made.native("device", sources={SOURCE: ""}, entry="run", serves=["cupy"], dtypes=("float64",))
x, weight = cupy.asarray(np.ones((2, 3))), cupy.asarray(np.ones(3))
assert xo.explain(made, x, weight, eps=1.0).chosen == "cupy:device"
made(x, weight, eps=1.0)

def slow(*args, **kwargs):
    raise AssertionError("all arguments were checked")

definition.Definition.backend_of = slow
calls.clear()
assert cupy.asnumpy(made(x, weight, eps=2.0)).tolist() == [[3] * 3] * 2
assert len(calls) == 1
for other in (x[:, ::-1], cupy.asarray(np.ones((2, 3), np.float32))):  # these are the reference's
    made(other, weight, eps=1.0)
assert len(calls) == 1
"""


@pytest.mark.parametrize("kind", ["cuda", "rocm"])
def test_calls_on_cupy(standin_environment, kind):
    """Nothing waits, the device and the stream are those of the arrays, and a second call has a quick path."""
    source = "a.hip" if kind == "rocm" else "a.cu"
    before = f"import cupy.cuda.runtime as r; r.is_hip = {kind == 'rocm'}; KIND = {kind!r}; SOURCE = {source!r}\n"
    command = [sys.executable, "-c", before + ON_CUPY]
    done = subprocess.run(command, env=standin_environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
