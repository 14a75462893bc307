"""The PyTorch backend: refusals, updates, device attributes and warm-up."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.bench.place import peak_host_bytes
from xarrayops.plugin import DEVICE_ATTRIBUTES, Device

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "uint16"])
@pytest.mark.parametrize("axis", [None, 0, ()])
@pytest.mark.parametrize("verb", ["mean", "std", "var"])
def test_moments_of_integers(verb, axis, dtype):
    x = xo.asarray([[0, 1, 1], [1, 0, 1]], dtype=dtype, backend="torch")
    result = getattr(xo, verb)(x, axis=axis)
    expected = getattr(xo, verb)(xo.astype(x, "float32"), axis=axis)
    assert result.dtype is torch.float32
    torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("verb", ["sum", "prod", "mean", "max", "min"])
def test_a_reduction_over_no_axes_is_a_copy(verb):
    x = torch.ones(2, 3, dtype=torch.float64)
    result = getattr(xo, verb)(x, axis=())
    torch.testing.assert_close(result, x)
    assert result.data_ptr() != x.data_ptr()


def test_other_errors_of_moments_are_unchanged():
    with pytest.raises(IndexError):
        xo.mean(torch.ones(2), axis=5)
    assert xo.mean(torch.ones(2, 3), axis=()).shape == (2, 3)


@pytest.mark.parametrize(
    ("x", "why"),
    [
        (torch.zeros(1).expand(3), "share memory"),
        (torch.zeros(3, requires_grad=True), "requires grad"),
    ],
    ids=["expanded", "leaf"],
)
def test_refused_updates_in_place(x, why):
    with pytest.raises(xo.Unsupported, match=rf"{why}.* Instead: copy=None or copy=True"):
        xo.at(x)[0].set(1.0, copy=False)
    assert xo.at(x)[0].set(1.0).tolist() == [1, 0, 0]


def test_attributes_of_a_gpu(monkeypatch):
    """PyTorch reports clocks in kHz, and 0 if the driver does not report them."""
    known = SimpleNamespace(
        major=9,
        minor=0,
        multi_processor_count=132,
        clock_rate=1_980_000,
        total_memory=80 << 30,
        gcnArchName="gfx942",
        memory_clock_rate=0,
        memory_bus_width=5120,
        L2_cache_size=50 << 20,
    )
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: known)
    backend = xo.backend("torch")
    found = backend.device_attributes(Device("cuda", "cuda:0", torch.device("cuda", 0)))
    assert set(found) == DEVICE_ATTRIBUTES - {"memory_clock_hz"}
    assert (found["clock_hz"], found["capability"]) == (1.98e9, "gfx942" if torch.version.hip else "9.0")
    assert backend.device_attributes(backend.devices()[0]) == {}


RECORDER = """
import torch
import xarrayops as xo

class Recorder(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if args and isinstance(args[0], torch.Tensor) and args[0].numel() == 1:
            print(function.__name__, args[0].dtype)
        return function(*args, **(kwargs or {}))

with Recorder():
    xo.backend("torch")
"""


@pytest.mark.skipif(not torch.backends.mkl.is_available(), reason="PyTorch is built without MKL")
def test_loading_the_backend_calls_every_function_of_mkl_once():
    """By one thread: pytorch#188792. The race itself affects about one of a hundred concurrent processes."""
    header = Path(torch.__file__).parent / "include" / "ATen" / "cpu" / "vml.h"
    functions = re.findall(r"^IMPLEMENT_VML_MKL\((\w+),", header.read_text(), re.MULTILINE)
    done = subprocess.run([sys.executable, "-c", RECORDER], capture_output=True, text=True)
    called = set(done.stdout.splitlines())
    assert functions
    assert {f"{name} {dtype}" for name in functions for dtype in (torch.float32, torch.float64)} <= called, done.stderr


@pytest.mark.parametrize("number", [300, -129, 2**70])
def test_isin_of_a_number_that_the_dtype_cannot_hold(number):
    x = torch.asarray([1, 44], dtype=torch.int8)
    assert xo.isin(x, number).tolist() == [False, False]
    assert xo.isin(x, number, invert=True).tolist() == [True, True]
    assert xo.isin(number, x).shape == ()
    assert xo.isin(torch.asarray([True]), 300).tolist() == [False]


def test_numbers_beyond_the_dtype_under_compile():
    add = torch.compile(lambda x: xo.less(xo.add(x, 100), 300), fullgraph=True, backend="eager")
    assert add(torch.ones(2, dtype=torch.int8)).tolist() == [True, True]
    assert np.asarray(xo.add(torch.ones(2), 10**9)).tolist() == [10**9] * 2


def test_an_update_of_symbolic_shape_under_compile():
    """Dynamo makes sizes symbolic at the second shape."""
    update = torch.compile(
        lambda x, n: xo.at(xo.multiply(x, 1))[0].set(n), fullgraph=True, backend="eager", dynamic=True
    )
    for extent in (3, 4, 5):
        x = torch.zeros((extent, 2), dtype=torch.int32)
        assert update(x, extent).tolist() == [[extent] * 2, *[[0, 0]] * (extent - 1)]


def test_overlaps_are_found():
    from xarrayops_backends.torch._indexing import _overlaps

    compact = torch.zeros(2, 3, 4)
    for x in (compact, compact.permute(2, 0, 1), compact[::2, 1:], compact[:, :1].expand(2, 1, 4), torch.zeros(0, 3)):
        assert not _overlaps(x)
    for x in (torch.zeros(1).expand(3), compact[:1].expand(2, 3, 4), torch.zeros(5).unfold(0, 3, 1)):
        assert _overlaps(x)


UFUNCS = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}


