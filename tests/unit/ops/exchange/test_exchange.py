"""convert, its plan and shares_memory, between NumPy and array_api_strict, for every kind of memory."""

import math

import array_api_strict as xps
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import xarrayops as xo
from xarrayops._host import views
from xarrayops._ops.exchange import convert
from xarrayops.plugin import Memory

RAW = np.zeros(65, dtype=np.uint8)


def read_only(x):
    x.flags.writeable = False
    return x


ALIASED = {
    "plain": np.arange(6.0).reshape(2, 3),
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "strided": np.arange(12.0)[::3],
    "negative strides": np.arange(6.0)[::-1],
    "zero dimensions": np.array(2.0),
    "empty": np.zeros((0, 3), dtype=np.int8),
    "bool": np.array([True, False]),
    "complex": np.ones(2, dtype=np.complex64),
    "unaligned": RAW[1:25].view(np.float64),
}
COPIED = {
    "read-only": read_only(np.arange(3.0)),
    "broadcast": np.broadcast_to(np.arange(3.0), (2, 3)),
    "big-endian": np.arange(3.0).astype(">f8"),
    "stride that is not a multiple of the item size": RAW[:54].reshape(3, 18)[:, :16].view(np.float64),
    "scalar": np.float64(2.0),
}
REFUSED = {
    "structured": np.zeros(2, dtype=[("a", int)]),
    "text": np.array(["a"]),
    "dates": np.array(["2020-01-01"], dtype="datetime64[s]"),
    "long double": np.ones(2, dtype=np.longdouble),
    "half": np.ones(2, dtype=np.float16),
}


def host(x):
    return np.asarray(x._array)


def check(x, result):
    np.testing.assert_array_equal(host(result), x)
    assert result.shape == x.shape
    assert xo.backend(x).functions["dtype_name"](x.dtype) == xo.backend(result).functions["dtype_name"](result.dtype)


@pytest.mark.parametrize("x", ALIASED.values(), ids=ALIASED)
class TestAliased:
    @pytest.mark.parametrize("copy", [None, False])
    def test_memory_is_shared(self, x, copy):
        assert xo.explain("convert", x, xps, copy=copy).action == "zero-copy"
        result = xo.convert(x, xps, copy=copy)
        check(x, result)
        if x.size:
            assert host(result).ctypes.data == x.ctypes.data
            assert xo.shares_memory(x, result)

    def test_copy_true_copies(self, x):
        plan = xo.explain("convert", x, xps, copy=True)
        assert (plan.action, plan.nbytes) == ("copy", x.nbytes)
        result = xo.convert(x, xps, copy=True)
        check(x, result)
        assert not np.shares_memory(host(result), x)
        assert host(result).flags.writeable

    def test_conversion_and_back(self, x):
        back = xo.convert(xo.convert(x, xps), "numpy", copy=False)
        assert type(back) is np.ndarray
        np.testing.assert_array_equal(back, x)
        assert back.dtype == x.dtype


@pytest.mark.parametrize("x", COPIED.values(), ids=COPIED)
class TestCopied:
    @pytest.mark.parametrize("copy", [None, True])
    def test_memory_is_copied(self, x, copy):
        plan = xo.explain("convert", x, xps, copy=copy)
        assert plan.action == "copy"
        assert plan.reason
        result = xo.convert(x, xps, copy=copy)
        check(x, result)
        assert not xo.shares_memory(x, result)
        assert host(result).flags.writeable
        assert host(result).dtype.isnative

    def test_copy_false_raises(self, x):
        assert xo.explain("convert", x, xps, copy=False).action == "refuse"
        with pytest.raises(xo.ExchangeError, match="Instead: copy=None") as error:
            xo.convert(x, xps, copy=False)
        assert str(error.value).startswith(f"xo.convert(numpy array of shape {x.shape} and dtype {x.dtype}, ")
        assert isinstance(error.value, BufferError)


