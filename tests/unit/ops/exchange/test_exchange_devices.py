"""Exchange of memory on devices, tested on a CPU with descriptions of memory on GPUs."""

import tracemalloc
from importlib.util import find_spec

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._ops.exchange import plan as plans
from xarrayops.plugin import Device, Memory

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
SHAPE = (4, 6)
BYTES = 4 * 4 * 6


def on_device(pointer=1 << 20, strides=(24, 4), **facts):
    """A description of float32 memory on the second GPU."""
    return Memory("float32", SHAPE, strides, 4, pointer, "cuda", 1, **facts)


@pytest.fixture
def two_gpus(monkeypatch):
    """PyTorch and JAX report two GPUs; the result, `source(name, memory)`, makes an array that reports this memory."""
    from xarrayops_backends.jax import _exchange as jax_exchange

    gpus = {name: [Device("cpu", "cpu", f"{name} cpu")] for name in ("torch", "jax")}
    for name, devices in gpus.items():
        devices += [Device("cuda", f"cuda:{i}", f"{name} cuda:{i}") for i in range(2)]
        monkeypatch.setitem(vars(xo.backend(name)), "_devices", tuple(devices))
        monkeypatch.setitem(vars(xo.backend(name)), "_host", devices[0])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(jax_exchange, "_kinds", lambda: frozenset(("cpu", "cuda")))

    def source(name, memory):
        backend = xo.backend(name)
        monkeypatch.setitem(backend.functions, "memory", lambda x: memory)
        return backend.namespace.zeros(SHAPE, dtype=backend.native_dtype("float32"))

    return source


class TestPlans:
    def plan(self, x, to, **options):
        plan = plans.plan_convert(x, to, **options)
        return plan.action, plan.route, plan.device

    def test_immutable_memory_is_copied_by_the_target_on_its_device(self, two_gpus):
        x = two_gpus("jax", on_device(immutable=True))
        assert self.plan(x, "torch") == ("copy", plans.TARGET_COPIES, "torch cuda:1")
        assert self.plan(x, "torch", copy=True) == ("copy", plans.TARGET_COPIES, "torch cuda:1")
        assert self.plan(x, "torch", copy=False) == ("zero-copy", plans.ALIAS, "torch cuda:1")
        explanation = xo.explain("convert", x, "torch")
        assert "copied on cuda:1" in explanation.reason
        assert explanation.nbytes == BYTES

    @pytest.mark.parametrize(
        ("memory", "reason"),
        [
            (on_device(strides=(4, 16)), "strides that are not compact"),
            (on_device(strides=(48, 8)), "strides that are not compact"),
            (on_device(pointer=(1 << 20) + 4), "not 16-byte aligned"),
            (on_device(pointer=(1 << 20) + 8), "not 16-byte aligned"),
        ],
    )
    def test_memory_that_xla_refuses_is_copied_by_the_source(self, two_gpus, memory, reason):
        x = two_gpus("torch", memory)
        assert self.plan(x, "jax") == ("copy", plans.SOURCE_COPIES, "jax cuda:1")
        assert reason in xo.explain("convert", x, "jax").reason
        assert xo.explain("convert", x, "jax", copy=False).action == "refuse"

    def test_aligned_memory_is_aliased(self, two_gpus):
        x = two_gpus("torch", on_device(pointer=(1 << 20) + 16))
        assert self.plan(x, "jax") == ("zero-copy", plans.ALIAS, "jax cuda:1")

    def test_conversion_to_numpy_copies_to_the_host(self, two_gpus):
        x = two_gpus("torch", on_device())
        assert self.plan(x, "numpy") == ("copy", plans.HOST, None)
        assert "through the host" not in xo.explain("convert", x, "numpy").reason

    def test_memory_of_a_device_that_the_target_lacks_goes_through_the_host(self, two_gpus, monkeypatch):
        x = two_gpus("jax", on_device(immutable=True)._replace(device="tpu"))
        monkeypatch.setitem(vars(xo.backend("torch")), "_devices", (Device("cuda", "cuda:0", torch.device("cuda:0")),))
        assert self.plan(x, "torch", device="cpu")[1] == plans.HOST
        assert f"through the host, {BYTES} bytes" in xo.explain("convert", x, "torch").reason


def aligned(a):
    return xo.backend("numpy").functions["from_numpy"](a, None)


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def bfloat16(a):
    return a.astype(pytest.importorskip("ml_dtypes").bfloat16)


