"""Devices, copies and transfers through the host, with two stand-in libraries that record all copies."""

import gc
import itertools
import sys
import weakref
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import xarrayops as xo
from benchmarks.exchange_matrix.memory_kinds import KINDS, CannotBeMade, make
from xarrayops.errors import ExchangeError
from xarrayops.plugin import Queue

DOUBLES = ("mutable_devices", "frozen_devices")
LIBRARIES = (*DOUBLES, "numpy", *(name for name in ("torch", "jax", "dask") if find_spec(name)))
DEVICES = ("cpu", "gpu:0", "gpu:1")
DTYPES = ("bool", "int8", "uint16", "int64", "float32", "float64", "complex64", "complex128")
LAYOUTS = tuple(KINDS)
GPUS = DEVICES[1:]


@pytest.fixture
def doubles(entries, claim, monkeypatch):
    """The two stand-in libraries, registered together with the installed libraries."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "standins" / "devices"))
    real = [claim(name, f"xarrayops_backends.{name}", "xarrayops") for name in LIBRARIES if name not in DOUBLES]
    entries(*real, *(claim(name, f"{name}_xarrayops", "doubles") for name in DOUBLES))
    yield [xo.backend(name) for name in DOUBLES]
    for name in list(sys.modules):
        if name.startswith((*DOUBLES, "two_devices", "backend_of_devices")):
            del sys.modules[name]


def made(library, dtype, layout, device):
    """An array of a library on a device, and its values. Raises `CannotBeMade` if the library does not support it."""
    backend = xo.backend(library)
    if library not in DOUBLES:
        return make(backend, dtype, layout)
    x, want = make(backend, dtype, layout, device)
    assert x.device == device
    return x, want


def expected_device(producer, consumer, device, requested):
    """The requested device; else that of the memory, if the consumer has it; else None for the consumer's default."""
    if requested is not None:
        return requested
    return device if consumer in DOUBLES and producer != "dask" else None


def must_copy(x, consumer, device, requested):
    """Whether the other stand-in library cannot alias an array, by the rules of the two libraries."""
    if xo.backend(x).name not in DOUBLES or consumer not in DOUBLES:
        return True  # this function does not have the rules of real libraries
    values = x.values
    if requested not in (None, device) or (device == "cpu" and not values.flags.writeable):
        return True
    if consumer == "mutable_devices":
        return any(stride < 0 for stride in values.strides)
    return not values.flags.c_contiguous or (values.size > 0 and values.ctypes.data % 16 != 0)


def faults_of(x, want, consumer, device, requested, copy):
    """The errors of one conversion: wrong values or device, needless copies, or a difference from `explain`."""
    from two_devices import recorded

    plan = xo.explain("convert", x, consumer, device=requested, copy=copy)
    try:
        with recorded() as events:
            y = xo.convert(x, consumer, device=requested, copy=copy)
    except ExchangeError as error:
        justified = copy is False and must_copy(x, consumer, device, requested)
        return [] if plan.action == "refuse" and justified else [f"refused: {error}"]
    faults = [] if plan.action != "refuse" else ["explain says refuse"]
    if (
        plan.action == "zero-copy"
        and {xo.backend(x).name, consumer} == {*DOUBLES}
        and must_copy(x, consumer, device, requested)
    ):
        faults.append("memory is aliased, but must be copied")
    target = expected_device(xo.backend(x).name, consumer, device, requested)
    if target is not None and xo.device(y) != target:
        faults.append(f"the result is on {xo.device(y)}, not on {target}")
    copies = [event for event in events if event.what == "copy"]
    crossings = [event for event in copies if "cpu" in event[1:3]]
    if device != "cpu" and target in GPUS and crossings and "through the host" not in plan.reason:
        faults.append(f"a transfer through the host that explain does not mention: {crossings}")
    if plan.action == "zero-copy" and copies:
        faults.append(f"explain says zero-copy: {copies}")
    if len(copies) > 1 + ("then moved" in plan.reason):
        faults.append(f"more than one copy: {copies}")
    (computed,) = xo.backend(y).functions["compute"](y)
    values = xo.backend(computed).functions["to_numpy"](computed)
    if values.shape != want.shape or values.dtype != want.dtype or values.tobytes() != want.tobytes():
        faults.append("the values differ")
    return faults


@pytest.mark.parametrize(
    ("producer", "consumer"), [pair for pair in itertools.permutations(LIBRARIES, 2) if set(pair) & set(DOUBLES)]
)
def test_every_conversion_has_the_expected_device_and_copies(doubles, producer, consumer):
    wrong, tried = [], 0
    sources = DEVICES if producer in DOUBLES else ("cpu",)
    targets = (None, *DEVICES) if consumer in DOUBLES else (None,)
    refuses = xo.backend(consumer).functions["import_refusal"]  # JAX refuses 64 bits unless they are enabled
    dtypes = [dtype for dtype in DTYPES if refuses(dtype) is None]
    for dtype, layout, device in itertools.product(dtypes, LAYOUTS, sources):
        try:
            x, want = made(producer, dtype, layout, device)
        except CannotBeMade:
            continue
        for requested, copy in itertools.product(targets, (None, False, True)):
            tried += 1
            faults = faults_of(x, want, consumer, device, requested, copy)
            wrong += [f"{dtype} {layout} {device} -> {requested} {copy=}: {fault}" for fault in faults]
    assert not wrong, f"{len(wrong)} of {tried}\n" + "\n".join(wrong[:10])
    assert tried >= 100


