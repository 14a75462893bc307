"""Where data goes, seen on two stand-in libraries with two devices each: devices, copies, crossings of the host."""

import gc
import itertools
import sys
import weakref
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import ExchangeError
from xarrayops.plugin import Queue
from xarrayops.testing.exchange_matrix.memory_kinds import KINDS, CannotBeMade, make

DOUBLES = ("mutable_devices", "frozen_devices")
LIBRARIES = (*DOUBLES, "numpy", *(name for name in ("torch", "jax", "dask") if find_spec(name)))
DEVICES = ("cpu", "gpu:0", "gpu:1")
DTYPES = ("bool", "int8", "uint16", "int64", "float32", "float64", "complex64", "complex128")
LAYOUTS = tuple(KINDS)
GPUS = DEVICES[1:]


@pytest.fixture
def doubles(entries, claim, monkeypatch):
    """Both libraries beside those that are installed."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "standins" / "devices"))
    real = [claim(name, f"xarrayops_backends.{name}", "xarrayops") for name in LIBRARIES if name not in DOUBLES]
    entries(*real, *(claim(name, f"{name}_xarrayops", "doubles") for name in DOUBLES))
    yield [xo.backend(name) for name in DOUBLES]
    for name in list(sys.modules):
        if name.startswith((*DOUBLES, "two_devices", "backend_of_devices")):
            del sys.modules[name]


def made(library, dtype, layout, device):
    """An array of a library on a device, with its values; skips what the library cannot have there."""
    backend = xo.backend(library)
    if library not in DOUBLES:
        return make(backend, dtype, layout)
    x, want = make(backend, dtype, layout, device)
    assert x.device == device
    return x, want


def expected_device(producer, consumer, device, asked):
    """The device asked for; else the one of the memory, if the consumer has it; else the consumer's default."""
    if asked is not None:
        return asked
    return device if consumer in DOUBLES and producer != "dask" else None


def must_copy(x, consumer, device, asked):
    """Whether an array of the doubles cannot be aliased by the other double, told from the values that it holds."""
    if xo.backend(x).name not in DOUBLES or consumer not in DOUBLES:
        return True  # the rules of real libraries are not known here
    values = x.values
    if asked not in (None, device) or (device == "cpu" and not values.flags.writeable):
        return True
    if consumer == "mutable_devices":
        return any(stride < 0 for stride in values.strides)
    return not values.flags.c_contiguous or (values.size > 0 and values.ctypes.data % 16 != 0)


def faults_of(x, want, consumer, device, asked, copy):
    """What is wrong with one conversion: its values, its device, the copies that it makes and what `explain` says."""
    from two_devices import recorded

    plan = xo.explain("convert", x, consumer, device=asked, copy=copy)
    try:
        with recorded() as events:
            y = xo.convert(x, consumer, device=asked, copy=copy)
    except ExchangeError as error:
        rightly = copy is False and must_copy(x, consumer, device, asked)
        return [] if plan.action == "refuse" and rightly else [f"refused: {error}"]
    faults = [] if plan.action != "refuse" else ["explain says refuse"]
    if (
        plan.action == "zero-copy"
        and {xo.backend(x).name, consumer} == {*DOUBLES}
        and must_copy(x, consumer, device, asked)
    ):
        faults.append("memory is aliased that must not be")
    place = expected_device(xo.backend(x).name, consumer, device, asked)
    if place is not None and xo.device(y) != place:
        faults.append(f"the result is on {xo.device(y)}, not on {place}")
    copies = [event for event in events if event.what == "copy"]
    crossings = [event for event in copies if "cpu" in event[1:3]]
    if device != "cpu" and place in GPUS and crossings and "through the host" not in plan.reason:
        faults.append(f"a hidden crossing of the host: {crossings}")
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
def test_every_conversion_lands_where_it_should(doubles, producer, consumer):
    wrong, tried = [], 0
    sources = DEVICES if producer in DOUBLES else ("cpu",)
    targets = (None, *DEVICES) if consumer in DOUBLES else (None,)
    refuses = xo.backend(consumer).functions["import_refusal"]  # JAX refuses 64 bits unless they are switched on
    dtypes = [dtype for dtype in DTYPES if refuses(dtype) is None]
    for dtype, layout, device in itertools.product(dtypes, LAYOUTS, sources):
        try:
            x, want = made(producer, dtype, layout, device)
        except CannotBeMade:
            continue
        for asked, copy in itertools.product(targets, (None, False, True)):
            tried += 1
            faults = faults_of(x, want, consumer, device, asked, copy)
            wrong += [f"{dtype} {layout} {device} -> {asked} {copy=}: {fault}" for fault in faults]
    assert not wrong, f"{len(wrong)} of {tried}\n" + "\n".join(wrong[:10])
    assert tried >= 100


@pytest.mark.parametrize("device", GPUS)
def test_what_may_not_be_aliased_is_copied_on_its_device(doubles, device):
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
    assert float(xo.sum(y)) == 28, "the first use finds an address that it can take"


def test_values_of_a_device_that_the_target_lacks_pass_through_the_host(doubles):
    numpy_like = xo.asarray([1.0], backend="mutable_devices", device="gpu:1")
    plan = xo.explain("convert", numpy_like, "numpy")
    assert plan.action == "copy"
    assert "through the host" not in plan.reason, "the host is where they are to go"