CONVERTED = {
    "aligned": aligned,
    "not aligned": lambda a: aligned(np.concatenate([a[:1], a]))[1:],
    "strided": lambda a: a[::2],
    "reversed": lambda a: a[::-1],
    "transposed": lambda a: a.reshape(4, 5).T,
    "big-endian": lambda a: a.astype(">f4"),
    "half": lambda a: a.astype(np.float16),
    "bfloat16": bfloat16,
    "read-only": read_only,
    "empty": lambda a: a[:0],
    "0-d": lambda a: np.asarray(a[3]),
}


class TestPlacement:
    """NumPy arrays become JAX arrays on the first CPU device, for any alignment, strides and dtype."""

    @pytest.mark.parametrize("case", CONVERTED)
    @pytest.mark.parametrize("copy", [None, True])
    def test_committed_to_the_first_cpu(self, case, copy):
        a = CONVERTED[case](np.arange(20, dtype=np.float32))
        x = xo.convert(a, "jax", copy=copy)
        assert x.committed
        assert x.devices() == {jax.devices("cpu")[0]}
        np.testing.assert_array_equal(np.asarray(x), a)


class TestPinnedMemory:
    def test_pinned_tensors_become_host_arrays_of_jax(self, monkeypatch):
        """PyTorch exports them as kDLCUDAHost, which JAX treats as GPU memory."""
        x = xo.convert(aligned(np.arange(64, dtype=np.float32)), "torch")
        monkeypatch.setattr(torch.Tensor, "is_pinned", lambda self: True)
        assert x.__dlpack_device__()[0] == 3
        assert xo.explain("convert", x, "jax").action == "zero-copy"
        y = xo.convert(x, "jax")
        assert xo.shares_memory(x, y)
        assert y.devices() == {jax.devices("cpu")[0]}

    def test_host_memory_of_a_gpu_array_is_not_exported(self):
        x = jax.device_put(np.arange(4.0, dtype=np.float32), jax.devices("cpu")[0])
        kinds = {memory.kind for memory in x.device.addressable_memories()} - {x.device.default_memory().kind}
        for kind in kinds:
            y = jax.device_put(x, x.sharding.with_memory_kind(kind))
            assert xo.backend(y).functions["memory"](y) is None
            assert xo.backend(y).device_of(y).kind == "cpu"
            for to in ("numpy", "torch"):
                np.testing.assert_array_equal(np.asarray(xo.convert(y, to)), np.arange(4))
            packed = xo.backend(y).functions["packed"](y)
            assert packed.sharding.memory_kind == x.device.default_memory().kind


def refuse_to_wait(*_):
    raise AssertionError("it waits for the values")


class TestPendingValues:
    @pytest.fixture
    def pending(self, monkeypatch):
        """A JAX array whose values never become ready."""
        x = jax.device_put(np.ones(SHAPE, np.float32), jax.devices("cpu")[0])
        cls = type(x)
        monkeypatch.setattr(cls, "is_ready", lambda self: False)
        for waiting in ("block_until_ready", "unsafe_buffer_pointer", "__array__"):
            monkeypatch.setattr(cls, waiting, refuse_to_wait)
        return x

    def test_inspection_does_not_wait(self, pending):
        backend = xo.backend(pending)
        assert backend.device_of(pending).kind == "cpu"
        memory = backend.functions["memory"](pending)
        assert (memory.pointer, memory.shape, memory.device) == (None, SHAPE, "cpu")
        assert xo.device(pending) == jax.devices("cpu")[0]
        for to, action in (("numpy", "zero-copy"), ("torch", "copy")):
            assert xo.explain("convert", pending, to).action == action
        assert xo.explain("convert", pending, "torch", copy=False).action == "zero-copy"
        assert xo.layout_of(pending).is_contiguous

    def test_shares_memory_waits(self, pending):
        with pytest.raises(AssertionError, match="waits"):
            xo.shares_memory(pending, np.ones(3))

    def test_ready_arrays_have_an_address(self):
        x = jax.block_until_ready(jax.device_put(np.ones(SHAPE, np.float32), jax.devices("cpu")[0]))
        assert xo.backend(x).functions["memory"](x).pointer == x.unsafe_buffer_pointer()