@pytest.mark.parametrize("device", GPUS)
def test_memory_that_must_not_be_aliased_is_copied_on_its_device(doubles, device):
    frozen = xo.asarray([1.0, 2.0], backend="frozen_devices", device=device)
    plan = xo.explain("convert", frozen, "mutable_devices")
    assert plan.action == "copy"
    assert f"copied on {device}" in plan.reason
    assert not xo.shares_memory(frozen, xo.convert(frozen, "mutable_devices"))
    alias = xo.convert(frozen, "mutable_devices", copy=False)
    assert xo.shares_memory(frozen, alias)
    assert alias.device == device


@pytest.mark.parametrize("device", GPUS)
def test_memory_that_is_not_aligned_is_copied_on_its_device(doubles, device):
    x = xo.asarray(np.arange(8, dtype=np.float32), backend="mutable_devices", device=device)[1:]
    plan = xo.explain("convert", x, "frozen_devices")
    assert (plan.action, "16-byte aligned" in plan.reason) == ("copy", True)
    y = xo.convert(x, "frozen_devices")
    assert xo.device(y) == device
    assert float(xo.sum(y)) == 28, "the library requires an aligned address"


def test_explain_does_not_report_the_host_if_it_is_the_target(doubles):
    numpy_like = xo.asarray([1.0], backend="mutable_devices", device="gpu:1")
    plan = xo.explain("convert", numpy_like, "numpy")
    assert plan.action == "copy"
    assert "through the host" not in plan.reason, "the host is the target"


def test_a_target_array_determines_the_device(doubles):
    like = xo.asarray([1.0], backend="frozen_devices", device="gpu:1")
    x = xo.asarray([1.0, 2.0], backend="mutable_devices", device="gpu:0")
    assert xo.device(xo.convert(x, like)) == "gpu:1"


class TestCreation:
    @pytest.mark.parametrize(("library", "device"), [*itertools.product(DOUBLES, DEVICES)])
    def test_arrays_are_created_on_the_device_of_like(self, doubles, library, device):
        like = xo.asarray([1.0, 2.0], backend=library, device=device)
        made = [
            *(xo.zeros(3, like=like), xo.ones(3, like=like), xo.full(3, 7.0, like=like), xo.arange(3, like=like)),
            *(xo.empty(3, like=like), xo.linspace(0, 1, 3, like=like), xo.eye(2, like=like), xo.zeros_like(like)),
            *(xo.asarray([3.0], like=like), xo.add(like, like), xo.matmul(like, like), xo.sum(like)),
        ]
        assert {xo.device(x) for x in made} == {device}

    def test_arrays_on_two_devices_raise(self, doubles):
        x, y = (xo.asarray([1.0], backend="mutable_devices", device=device) for device in GPUS)
        with pytest.raises(RuntimeError, match="gpu:0, gpu:1"):
            xo.add(x, y)


class TestEngines:
    @pytest.mark.parametrize(("own", "engine"), [DOUBLES, DOUBLES[::-1]])
    @pytest.mark.parametrize("device", DEVICES)
    def test_an_engine_works_on_the_device_of_the_arrays(self, doubles, own, engine, device):
        from two_devices import recorded

        rng = np.random.default_rng(0)
        values = [rng.normal(size=(1, 2, 5, 4)) for _ in range(3)]
        q, k, v = (xo.asarray(a, backend=own, device=device) for a in values)
        plain = xo.attention(q, k, v)
        with recorded() as events, xo.engines(engine):
            served = xo.attention(q, k, v)
            chosen = xo.explain("attention", q, k, v).chosen
        assert chosen == f"{engine}:simple"
        assert xo.backend(served).name == own
        assert xo.device(served) == xo.device(plain) == device
        crossings = [event for event in events if event.what == "copy" and event.source != event.target]
        assert not crossings
        host = xo.backend(served).functions["to_numpy"]
        np.testing.assert_allclose(host(served), host(plain), rtol=1e-12)