def test_an_array_to_be_like_gives_the_device(doubles):
    like = xo.asarray([1.0], backend="frozen_devices", device="gpu:1")
    x = xo.asarray([1.0, 2.0], backend="mutable_devices", device="gpu:0")
    assert xo.device(xo.convert(x, like)) == "gpu:1"


class TestCreation:
    @pytest.mark.parametrize(("library", "device"), [*itertools.product(DOUBLES, DEVICES)])
    def test_arrays_are_made_on_the_device_of_their_model(self, doubles, library, device):
        like = xo.asarray([1.0, 2.0], backend=library, device=device)
        made = [
            *(xo.zeros(3, like=like), xo.ones(3, like=like), xo.full(3, 7.0, like=like), xo.arange(3, like=like)),
            *(xo.empty(3, like=like), xo.linspace(0, 1, 3, like=like), xo.eye(2, like=like), xo.zeros_like(like)),
            *(xo.asarray([3.0], like=like), xo.add(like, like), xo.matmul(like, like), xo.sum(like)),
        ]
        assert {xo.device(x) for x in made} == {device}

    def test_two_devices_in_one_call_are_refused(self, doubles):
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
    """An owner whose memory another library used is kept until that library's queue has passed the last use."""

    def loaned(self, copy):
        x = xo.asarray([1.0, 2.0], backend="mutable_devices", device="gpu:1")
        y = xo.convert(x, "frozen_devices", copy=copy)
        return weakref.ref(x), y

    @pytest.mark.parametrize("copy", [None, True])
    def test_until_the_work_has_ended(self, doubles, copy):
        running = xo.backend("frozen_devices").module.running["gpu:1"]
        running.append("a kernel")
        owner, y = self.loaned(copy)
        if copy is None:
            gc.collect()
            assert owner() is not None, "y is memory of it"
        del y
        gc.collect()
        xo.synchronize()
        assert owner() is not None, "the kernel may still read it"
        running.append("later work, which has nothing to do with it")
        running.remove("a kernel")
        xo.synchronize()
        gc.collect()
        assert owner() is None
        running.clear()

    def test_the_next_exchange_looks_as_well(self, doubles):
        owner, y = self.loaned(None)
        del y
        again = self.loaned(None)
        gc.collect()
        assert owner() is None
        assert again[0]() is not None

    def test_one_queue_keeps_its_own_order(self, doubles, monkeypatch):
        """Where both libraries work in one stream, nothing has to be kept."""
        for backend in doubles:
            monkeypatch.setitem(backend.functions, "queue", lambda x: Queue(7, bool, pytest.fail))
        owner, y = self.loaned(None)
        assert xo.shares_memory(y, owner())
        del y
        gc.collect()
        assert owner() is None

    @pytest.mark.parametrize("can", [True, False])
    def test_an_owner_that_can_wait_for_a_stream_is_not_kept(self, doubles, monkeypatch, can):
        mutable, frozen = doubles
        told = []
        monkeypatch.setitem(frozen.functions, "queue", lambda x: Queue(7, bool, lambda: lambda: True))
        monkeypatch.setitem(mutable.functions, "outlive", lambda x, stream: told.append((x.device, stream)) or can)
        owner, y = self.loaned(None)
        assert told == [("gpu:1", 7)]
        del y
        gc.collect()
        assert (owner() is None) == can

    @pytest.mark.parametrize("library", DOUBLES)
    def test_nothing_is_asked_while_a_graph_is_captured(self, doubles, library):
        """An event of any library that is queried then ends the capture."""
        owner, y = self.loaned(None)
        del y
        gc.collect()
        capturing = xo.backend(library).module.capturing
        capturing.add("gpu:1")
        self.loaned(None)
        gc.collect()
        assert owner() is not None
        capturing.clear()
        xo.synchronize()
        gc.collect()
        assert owner() is None

    @pytest.mark.parametrize("fails", ["mark", "reached"])
    def test_an_error_keeps_the_owner_and_reaches_nobody(self, doubles, monkeypatch, fails):
        """JAX refuses to submit work under a mesh of other devices, say; the next look may find it willing."""
        broken = [True]

        def refuse():
            if broken:
                raise RuntimeError("not now")
            return True

        mark = {"mark": lambda: refuse() and (lambda: True), "reached": lambda: refuse}[fails]
        monkeypatch.setitem(xo.backend("frozen_devices").functions, "queue", lambda x: Queue(None, bool, mark))
        owner, y = self.loaned(None)
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
        kept = [self.loaned(None) for _ in range(5)]
        owners = [owner for owner, _ in kept]
        del kept
        gc.collect()
        xo.synchronize()
        gc.collect()
        assert len(marks) == 1
        assert [owner() for owner in owners] == [None] * 5


def test_handles_of_devices_are_made_once(doubles):
    x = xo.asarray([1.0], backend="mutable_devices", device="gpu:1")
    xo.convert(x, "frozen_devices")
    asked = len(xo.backend("frozen_devices").module.asked)
    for _ in range(5):
        xo.convert(x, "frozen_devices", device="gpu:0")
    assert len(xo.backend("frozen_devices").module.asked) == asked <= 1
