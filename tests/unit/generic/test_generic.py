"""The generic functions, which use only the standard: on array_api_strict, compared with NumPy."""

import math
import sys
from types import ModuleType

import array_api_strict as xps
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as npst

import xarrayops as xo
from xarrayops._core.backends import registry
from xarrayops._generic.hooks import devices

SIZES = {"i": 2, "j": 3, "k": 1, "m": 4}


def strict(array):
    return xps.asarray(np.asarray(array), copy=True)


def values(x):
    return np.asarray(getattr(x, "_array", x))


class TestEinsum:
    @pytest.mark.parametrize(
        "subscripts",
        [
            *("ij,jm->im", "ij,jm", "ij->ji", "ij->", "ij->j", "i,i->", "i,j->ij", "ij,ij->ij", "mm->m", "mm->", "mm"),
            *(
                "mmj->mj",
                "jmm",
                "mmm->m",
                "ijm,jm->i",
                "ij,jm,m->i",
                "i j , j m -> m i",
                "mji->ijm",
                ",i->i",
                "i,i,i->i",
            ),
            *("ba,bc", "ij,kj->ik"),
        ],
    )
    def test_against_numpy(self, subscripts):
        random = np.random.default_rng(0)
        sizes = SIZES | {"a": 2, "b": 3, "c": 2}
        terms = subscripts.replace(" ", "").partition("->")[0].split(",")
        operands = [random.random([sizes[c] for c in term]) for term in terms]
        result = xo.einsum(subscripts, *map(strict, operands))
        np.testing.assert_allclose(values(result), np.einsum(subscripts, *operands), rtol=1e-12)

    @given(st.data())
    @settings(max_examples=60, deadline=None)
    def test_any_subscripts(self, data):
        terms = data.draw(st.lists(st.text("ijk", max_size=3), min_size=1, max_size=3))
        labels = sorted(set("".join(terms)))
        arrow = data.draw(st.booleans())
        output = "".join(data.draw(st.permutations(labels))[: data.draw(st.integers(0, 3))]) if arrow else ""
        subscripts = ",".join(terms) + (f"->{output}" if arrow else "")
        operands = [np.arange(math.prod(SIZES[c] for c in t)).reshape([SIZES[c] for c in t]) - 2 for t in terms]
        result = xo.einsum(subscripts, *map(strict, operands))
        np.testing.assert_array_equal(values(result), np.einsum(subscripts, *operands))

    def test_the_dtype_is_that_of_the_operands(self):
        for dtype in ("int8", "uint16", "float32", "complex64"):
            x = xps.ones((3, 3), dtype=getattr(xps, dtype))
            assert xo.einsum("ij->", x).dtype == x.dtype
            assert xo.einsum("ij,jk->ik", x, x).dtype == x.dtype

    @pytest.mark.parametrize("subscripts", ["ij,jk->ik", "ij", "ijk,ij", "ij->ik", "ij->ii", "ij->jij", "ij,ij,ij->i"])
    def test_invalid_subscripts(self, subscripts):
        operands = [np.ones((2, 3))] * (2 if subscripts.startswith("ijk") else 1)
        if subscripts == "ij":
            operands = [np.ones(2)]
        with pytest.raises(ValueError, match=r"einsum|subscripts|operand"):
            np.einsum(subscripts, *operands)
        with pytest.raises(ValueError, match="einsum"):
            xo.einsum(subscripts, *map(strict, operands))

    def test_an_ellipsis_is_not_supported(self):
        with pytest.raises(xo.Unsupported, match=r"support an ellipsis\. Instead: name every axis"):
            xo.einsum("...i->...", xps.ones((2, 3)))


UFUNCS = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}