class TestExport:
    def test_a_tensor_is_exported_on_its_own_device(self):
        """PyTorch refuses to export a tensor whose device is not the current one."""
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            x = torch.empty(3, device="cuda:1")
        context = xo.backend("torch").functions["exporting"](x)
        assert isinstance(context, torch.cuda.device)
        assert context.idx == 1

    def test_jax_host_memory_is_ready_when_exported(self, monkeypatch):
        x = jax.device_put(np.ones(SHAPE, np.float32), jax.devices("cpu")[0])
        waited = []
        monkeypatch.setattr(type(x), "block_until_ready", lambda self: waited.append(self) or self)
        with xo.backend("jax").functions["exporting"](x):
            assert waited


class TestCopiesOnTheHost:
    def peak_nbytes(self, a, device):
        tracemalloc.start()
        xo.backend("torch").functions["from_numpy"](a, torch.device(device))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    def test_conversion_to_a_device_makes_no_host_copy(self):
        a = np.zeros((1 << 20,), np.float32)
        xo.backend("torch").functions["from_numpy"](a[:1], torch.device("meta"))
        assert self.peak_nbytes(a, "meta") < a.nbytes / 8
        assert self.peak_nbytes(a, "cpu") >= a.nbytes
        assert self.peak_nbytes(a[::2], "meta") >= a.nbytes / 2, "strides that PyTorch may lack"

    def test_read_only_memory_is_copied_without_a_warning(self):
        a = np.arange(8, dtype=np.float32)
        a.flags.writeable = False
        xo.backend("torch").functions["from_numpy"](a, torch.device("meta"))
        y = xo.backend("torch").functions["from_numpy"](a, torch.device("cpu"))
        y += 1
        assert a.tolist() == list(range(8))

    def test_packed_tensors_are_contiguous_and_have_the_same_values(self):
        x = torch.randn(4, 6, dtype=torch.complex64)
        for view in (x.conj().T, x[::2, ::3], x.imag, torch._neg_view(x), x[0].expand(5, 6)):
            packed = xo.backend("torch").functions["packed"](view)
            assert packed.is_contiguous()
            assert not packed.is_conj()
            assert not packed.is_neg()
            assert torch.equal(packed, view)
            assert not xo.shares_memory(packed, x)
            assert not packed.requires_grad


class TestQueues:
    def test_the_cpu_has_no_queue(self):
        for x in (torch.zeros(3), jax.numpy.zeros(3), np.zeros(3)):
            assert xo.backend(x).functions["queue"](x) is None

    def test_the_stream_of_a_tensor(self, monkeypatch):
        from torch._subclasses.fake_tensor import FakeTensorMode

        created = []

        class Stream:
            def __init__(self, pointer, device):
                created.append((pointer, device))

            def record_event(self):
                return self

            def query(self):
                return "reached"

        monkeypatch.setattr(torch.cuda, "current_stream", lambda device: Stream(7, device))
        monkeypatch.setattr(Stream, "cuda_stream", 7, raising=False)
        monkeypatch.setattr(torch.cuda, "ExternalStream", Stream)
        monkeypatch.setattr(torch.cuda, "default_stream", lambda device: Stream(0, device))
        with FakeTensorMode():
            x = torch.empty(3, device="cuda:1")
        queue = xo.backend("torch").functions["queue"](x)
        assert queue.stream == 7
        assert xo.backend("torch").functions["queue"](x) is queue, "owners of one queue share a mark"
        assert queue.mark()() == "reached"
        assert created[-1] == (7, torch.device("cuda:1"))
        recorded = []
        monkeypatch.setattr(torch.Tensor, "record_stream", lambda self, stream: recorded.append(stream))
        monkeypatch.setattr(torch._C, "_has_Standard_Deleter", lambda storage: False, raising=False)
        assert not xo.backend("torch").functions["outlive"](x, 9), "record_stream ignores memory of other allocators"
        assert not recorded
        monkeypatch.setattr(torch._C, "_has_Standard_Deleter", lambda storage: True)
        for pointer in (0, 9):
            assert xo.backend("torch").functions["outlive"](x, pointer)
            assert created[-1] == (pointer, torch.device("cuda:1"))
        assert len(recorded) == 2

    def test_jax_marks_the_end_of_submitted_work(self):
        from xarrayops_backends.jax._exchange import _mark

        cpu = jax.devices("cpu")[0]
        mesh = jax.sharding.Mesh(np.array([cpu]), ("x",))
        for context in (jax.transfer_guard("disallow"), jax.transfer_guard("disallow_explicit"), jax.set_mesh(mesh)):
            with context:
                reached = _mark(cpu)
            jax.block_until_ready(jax.device_put(np.int32(0), cpu))
            assert reached() in (True, False)

    def test_tie_keeps_an_owner_as_long_as_a_jax_array(self):
        import gc
        import weakref

        class Owner:
            pass

        owner, x = Owner(), jax.device_put(np.ones(8, np.float32), jax.devices("cpu")[0])
        alive = weakref.ref(owner)
        assert xo.backend("jax").functions["tie"](x, owner) is x
        del owner
        gc.collect()
        assert alive() is not None
        del x
        gc.collect()
        assert alive() is None

    @pytest.mark.parametrize("use", ["a view", "a reshaped view", "saved by autograd"])
    def test_tie_keeps_an_owner_as_long_as_the_memory_of_a_tensor(self, use):
        import gc
        import weakref

        class Owner:
            pass

        owner = Owner()
        alive = weakref.ref(owner)
        x = torch.from_numpy(np.ones(8, np.float32))
        xo.backend("torch").functions["tie"](x, owner)
        del owner
        weight = torch.ones(8, requires_grad=True)
        held = {"a view": x[2:], "a reshaped view": x.view(2, 4).T, "saved by autograd": (weight * x).sum()}[use]
        del x
        gc.collect()
        assert alive() is not None
        del held
        gc.collect()
        assert alive() is None