@pytest.mark.parametrize("x", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("copy", [None, False, True])
def test_a_dtype_that_the_target_lacks(x, copy):
    assert xo.explain("convert", x, xps, copy=copy).action == "refuse"
    is_numeric = x.dtype.kind in "biufc"
    message = r"array_api_strict has no dtype .*float64" if is_numeric else r"dtype .* is not numeric\. Instead: "
    with pytest.raises(xo.ExchangeError, match=message):
        xo.convert(x, xps, copy=copy)


class TestSameLibrary:
    def test_the_array_itself(self):
        x, s = np.arange(3.0), xps.ones(3)
        for copy in (None, False):
            assert xo.convert(x, "numpy", copy=copy) is x
            assert xo.convert(x, np, copy=copy) is x
            assert xo.convert(x, x[:0], copy=copy) is x
            assert xo.convert(s, xps, copy=copy) is s

    def test_a_read_only_numpy_array_is_returned_itself(self):
        x = COPIED["read-only"]
        assert xo.convert(x, "numpy", copy=False) is x

    def test_a_copy(self):
        x = np.arange(3.0)
        assert not np.shares_memory(xo.convert(x, "numpy", copy=True), x)
        plan = xo.explain("convert", x, "numpy", copy=True)
        assert (plan.action, plan.nbytes, plan.reason) == ("copy", 24, "copy=True")

    def test_another_device(self):
        other = xps.Device("device1")
        x = xps.ones(3)
        assert xo.convert(x, xps, device=other).device == other
        assert xo.convert(x, xps.ones(1, device=other)).device == other
        with pytest.raises(xo.ExchangeError, match=r"not on .*device1.*Instead: copy=None"):
            xo.convert(x, xps, device=other, copy=False)
        assert xo.explain("convert", x, xps, device=other).reason == "another device"


class TestTargets:
    def test_names_namespaces_and_arrays(self):
        x = np.arange(3.0)
        for to in (xps, xps.ones(1), xo.backend(xps).namespace):
            assert type(xo.convert(x, to)) is type(xps.ones(1))
        for to in ("numpy", np, np.ones(1), np.float32(1)):
            assert type(xo.convert(xps.ones(2), to)) is np.ndarray

    def test_unknown(self):
        with pytest.raises(xo.BackendNotFound, match="'nunpy': it has"):
            xo.convert(np.ones(1), "nunpy")
        with pytest.raises(xo.BackendNotFound, match="module math is not a namespace"):
            xo.convert(np.ones(1), math)
        with pytest.raises(xo.BackendNotFound, match="list"):
            xo.convert([1.0], "numpy")
        with pytest.raises(xo.Unsupported, match="'mars'"):
            xo.convert(np.ones(1), xps, device="mars")

    def test_objects(self):
        with pytest.raises(xo.Unsupported, match="objects"):
            xo.convert(np.asarray([1, None], dtype=object), xps)

    def test_a_producer_that_refuses(self, monkeypatch):
        """An error of the library becomes an ExchangeError with the call and what to do instead."""

        def refuse(x, memory, host):
            raise RuntimeError("not today")

        monkeypatch.setitem(xo.backend(xps).functions, "alias", refuse)
        with pytest.raises(xo.ExchangeError, match=r"xo\.convert\(numpy.*not today\. Instead: copy=True"):
            xo.convert(np.ones(2), xps)
        assert type(xo.convert(np.ones(2), xps, copy=True)) is type(xps.ones(1))


class TestImmutable:
    """JAX arrays are immutable: NumPy gets a read-only view; libraries without read-only arrays get a copy."""

    @pytest.fixture
    def x(self):
        jax = pytest.importorskip("jax")
        return jax.numpy.arange(4, dtype="int32")

    def test_numpy_gets_a_read_only_view(self, x):
        view = xo.convert(x, "numpy")
        assert view.tolist() == [0, 1, 2, 3]
        assert xo.shares_memory(view, x)
        assert not view.flags.writeable
        assert xo.convert(x, "numpy", copy=True).flags.writeable

    def test_others_get_a_copy(self, x):
        assert not xo.shares_memory(xo.convert(x, xps), x)
        with pytest.raises(xo.ExchangeError, match=r"read-only memory\. Instead: copy=None"):
            xo.convert(x, xps, copy=False)

    def test_jax_aliases_writable_numpy_memory(self, x):
        """NumPy's memory is aliased if it is aligned; explain says that it can still be written."""
        aligned = xo.backend("numpy").functions["from_numpy"](np.arange(64, dtype=np.int32), None)
        plan = xo.explain("convert", aligned, "jax")
        assert (plan.action, plan.reason) == ("zero-copy", "aliases memory that you can still write")
        assert xo.shares_memory(xo.convert(aligned, "jax"), aligned)
        assert "64-byte" in xo.explain("convert", aligned[1:], "jax").reason


class TestLowPrecision:
    """NumPy has bfloat16 and float8 from ml_dtypes; PyTorch shares their memory."""

    @pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
    def test_pytorch(self, dtype):
        ml_dtypes = pytest.importorskip("ml_dtypes")
        torch = pytest.importorskip("torch")
        pytest.importorskip("xarrayops_backends.torch")
        x = np.asarray([1.0, -2.0, 0.5]).astype(getattr(ml_dtypes, dtype))
        t = xo.convert(x, "torch")
        assert t.dtype is getattr(torch, dtype)
        assert t.float().tolist() == [1.0, -2.0, 0.5]
        assert xo.shares_memory(x, t)
        back = xo.convert(t, "numpy", copy=False)
        assert back.dtype == x.dtype
        assert back.ctypes.data == x.ctypes.data

    def test_a_library_without_bfloat16(self):
        ml_dtypes = pytest.importorskip("ml_dtypes")
        with pytest.raises(xo.ExchangeError, match="no dtype bfloat16"):
            xo.convert(np.ones(2, dtype=ml_dtypes.bfloat16), xps)


@pytest.mark.parametrize("copy", [None, True])
@pytest.mark.parametrize("char", "lLqQ")
def test_both_of_numpys_64_bit_integers(char, copy):
    """NumPy has two of each kind, and PyTorch's own conversion refuses unsigned long long."""
    torch = pytest.importorskip("torch", exc_type=ImportError)
    x = np.asarray([1, 2], dtype=char)
    t = xo.convert(x, "torch", copy=copy)
    assert t.tolist() == [1, 2]
    assert t.dtype is (torch.uint64 if char in "LQ" else torch.int64)


class TestSharesMemory:
    @given(st.data())
    @settings(max_examples=150, deadline=None)
    def test_against_numpy(self, data):
        base = np.arange(24.0).reshape(4, 6)
        steps = st.sampled_from([-3, -2, -1, 1, 2, 3])
        ends = st.integers(-7, 7)
        piece = st.tuples(*[st.builds(slice, ends, ends, steps)] * 2)
        a, b = base[data.draw(piece)], base[data.draw(piece)]
        expected = np.shares_memory(a, b)
        assert xo.shares_memory(a, b) is expected
        assert xo.shares_memory(a, xo.convert(b, xps, copy=False)) is expected
        assert xo.shares_memory(xo.convert(a, xps, copy=False), xo.convert(b, xps, copy=False)) is expected

    def test_interleaved_columns(self):
        x = np.zeros((4, 6))
        assert not xo.shares_memory(x[:, ::2], x[:, 1::2])
        assert xo.shares_memory(x.T, x)

    def test_views_of_other_dtypes(self):
        x = np.zeros(4, dtype=np.float32)
        assert xo.shares_memory(x, x.view(np.int8)[3:4])
        assert not xo.shares_memory(x[1:], x.view(np.int8)[:4])

    def test_equal_addresses_on_different_devices(self, monkeypatch):
        x, s = np.zeros(3), xps.zeros(3)
        on_cpu = xo.backend(x).functions["memory"](x)
        for memory, shared in (
            (on_cpu, True),
            (on_cpu._replace(device="cuda"), False),
            (on_cpu._replace(index=1), False),
            (None, False),
        ):
            monkeypatch.setitem(xo.backend(s).functions, "memory", lambda _, memory=memory: memory)
            assert xo.shares_memory(x, s) is shared
            assert xo.shares_memory(s, x) is shared

    def test_strides_that_are_too_hard_to_compare(self, monkeypatch):
        """NumPy's exact test could take years; beyond a limit of work, the extents decide."""
        random = np.random.default_rng(0)
        first, second = (
            views.over(
                2**45 + start, (6,) * 10, tuple(map(int, random.integers(2**30, 2**36, 10))), "|V1", readonly=True
            )
            for start in (0, 2**37 + 1)
        )
        work = []
        exact = np.shares_memory
        monkeypatch.setattr(np, "shares_memory", lambda a, b, max_work: work.append(max_work) or exact(a, b, max_work))
        assert xo.shares_memory(first.view("u1"), second.view("u1"))
        assert work == [convert._MAX_WORK] != [-1], "NumPy's work must be limited; -1 means no limit"
        far = views.over(2**50, (6,), (3,), "|V1", readonly=True)
        assert not xo.shares_memory(first.view("u1"), far.view("u1"))

    def test_scalars_share_nothing(self):
        x = np.float64(1.0)
        assert not xo.shares_memory(x, x)

    def test_no_array(self):
        with pytest.raises(xo.BackendNotFound, match="list"):
            xo.shares_memory(np.ones(1), [1.0])


class TestMemory:
    @given(st.data())
    @settings(max_examples=150, deadline=None)
    def test_is_compact_equals_numpys_flag(self, data):
        shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=4)))
        x = np.zeros(shape, dtype=data.draw(st.sampled_from(["int8", "float64"])))
        x = x.transpose(data.draw(st.permutations(range(x.ndim))))
        x = x[(*(slice(None, None, data.draw(st.sampled_from([1, 1, 2, -1]))) for _ in shape), ...)]
        memory = xo.backend(x).functions["memory"](x)
        assert memory.is_compact is x.flags.c_contiguous
        assert memory.nbytes == x.nbytes
        assert (memory.shape, memory.strides, memory.pointer) == (x.shape, x.strides, x.ctypes.data)

    def test_memory_of_numpy_arrays(self):
        memory_of = xo.backend("numpy").functions["memory"]
        assert memory_of(COPIED["read-only"]).readonly
        assert memory_of(COPIED["big-endian"]).dtype == ">f8"
        assert memory_of(ALIASED["negative strides"]).strides == (-8,)
        assert memory_of(np.float64(1)) is None
        assert memory_of(REFUSED["text"]).dtype == "<U1"

    def test_defaults(self):
        memory = Memory("int8", (2,), (1,), 1, 0, "cpu")
        assert (memory.index, memory.readonly, memory.immutable) == (0, False, False)