class TestUpdate:
    """xo.at, compared with ``ufunc.at`` and item assignment."""

    @pytest.mark.parametrize("op", UFUNCS)
    @given(data=st.data())
    @settings(max_examples=25, deadline=None)
    def test_duplicates_accumulate(self, op, data):
        index = np.asarray(data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=8)))
        value = data.draw(npst.arrays(np.float64, index.shape, elements=st.integers(-3, 3)))
        expected = np.arange(-2.0, 3.0)
        x = strict(expected)
        UFUNCS[op].at(expected, index, value)
        result = getattr(xo.at(x)[strict(index)], op)(strict(value), copy=True)
        np.testing.assert_array_equal(values(result), expected)
        np.testing.assert_array_equal(values(x), np.arange(-2.0, 3.0))

    @pytest.mark.parametrize("op", [*UFUNCS, "set"])
    @pytest.mark.parametrize(
        "index",
        [
            *((0, ...), (..., -1), (1, 2), (slice(None), slice(None, None, -2)), (slice(1), 2), ..., (1, ..., 0)),
            np.arange(6.0).reshape(2, 3) > 2,
            (np.asarray([1, 0, 1]), 2),
            (0, np.asarray([0, 2, 0])),
            (np.asarray([0, 1]), np.asarray([[1], [2]])),
            (1, np.asarray([], dtype=np.int64)),
        ],
        ids=str,
    )
    def test_every_kind_of_index_of_the_standard(self, op, index):
        x = np.arange(6.0).reshape(2, 3)
        expected = x.copy()
        if op == "set":
            expected[index] = 2.5
        else:
            UFUNCS[op].at(expected, index, 2.5)
        parts = index if isinstance(index, tuple) else (index,)
        ours = tuple(strict(part) if isinstance(part, np.ndarray) else part for part in parts)
        chosen = xo.at(strict(x))[ours if isinstance(index, tuple) else ours[0]]
        np.testing.assert_array_equal(values(getattr(chosen, op)(2.5)), expected)

    def test_set_with_duplicate_indices_sets_one_of_the_values(self):
        result = xo.at(xps.zeros(3))[strict([0, 2, 2])].set(strict([1.0, 2.0, 3.0]))
        assert values(result).tolist() in ([1, 0, 2], [1, 0, 3])

    def test_a_value_is_broadcast(self):
        expected = np.zeros((2, 3))
        expected[:, 1:] += [1.0, 2.0]
        result = xo.at(xps.zeros((2, 3)))[:, 1:].add(xps.asarray([1.0, 2.0]))
        np.testing.assert_array_equal(values(result), expected)

    def test_copy(self):
        x = xps.zeros(3)
        assert xo.at(x)[0].add(1.0, copy=None) is x
        assert xo.at(x)[0].set(5.0, copy=False) is x
        assert values(x).tolist() == [5, 0, 0]
        assert xo.at(x)[0].set(7.0) is not x
        assert values(x).tolist() == [5, 0, 0]

    @pytest.mark.parametrize("make", [np.asarray, strict], ids=["numpy", "strict"])
    def test_a_value_that_the_dtype_cannot_represent(self, make):
        """NumPy drops the fraction or the imaginary part, and some libraries raise; xo.at raises for all."""
        whole, real, flags = make([1, 2]), make([1.0, 2.0]), make([True, False])
        for x, value in [(whole, 2.5), (whole, real), (real, 1j), (real, make([1j])), (flags, 1)]:
            for op in ("set", "add"):
                with pytest.raises(xo.Unsupported, match=r"does not fit into an array of .* Instead: xo\.astype"):
                    getattr(xo.at(x)[0], op)(value)
        assert values(xo.at(real)[0].set(3)).tolist() == [3.0, 2.0]

    @pytest.mark.parametrize("make", [np.asarray, strict], ids=["numpy", "strict"])
    def test_an_invalid_index(self, make):
        for index in (1.0, [0.0], (make([0.0]),), [[0, 1.0]], 1j):
            with pytest.raises(xo.Unsupported, match="an index must hold integers or bools, not a"):
                xo.at(make([1.0, 2.0]))[index].set(1.0)

    def test_members_of_sequences_are_checked(self):
        x, foreign = np.zeros(3), xps.asarray(0)
        for index in ([foreign], ([0], [foreign]), [[0, foreign]]):
            with pytest.raises(xo.MixedBackends, match=r"xo\.at .* index\[\d\].*: array_api_strict "):
                xo.at(x)[index].set(1.0)
        for value in ([1.0, 2.0], (1.0, np.float64(2.0)), [[1.0, foreign]]):
            with pytest.raises(
                TypeError, match=r"the value must be an array or a Python number, not a .* xo\.asarray\(value"
            ):
                xo.at(x)[:2].set(value)
        with pytest.raises(xo.BackendNotFound, match=r"xo\.at: argument index is a set"):
            xo.at(x)[{0, 1}].set(1.0)
        assert xo.at(x)[[np.int64(0), 1]].set(np.asarray([1.0, 2.0])).tolist() == [1, 2, 0]

    def test_the_dtype_stays(self):
        x = xps.asarray([1, 2], dtype=xps.int8)
        assert xo.at(x)[0].add(1).dtype == xps.int8

    def test_zero_dimensions_and_empty_selections(self):
        assert float(xo.at(xps.asarray(2.0))[()].multiply(3.0)) == 6.0
        nothing = xps.asarray([], dtype=xps.int64)
        assert values(xo.at(xps.ones(2))[nothing].add(xps.asarray([], dtype=xps.float64))).tolist() == [1, 1]

    def test_read_only_numpy(self):
        x = np.zeros(2)
        x.flags.writeable = False
        with pytest.raises(xo.Unsupported, match=r"read-only\. Instead: copy=None"):
            xo.at(x)[0].set(1.0, copy=False)
        assert xo.at(x)[0].set(1.0).tolist() == [1, 0]
        assert x.tolist() == [0, 0]


