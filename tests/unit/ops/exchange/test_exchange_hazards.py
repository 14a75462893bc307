"""convert for difficult arrays: gradients, conjugated views, task graphs; and the shortcuts without a plan."""

import array_api_strict as xps
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import xarrayops as xo
from xarrayops._ops.exchange import convert

RAW = np.zeros(4096, dtype=np.uint8)
LIBRARIES = ("numpy", "torch", "jax", "dask")


class TestHazards:
    """Tensors whose memory does not have their values, or that autograd tracks."""

    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch")

    def test_a_tensor_that_requires_a_gradient(self, torch):
        xo.convert(torch.ones(2), "numpy")  # from now on, convert uses its shortcut
        for x in (torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(2))):
            for to in ("numpy", xps):
                for copy in (None, False, True):
                    assert xo.explain("convert", x, to, copy=copy).action == "refuse"
                    with pytest.raises(xo.ExchangeError, match=r"gradient.*Instead: convert x\.detach\(\)"):
                        xo.convert(x, to, copy=copy)
            assert xo.shares_memory(xo.convert(x.detach(), "numpy"), x.detach())

    @pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
    def test_nested_tensors(self, torch):
        x = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
        with pytest.raises(xo.ExchangeError, match=r"nested tensor .* Instead: convert x\.to_padded_tensor"):
            xo.convert(x, "numpy")
        assert xo.convert(x.to_padded_tensor(0.0), "numpy").shape == (2, 3)

    def test_random_keys(self):
        random = pytest.importorskip("jax").random
        for to in ("numpy", xps):
            assert xo.explain("convert", random.key(0), to).action == "refuse"
            with pytest.raises(xo.ExchangeError, match=r"random keys.* Instead: convert jax\.random\.key_data\(x\)"):
                xo.convert(random.key(0), to)
        assert xo.convert(random.key_data(random.key(0)), "numpy").shape == (2,)

    def test_conjugated_and_negated_views(self, torch):
        x = torch.tensor([1 + 2j, 3 - 4j])
        xo.convert(x, "numpy")
        for view, want in ((x.conj(), [1 - 2j, 3 + 4j]), (x.conj().imag, [-2, 4])):
            assert view.is_conj() or view.is_neg()
            assert xo.explain("convert", view, "numpy").action == "copy"
            assert xo.convert(view, "numpy").tolist() == want
            with pytest.raises(xo.ExchangeError, match="Instead: copy=None"):
                xo.convert(view, "numpy", copy=False)

    @pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
    def test_a_tangent(self, torch):
        from torch.autograd import forward_ad

        xo.convert(torch.ones(3), "numpy")  # from now on, convert uses its shortcut
        with forward_ad.dual_level():
            x = forward_ad.make_dual(torch.ones(3), torch.ones(3))
            with pytest.raises(xo.ExchangeError, match=r"carries a tangent.*Instead: convert x\.detach\(\)"):
                xo.convert(x, "numpy")

    def test_sparse_tensors(self, torch):
        scipy = pytest.importorskip("scipy.sparse")
        assert isinstance(xo.convert(torch.eye(2).to_sparse(), "numpy"), scipy.coo_array)
        with pytest.raises(xo.Unsupported, match=r"Instead: x\.to_dense\(\)"):
            xo.convert(torch.eye(2).to_sparse_bsc((1, 1)), "numpy")


class TestDask:
    def test_conversion_to_dask_copies(self):
        dask = pytest.importorskip("dask")
        x = np.arange(6.0).astype(">f8").reshape(2, 3)
        there = xo.convert(x, "dask")
        assert there.dtype.isnative
        x[0, 0] = 7
        with dask.config.set(scheduler="synchronous"):
            assert xo.convert(there, "numpy")[0, 0] == 0
        with pytest.raises(xo.ExchangeError, match=r"task graph.*Instead: copy=None"):
            xo.convert(x, "dask", copy=False)

    def test_conversion_from_dask_computes(self):
        x = pytest.importorskip("dask.array").arange(6, chunks=2)
        plan = xo.explain("convert", x, "numpy")
        assert (plan.action, plan.reason) == ("copy", "dask must compute the values first")
        with pytest.raises(xo.ExchangeError, match=r"compute.*Instead: copy=None"):
            xo.convert(x, "numpy", copy=False)


class TestShortcuts:
    """A conversion without a plan has the outcome of the plan."""

    @given(st.data())
    @settings(max_examples=200, deadline=None)
    def test_shortcuts_only_if_the_plan_is_zero_copy(self, data):
        dtype = data.draw(st.sampled_from(["f4", ">f4", "f8", "i2", ">i8", "?", "c8", "c16", "u4", "M8[s]", "O", "g"]))
        size = np.dtype(dtype).itemsize
        shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=3)))
        units = [size, -size, 2 * size, 4 * size, 0, size // 2, 1, 64]
        strides = tuple(data.draw(st.sampled_from(units)) for _ in shape)
        start = 1024 + data.draw(st.sampled_from([0, 0, 1, 4, 8, 16, 64])) - RAW.ctypes.data % 64
        if dtype == "O":
            x = np.full(shape, None)
        else:
            x = np.ndarray(shape, dtype, RAW, start, strides)
            x.flags.writeable = data.draw(st.booleans())
        for name in LIBRARIES[1:]:
            library = pytest.importorskip(name) and xo.backend(name)
            made = library.functions["try_from_numpy"](x)
            if made is None:
                continue
            plan = xo.explain("convert", x, name, copy=False)
            assert plan.action == "zero-copy", plan
            assert xo.backend(made) is library
            assert made.shape == x.shape
            assert xo.shares_memory(made, x) is (x.size > 0)
            assert np.array_equal(np.asarray(made), x, equal_nan=dtype not in "?")

    @pytest.mark.parametrize("to", LIBRARIES)
    @pytest.mark.parametrize("source", LIBRARIES)
    def test_a_second_conversion_does_the_same_as_the_first(self, source, to):
        for name in (source, to):
            pytest.importorskip(name)
        host = xo.backend("numpy").functions["from_numpy"](np.arange(16, dtype="float32"), None)
        x = xo.convert(host, source)
        first = xo.convert(x, to)
        for copy in (None, False):
            action = xo.explain("convert", x, to, copy=copy).action
            if action == "refuse":
                with pytest.raises(xo.ExchangeError):
                    xo.convert(x, to, copy=copy)
                continue
            again = xo.convert(x, to, copy=copy)
            assert type(again) is type(first)
            if not xo.is_lazy(x) and not xo.is_lazy(again):
                assert xo.shares_memory(x, again) is (action == "zero-copy")
        assert xo.convert(x, to, copy=True) is not x

    @pytest.mark.parametrize(("source", "to"), [("numpy", "torch"), ("torch", "numpy"), ("numpy", "jax")])
    def test_the_plan_is_made_once(self, source, to, monkeypatch):
        pytest.importorskip("torch" if "torch" in (source, to) else to)
        x = xo.convert(xo.backend("numpy").functions["from_numpy"](np.arange(16, dtype="float32"), None), source)
        xo.convert(x, to)
        monkeypatch.setattr(convert, "plan_convert", None)
        assert xo.shares_memory(xo.convert(x, to), x)

    def test_shortcuts_respect_the_device(self):
        pytest.importorskip("torch")
        xo.convert(np.ones(2), "torch")
        assert xo.convert(np.ones(2), "torch", device="cpu").device.type == "cpu"
        with pytest.raises(xo.Unsupported, match="mars"):
            xo.convert(np.ones(2), "torch", device="mars")