@pytest.mark.parametrize("op", UFUNCS)
@pytest.mark.parametrize("index", [..., 1, (slice(None), 1), (None, ..., slice(0, 4, 2)), slice(3, 3)], ids=repr)
@pytest.mark.parametrize("value", [0.5, [0.25], [1.0, -2.0, 0.5]], ids=repr)
def test_updates_in_place_equal_numpy(op, index, value):
    a = np.random.default_rng(0).standard_normal((3, 4))
    expected, x = a.copy(), torch.from_numpy(a)
    given = value if isinstance(value, float) else torch.tensor(value).double()
    if any(have not in (1, want) for have, want in zip(np.shape(value), expected[index].shape[-1:], strict=False)):
        with pytest.raises((ValueError, RuntimeError)):
            getattr(xo.at(x)[index], op)(given, copy=None)
        return
    UFUNCS[op](expected[index], value, out=expected[index])
    assert getattr(xo.at(x)[index], op)(given, copy=None) is x
    assert np.array_equal(a, expected)


def test_updates_by_memory_that_overlaps():
    x = torch.arange(6.0)
    assert xo.at(x)[:-1].add(x[1:], copy=None).tolist() == [1, 3, 5, 7, 9, 5]
    a = np.ones(12, dtype=np.float32)  # one memory, two storages
    assert xo.at(xo.convert(a[1:], "torch"))[...].add(xo.convert(a[:-1], "torch"), copy=None).tolist() == [2] * 11


def test_updates_with_a_boolean_index():
    assert xo.at(torch.zeros(3))[True].add(1.0).tolist() == [1, 1, 1]
    assert xo.at(torch.zeros(3))[False, :].add(1.0).tolist() == [0, 0, 0]


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_updates_tracked_by_autograd_or_a_transform():
    w = torch.ones(3, requires_grad=True)
    xo.sum(xo.at(xo.multiply(w, 2.0))[:2].multiply(w[:2], copy=None)).backward()
    assert w.grad.tolist() == [4, 4, 2]
    mapped = torch.func.vmap(lambda a, b: xo.at(a)[0].add(b))(torch.zeros(2, 3), torch.arange(2.0))
    assert mapped.tolist() == [[0, 0, 0], [1, 0, 0]]
    _, tangent = torch.func.jvp(lambda a: xo.at(xo.multiply(a, 2.0))[0].add(1.0), (torch.ones(2),), (torch.ones(2),))
    assert tangent.tolist() == [2, 2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux resets the high-water mark")
def test_an_update_in_place_allocates_no_memory():
    x = torch.ones(4 << 20)
    peak = peak_host_bytes(lambda: xo.at(x)[1:].max(0.0, copy=None))
    assert peak is None or peak < x.nbytes / 8


def test_reshape_raises_value_error_only_for_a_shape_that_does_not_fit():
    x = torch.arange(6)
    for shape in (4, (4, -1), (-1, -1), (-6,), (-2, -3), (0, -1)):
        with pytest.raises(ValueError, match=r"an array of shape \(6,\) cannot have the shape"):
            xo.reshape(x, shape)
    assert xo.reshape(x[:0], (-1, 3)).shape == (0, 3)
    with pytest.raises(RuntimeError, match="memory"):
        xo.reshape(torch.arange(2.0).expand(2**50, 2).mT, -1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_remainders_whose_quotient_overflows(dtype):
    """In vectors PyTorch's own remainder and fmod are NaN there, on CPUs with AVX-512."""
    limits = np.finfo(dtype)
    divisors = np.asarray([0.5, -0.3, limits.tiny, 1e-3, 7.0, -limits.max, np.inf, -np.inf, np.nan, 0.0], dtype)
    values = np.asarray([limits.max, -limits.max, 1.5, -0.0, np.inf, np.nan], dtype)
    x, y = (np.repeat(each, 16) for each in np.meshgrid(values, divisors))
    with np.errstate(all="ignore"):
        want = np.remainder(x, y)
    found = xo.remainder(torch.asarray(x), torch.asarray(y)).numpy()
    np.testing.assert_array_equal(found, want)
    many = torch.full((64,), float(limits.max), dtype=getattr(torch, dtype))
    assert set(xo.remainder(many, 0.5).tolist()) == {0.0}
    assert xo.remainder(float(limits.max), many * 0 + 0.5).max() == 0