SHAPES = st.lists(st.lists(st.integers(0, 3), max_size=4).map(tuple), max_size=4)


class TestBroadcastShapes:
    @given(SHAPES)
    @settings(deadline=None)
    def test_against_numpy(self, shapes):
        try:
            expected = np.broadcast_shapes(*shapes)
        except ValueError:
            with pytest.raises(ValueError, match="do not broadcast"):
                xo.broadcast_shapes(*shapes)
        else:
            assert xo.broadcast_shapes(*shapes) == expected

    def test_the_message_names_the_axis(self):
        with pytest.raises(ValueError, match=r"shapes \(2, 3\), \(4,\) do not broadcast: axis -1 is 3 and 4"):
            xo.broadcast_shapes((2, 3), (4,))

    def test_no_library_is_needed(self, run):
        code = "import sys, xarrayops as xo; print(xo.broadcast_shapes((2, 1), (3,)), 'numpy' in sys.modules)"
        assert run(code) == "(2, 3) False"


class TestStatistics:
    @pytest.mark.parametrize("correction", [2, 3])
    def test_nanvar_with_as_many_values_as_the_correction_is_nan(self, correction):
        x = strict([[1.0, 3.0, math.nan], [1.0, 3.0, 5.0]])
        found = values(xo.nanvar(x, axis=1, correction=correction))
        assert math.isnan(found[0])
        assert math.isnan(found[1]) == (correction == 3)

    @pytest.mark.parametrize("verb", ["segment_sum", "segment_max"])
    def test_elements_with_an_id_out_of_range_are_left_out(self, verb):
        x, ids = strict([1.0, 2.0, 4.0, 8.0, 16.0]), strict([0, -1, -2, 1, 2])
        np.testing.assert_array_equal(values(getattr(xo, verb)(x, ids, 2)), [1.0, 8.0])


class LazyArray:
    """An array of a made-up library."""

    def __init__(self, library, value, shape=(2, 3)):
        self.library, self.value, self.shape, self.ndim = library, value, shape, len(shape)

    def __array_namespace__(self, api_version=None):
        return self.library

    def __getitem__(self, index):
        return self


class GraphArray(LazyArray):
    """As in Dask and cubed."""

    kept = False

    def compute(self):
        return self.value

    def persist(self):
        found = type(self)(self.library, self.value)
        found.kept = True
        return found

    def __bool__(self):
        raise AssertionError("it computes")


class TracedArray(LazyArray):
    """As in ndonnx: bool raises for arrays without values."""

    def __bool__(self):
        if self.value is None:
            raise TypeError("no value")
        return bool(self.value)


def lazy_library(name, cls):
    library = ModuleType(name)
    vars(library).update({f: getattr(xps, f) for f in xps.__all__ if "." not in f})
    vars(library).update(empty=lambda shape: cls(library, None), any=lambda x: x)
    return library