class TestHostMemory:
    def test_conversions_on_the_host_do_not_initialise_cuda(self, monkeypatch):
        """CUDA cannot be initialised in a forked process, such as a worker that loads data."""

        def refuse(*_):
            raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")

        made = xo.backend("torch").__class__("torch", xo.backend("torch").module)
        monkeypatch.setattr("xarrayops._core.backends.find.named", lambda name: made)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
        for name in ("get_device_name", "_lazy_init", "get_device_properties"):
            monkeypatch.setattr(torch.cuda, name, refuse)
        a = np.arange(6.0)
        for x in (a, a[::-1]):
            for copy in (None, True):
                assert plans.plan_convert(x, "torch", copy=copy).device == torch.device("cpu")
        assert made.device_of(torch.ones(3)).kind == "cpu"
        with pytest.raises(RuntimeError, match="forked"):
            made.devices()

    def test_memory_of_every_cpu_device_is_host_memory(self, run):
        """In a separate process, because JAX creates its CPU devices once."""
        pytest.importorskip("jax")
        code = """
import numpy as np, jax, xarrayops as xo
x = jax.block_until_ready(jax.device_put(np.arange(64, dtype=np.float32), jax.devices("cpu")[1]))
assert xo.explain("convert", x, "numpy").action == "zero-copy"
a, t = xo.convert(x, "numpy"), xo.convert(x, "torch", device="cpu", copy=False)
print(xo.shares_memory(x, a), xo.shares_memory(x, t), xo.shares_memory(t, a))
"""
        assert run(code, XLA_FLAGS="--xla_force_host_platform_device_count=2") == "True True True"

    def test_memory_that_cannot_be_exported_goes_through_the_host(self, two_gpus):
        """An example is managed memory of CuPy, which neither PyTorch nor JAX imports by DLPack."""
        for source, target in (("torch", "jax"), ("jax", "torch")):
            x = two_gpus(source, on_device(exported=False))
            plan = plans.plan_convert(x, target)
            assert (plan.action, plan.route) == ("copy", plans.HOST)
            assert "through the host" in plan.reason


@pytest.mark.skipif(find_spec("scipy") is None, reason="containers need SciPy")
def test_containers_stay_on_their_device(monkeypatch):
    """The target device is the container's, also if its parts are prepared on the host."""
    import scipy.sparse

    from xarrayops._ops.exchange.convert import _target_device

    s = scipy.sparse.csr_array(np.eye(3, dtype=np.float32))
    target = xo.backend("torch").sparse
    gpu = Device("cuda", "cuda:1", "torch cuda:1")
    monkeypatch.setitem(vars(xo.backend("torch")), "_devices", (gpu,))
    monkeypatch.setattr(type(xo.backend("numpy")), "device_of", lambda self, x: gpu)
    assert _target_device(s, target, None) == "torch cuda:1"
    assert _target_device(s, target, "cpu") == "cpu"