class TestLifetime:
    """An array whose memory another library uses is kept until that library's queue has finished the last use."""

    def shared_array(self, copy):
        x = xo.asarray([1.0, 2.0], backend="mutable_devices", device="gpu:1")
        y = xo.convert(x, "frozen_devices", copy=copy)
        return weakref.ref(x), y

    @pytest.mark.parametrize("copy", [None, True])
    def test_the_owner_is_kept_until_the_work_has_finished(self, doubles, copy):
        running = xo.backend("frozen_devices").module.running["gpu:1"]
        running.append("a kernel")
        owner, y = self.shared_array(copy)
        if copy is None:
            gc.collect()
            assert owner() is not None, "y uses its memory"
        del y
        gc.collect()
        xo.synchronize()
        assert owner() is not None, "the kernel may still read it"
        running.append("later work that does not use it")
        running.remove("a kernel")
        xo.synchronize()
        gc.collect()
        assert owner() is None
        running.clear()

    def test_the_next_exchange_releases_owners_too(self, doubles):
        owner, y = self.shared_array(None)
        del y
        again = self.shared_array(None)
        gc.collect()
        assert owner() is None
        assert again[0]() is not None

    def test_owners_are_not_kept_if_both_libraries_use_one_stream(self, doubles, monkeypatch):
        """Work in one stream is executed in order, so no owner has to be kept."""
        for backend in doubles:
            monkeypatch.setitem(backend.functions, "queue", lambda x: Queue(7, bool, pytest.fail))
        owner, y = self.shared_array(None)
        assert xo.shares_memory(y, owner())
        del y
        gc.collect()
        assert owner() is None

    @pytest.mark.parametrize("supported", [True, False])
    def test_an_owner_that_can_wait_for_a_stream_is_not_kept(self, doubles, monkeypatch, supported):
        mutable, frozen = doubles
        calls = []
        monkeypatch.setitem(frozen.functions, "queue", lambda x: Queue(7, bool, lambda: lambda: True))
        monkeypatch.setitem(
            mutable.functions, "outlive", lambda x, stream: calls.append((x.device, stream)) or supported
        )
        owner, y = self.shared_array(None)
        assert calls == [("gpu:1", 7)]
        del y
        gc.collect()
        assert (owner() is None) == supported

    @pytest.mark.parametrize("library", DOUBLES)
    def test_events_are_not_queried_while_a_graph_is_captured(self, doubles, library):
        """A query of an event of any library would end the capture."""
        owner, y = self.shared_array(None)
        del y
        gc.collect()
        capturing = xo.backend(library).module.capturing
        capturing.add("gpu:1")
        self.shared_array(None)
        gc.collect()
        assert owner() is not None
        capturing.clear()
        xo.synchronize()
        gc.collect()
        assert owner() is None

    @pytest.mark.parametrize("fails", ["mark", "reached"])
    def test_an_error_of_the_queue_keeps_the_owner_and_is_not_raised(self, doubles, monkeypatch, fails):
        """For example, JAX refuses to submit work under a mesh of other devices. The next check may succeed."""
        broken = [True]

        def refuse():
            if broken:
                raise RuntimeError("not now")
            return True

        mark = {"mark": lambda: refuse() and (lambda: True), "reached": lambda: refuse}[fails]
        monkeypatch.setitem(xo.backend("frozen_devices").functions, "queue", lambda x: Queue(None, bool, mark))
        owner, y = self.shared_array(None)
        del y
        gc.collect()
        xo.synchronize()
        assert owner() is not None
        broken.clear()
        xo.synchronize()
        gc.collect()
        assert owner() is None

    def test_owners_of_one_queue_share_a_mark(self, doubles, monkeypatch):
        marks = []
        queue = Queue(None, bool, lambda: marks.append(None) or (lambda: True))
        monkeypatch.setitem(xo.backend("frozen_devices").functions, "queue", lambda x: queue)
        kept = [self.shared_array(None) for _ in range(5)]
        owners = [owner for owner, _ in kept]
        del kept
        gc.collect()
        xo.synchronize()
        gc.collect()
        assert len(marks) == 1
        assert [owner() for owner in owners] == [None] * 5


def test_device_handles_are_created_once(doubles):
    x = xo.asarray([1.0], backend="mutable_devices", device="gpu:1")
    xo.convert(x, "frozen_devices")
    handles = len(xo.backend("frozen_devices").module.asked)
    for _ in range(5):
        xo.convert(x, "frozen_devices", device="gpu:0")
    assert len(xo.backend("frozen_devices").module.asked) == handles <= 1


@pytest.mark.parametrize(
    ("first", "second", "device"),
    [("numpy", "mutable_devices", "gpu:1"), ("mutable_devices", "frozen_devices", "gpu:0")],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_the_error_about_several_libraries_keeps_what_is_on_a_device(doubles, first, second, device, swapped):
    """Its advice moves no values off a device, wherever the argument on the device is."""
    arrays = [made(first, "float32", "C", "cpu")[0], made(second, "float32", "C", device)[0]]
    x1, x2 = reversed(arrays) if swapped else arrays
    moved, kept = ("x2", "x1") if swapped else ("x1", "x2")
    with pytest.raises(xo.MixedBackends) as error:
        xo.add(x1, x2)
    assert str(error.value).endswith(f"Convert to one library: {moved} -> xo.convert({moved}, {kept}).")
    converted = xo.convert(arrays[0], arrays[1])
    assert xo.add(converted, arrays[1]).device == device