class TestHooks:
    def test_defaults_of_hooks(self):
        x = xps.ones(2)
        assert xo.is_lazy(x) is False
        assert xo.compute(x) is x
        assert xo.compute(x, 1.0, np.ones(1))[:2] == (x, 1.0)
        assert xo.compute() == ()
        xo.synchronize(x, np.ones(2), 1.0)

    def test_arrays_without_values(self, registry_memory):
        """Libraries with task graphs have a method compute; of others, the array itself says whether it has values."""
        graphs, tracers = lazy_library("graphs", GraphArray), lazy_library("tracers", TracedArray)
        first, second = (GraphArray(graphs, value) for value in (1.0, 2.0))
        assert xo.is_lazy(first)
        assert xo.compute(first) == 1.0
        assert xo.compute(first, second, 3) == (1.0, 2.0, 3)
        assert xo.persist(first).value == 1.0
        assert xo.persist(first).kept
        graphs.compute = lambda *arrays: [x.value + 10 for x in arrays]
        with pytest.MonkeyPatch.context() as patched:
            patched.setitem(sys.modules, "graphs", graphs)
            assert xo.compute(first, second) == (11.0, 12.0)
        traced = TracedArray(tracers, None)
        assert xo.is_lazy(traced)
        assert xo.compute(traced) is xo.persist(traced) is traced
        assert not xo.is_lazy(TracedArray(tracers, True))
        assert xo.is_lazy(TracedArray(tracers, True, shape=(None, 2)))
        for shape in [(), (0, 3), (2, 3)]:
            assert not xo.is_lazy(xps.ones(shape))
            assert not xo.is_lazy(xps.ones(shape, dtype=xps.complex64, device=xps.Device("device1")))

    def test_devices(self):
        other = xps.Device("device1")
        x = xps.ones(2)
        assert xo.to_device(x, xo.device(x)) is x
        assert xo.device(xo.to_device(x, other)) == other
        assert xo.device(xo.to_device(x, str(other))) == other
        with pytest.raises(xo.Unsupported, match="array_api_strict has no device 'mars'"):
            xo.to_device(x, "mars")
        with pytest.raises(xo.Unsupported, match=r"numpy has no device 'cuda': it has cpu"):
            xo.to_device(np.ones(2), "cuda")

    def test_one_device_may_be_called_cpu(self):
        from types import SimpleNamespace

        info = SimpleNamespace(devices=lambda: ["the one"])
        xp = SimpleNamespace(__array_namespace_info__=lambda: info)
        assert devices.as_device(xp, "cpu") == "the one"
        assert devices.as_device(xp, "the one") == "the one"
        with pytest.raises(ValueError, match="it has the one"):
            devices.as_device(xp, "gpu")

    def test_memory(self):
        x = xps.reshape(xps.arange(6, dtype=xps.int16), (2, 3))
        memory = xo.backend(x).functions["memory"](x)
        host = x._array
        assert (memory.dtype, memory.shape, memory.strides) == ("int16", (2, 3), host.strides)
        assert (memory.pointer, memory.itemsize, memory.nbytes) == (host.ctypes.data, 2, 12)
        assert (memory.device, memory.index, memory.readonly, memory.immutable) == ("cpu", 0, False, False)

    def test_a_library_without_a_function(self, backend_module):
        """A library that lacks functions is accepted; a missing function raises when it is called."""
        from types import SimpleNamespace

        lacking = ModuleType("lacking")
        lacking.empty = xps.empty
        lacking.__array_namespace_info__ = lambda: SimpleNamespace(devices=list)
        backend = registry.generic_backend(lacking)
        with pytest.raises(xo.Unsupported, match=r"lacking has no cos\. Instead: .*xo\.convert"):
            backend.namespace.cos(xps.ones(1))


class OldArray:
    """An array whose namespace has no inspection API."""

    def __init__(self, xp):
        self.xp = xp

    def __array_namespace__(self, *, api_version=None):
        return self.xp


@pytest.mark.parametrize(("version", "words"), [("2022.12", r"follows version 2022\.12"), (None, "states no version")])
def test_a_namespace_that_is_too_old(version, words):
    from types import ModuleType

    xp = ModuleType("ancient.array")
    xp.empty = lambda shape: OldArray(xp)
    if version:
        xp.__array_api_version__ = version
    message = rf"ancient\.array {words} of the array API .*requires since version 2023\.12\. Instead: a newer ancient"
    for call in (lambda: xo.exp(OldArray(xp)), lambda: xo.add(OldArray(xp), 1)):
        with pytest.raises(xo.Unsupported, match=message):
            call()
