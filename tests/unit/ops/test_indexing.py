"""xo.at: one answer on every library, also under transforms, and errors of ours."""

import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.operations.index_fuzz import cases, fault, variant_of

LIBRARIES = ("numpy", "torch", "jax", "dask")


def array(library, values, **options):
    pytest.importorskip(library)
    return xo.asarray(values, backend=library, **options)


def host(x):
    return np.asarray(xo.compute(x))


def relaxed(x):
    """The number of sweeps until nothing changes: the loop reads the old array after the update."""
    old, sweeps = x + 1, 0
    while float(xo.max(xo.abs(x - old))) > 1e-3:
        old, sweeps = x, sweeps + 1
        x = xo.at(x)[1:-1].set(0.5 * (x[:-2] + x[2:]))
    return sweeps


@pytest.mark.parametrize("library", LIBRARIES)
def test_old_arrays_are_not_written(library):
    assert relaxed(array(library, [0.0, 0.0, 0.0, 1.0])) == 10
    x = array(library, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    elements = xo.at(x)[2:].get()
    xo.at(elements)[...].multiply(0.0, copy=None)
    xo.at(x)[0].add(5.0)
    assert host(x).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_elements_without_a_copy(library):
    x = array(library, [1.0, 2.0, 3.0])
    assert xo.shares_memory(x, xo.at(x)[1:].get(copy=None))
    assert xo.shares_memory(x, xo.at(x)[1:].get(copy=False))
    assert not xo.shares_memory(x, xo.at(x)[1:].get())
    with pytest.raises(xo.Unsupported, match=r"copies the elements\. Instead: copy=None"):
        xo.at(x)[[0, 1]].get(copy=False)


@pytest.mark.parametrize("library", ["jax", "dask"])
def test_no_views_of_immutable_arrays(library):
    with pytest.raises(xo.Unsupported, match="Instead: copy=None"):
        xo.at(array(library, [1.0, 2.0]))[0].get(copy=False)


CUBE, THREE = np.zeros((3, 3, 3)), np.arange(3)
MEANINGS = {
    "a 0-d integer, a slice and an array": (CUBE, (np.asarray(2), slice(None), THREE)),
    "an ellipsis that stands for no axis": (CUBE, (slice(None), THREE, ..., THREE)),
    "an empty slice with a negative step": (np.zeros(6), slice(-7, None, -1)),
    "another empty slice with a negative step": (np.zeros(6), slice(2, 5, -1)),
    "a negative stop": (np.zeros(6), slice(None, -3, 3)),
    "a 0-d mask": (np.asarray(1.0), np.asarray(True)),
    "a list in a tuple": (np.zeros((3, 4)), ([0, 1],)),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", MEANINGS)
def test_the_index_has_the_meaning_of_numpy(library, name):
    x, index = MEANINGS[name]
    value = np.arange(1.0, x[index].size + 1).reshape(x[index].shape)
    x_there, value_there = array(library, x.tolist()), array(library, value.tolist())
    there = tuple(
        array(library, part.tolist()) if isinstance(part, np.ndarray) else part
        for part in (index if isinstance(index, tuple) else (index,))
    )
    if library == "dask" and x.ndim == 1:
        x_there = x_there.rechunk(2)
    for op, combined in (("set", value), ("add", x[index] + value)):
        want = x.copy()
        want[index] = combined
        np.testing.assert_array_equal(host(getattr(xo.at(x_there)[there], op)(value_there)), want)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("shape", "mask"), [((2, 3), [True]), ((1,), [True] * 3), ((), [True])])
def test_masks_are_not_broadcast(library, shape, mask):
    with pytest.raises(IndexError, match=r"^xo\.at\(x\)\[index\]\.set: "):
        xo.at(array(library, np.zeros(shape).tolist()))[array(library, mask)].set(1.0)


@pytest.mark.parametrize("library", LIBRARIES)
def test_values_that_overlap_and_unknown_copies(library):
    y = array(library, [0.0, 1.0, 2.0, 3.0])
    assert host(xo.at(y)[1:].set(y[:-1])).tolist() == [0, 0, 1, 2]
    with pytest.raises(TypeError, match="copy must be True, False or None, not 'invalid'"):
        xo.at(y)[0].set(1.0, copy="invalid")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("op", ["subtract", "divide", "multiply", "min", "max"])
def test_duplicates_accumulate(library, op):
    x, value = [8.0, 16.0, 32.0], [2.0, 4.0, 1.0, 2.0]
    want = np.asarray(x)
    ufunc = {"min": "minimum", "max": "maximum"}.get(op, op)
    getattr(np, ufunc).at(want, [0, 2, 0, 2], value)
    got = getattr(xo.at(array(library, x))[[0, 2, 0, 2]], op)(array(library, value))
    assert host(got).tolist() == want.tolist()


def test_many_rows_accumulate():
    """By the indices of elements on NumPy: also of negative indices, of other memory orders and of one value."""
    rng = np.random.default_rng(3)
    for op, ufunc in (("add", np.add), ("multiply", np.multiply), ("min", np.minimum)):
        for dtype, kind in (("float32", "int8"), ("int16", "uint64"), ("complex64", "int64")):
            x = rng.integers(1, 4, (7, 3, 5)).astype(dtype)
            ids = rng.integers(0 if kind == "uint64" else -7, 7, 40).astype(kind)
            values = rng.integers(1, 3, (40, 3, 5)).astype(dtype)
            for target in (x, np.asfortranarray(x), x[::-1, :, ::2]):
                for value in (values[..., : target.shape[2]], values[0, :, : target.shape[2]], np.dtype(dtype).type(2)):
                    if np.iscomplexobj(x) and op == "min":
                        continue
                    want = np.array(target)
                    ufunc.at(want, ids, np.broadcast_to(value, (40, *target.shape[1:])))
                    np.testing.assert_array_equal(getattr(xo.at(target)[ids], op)(value, copy=True), want)
    for wrong in (7, -8, 2**62):
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 7"):
            xo.at(x)[np.full(40, wrong)].add(1)


@pytest.mark.parametrize("library", LIBRARIES)
def test_operations_that_a_dtype_does_not_have(library):
    whole, flags = array(library, [4, 6]), array(library, [True, False])
    with pytest.raises(xo.Unsupported, match=r"divide does not support arrays of .*int\d\d\. Instead: xo\.astype"):
        xo.at(whole)[0].divide(2)
    for op, instead in (("subtract", "logical_xor"), ("divide", "astype")):
        with pytest.raises(xo.Unsupported, match=f"{op} does not support arrays of .*bool.*{instead}"):
            getattr(xo.at(flags)[0], op)(True)
    with pytest.raises(xo.Unsupported, match=r"max does not support arrays of .*complex64.*order"):
        xo.at(array(library, [1j], dtype="complex64"))[0].max(1.0)


@pytest.mark.parametrize("library", LIBRARIES)
def test_errors_name_the_call(library):
    x = array(library, [[1.0, 2.0, 3.0]] * 2)
    for index in (5, (0, 0, 0), (..., ...), (slice(None), array(library, [True, False]))):
        for op in ("set", "add"):
            with pytest.raises(IndexError, match=rf"^xo\.at\(x\)\[index\]\.{op}: "):
                getattr(xo.at(x)[index], op)(1.0)
        with pytest.raises(IndexError, match=r"^xo\.at\(x\)\[index\]\.get: "):
            xo.at(x)[index].get()
    with pytest.raises(ValueError, match=r"set: a value of shape \(2,\) does not .* elements, \(2, 3\)"):
        xo.at(x)[:, :].set(array(library, [1.0, 2.0]))
    with pytest.raises(ValueError, match=r"the list .* in the index is not an array"):
        xo.at(x)[[[0, 1], [0]], :].set(1.0)
    for copy in ("invalid", 1, 0):
        with pytest.raises(TypeError, match="copy must be True, False or None, not"):
            xo.at(x)[0].set(1.0, copy=copy)
        with pytest.raises(TypeError, match="get: copy must be"):
            xo.at(x)[0].get(copy=copy)


def test_checks_are_not_skipped_after_a_call_that_passed():
    x = np.zeros(3, dtype=np.int8)
    xo.at(x)[0].set(1)
    xo.at(x)[0].set(np.ones(1, dtype=np.int8))
    with pytest.raises(OverflowError, match="does not fit"):
        xo.at(x)[0].set(300)
    with pytest.raises(xo.Unsupported, match="does not fit"):
        xo.at(x)[0].set(np.ones(1))
    with pytest.raises(xo.Unsupported, match="divide"):
        xo.at(x)[0].divide(1)
    torch = pytest.importorskip("torch")
    with pytest.raises(xo.MixedBackends, match=r"index\[0\]"):
        xo.at(x)[torch.zeros(1, dtype=torch.int64), ...].set(1)


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_error_is_not_its_own_cause(library):
    """A refusal is raised as it is. The error of a library is the cause of ours."""
    x = array(library, [1.0, 2.0])
    readonly = xo.broadcast_to(x, (2, 2))
    with pytest.raises(xo.Unsupported) as refused:
        xo.at(readonly)[0].set(1.0, copy=False)
    assert refused.value.__cause__ is None
    with pytest.raises(xo.Unsupported) as refused:
        xo.at(x)[[0]].get(copy=False)
    assert refused.value.__cause__ is None
    with pytest.raises(IndexError, match="out of bounds") as refused:
        xo.at(x)[5].set(1.0)
    assert isinstance(refused.value.__cause__, IndexError)
    assert refused.value.__cause__ is not refused.value


def test_an_error_that_is_not_about_the_index_is_not_replaced(monkeypatch):
    error = RuntimeError("no memory")

    def failing(*args, **kwargs):
        raise error

    monkeypatch.setitem(xo.backend("numpy").functions, "update", failing)
    with pytest.raises(RuntimeError) as raised:
        xo.at(np.ones(2))[0].set(1.0)
    assert raised.value is error
    assert error.__cause__ is None


def test_numpy_reads_no_memory_beyond_a_value():
    """``ufunc.at`` does for an array of indices with two axes and a value with one."""
    x, index, value = np.zeros(3), np.asarray([[0, 1], [2, 2]]), np.asarray([1.0, 2.0])
    assert xo.at(x)[index].add(value).tolist() == [1, 2, 3]
    assert xo.at(x)[(None, index)].add(value.reshape(1, 1, 1, 1, 2)).tolist() == [1, 2, 3]


@pytest.fixture
def compiled_torch():
    """PyTorch, where Dynamo traces xo.at."""
    torch = pytest.importorskip("torch", exc_type=ImportError)
    gap = xo.backend("torch").untraceable.get("at")
    if gap is not None:
        pytest.skip(str(gap))
    return torch


class TestTorch:
    def test_compiled(self, compiled_torch):
        torch = compiled_torch
        rows, mask = torch.tensor([1, 0, 1]), torch.tensor([[True, False, True], [False, True, False]])

        def updates(x, rows, mask):
            x = xo.at(x)[0, ::-1].set(torch.arange(3.0))
            x = xo.at(x)[rows, ..., 1].add(2.0, copy=None)
            x = xo.at(x)[1:, :].set(x[:-1, :], copy=None)
            x = xo.at(x)[mask].multiply(3.0)
            return xo.at(x)[[0, 1], None].get(), xo.at(x)[rows].max(4.0)

        x = torch.ones(2, 3)
        want = updates(x.clone(), rows, mask)
        got = torch.compile(updates, fullgraph=True, backend="eager")(x, rows, mask)
        assert all(map(torch.equal, got, want))
        assert torch.equal(x, torch.ones(2, 3))

    def test_compiled_with_numbers(self, compiled_torch):
        """The numbers are symbolic from the second call on, and integers become floats."""
        torch = compiled_torch
        torch.compiler.reset()
        set_both = torch.compile(lambda x, n: xo.at(xo.at(x)[0].set(n))[[1]].add(n), fullgraph=True, backend="eager")
        for dtype in (torch.float32, torch.int32):
            for number in (3, 4, 2**30 + 2**5 + 1):
                assert set_both(torch.zeros(3, dtype=dtype), number).tolist() == [
                    *torch.tensor([number] * 2, dtype=dtype).tolist(),
                    0,
                ]

    @pytest.mark.usefixtures("compiled_torch")
    def test_the_first_call_is_compiled(self):
        program = """
import torch, xarrayops as xo
for f in (lambda x: xo.at(x)[1:].add(x[:-1]), lambda x: xo.at(x)[[0, 0]].divide(2.0), lambda x: xo.at(x)[0].get()):
    torch.compiler.reset()
    assert torch.equal(torch.compile(f, fullgraph=True, backend="eager")(torch.ones(3)), f(torch.ones(3)))
"""
        subprocess.run([sys.executable, "-c", program], check=True)

    @pytest.mark.parametrize("op", ["multiply", "divide"])
    def test_products_of_complex_numbers(self, op):
        """Eager, compiled and under vmap, also with gradients; the product of each row has the order of the index."""
        torch = pytest.importorskip("torch", exc_type=ImportError)
        random = np.random.default_rng(3)
        x = random.normal(size=(4, 2)) + 1j * random.normal(size=(4, 2))
        value = random.normal(size=(9, 2)) + 1j * random.normal(size=(9, 2))
        rows = random.integers(0, 3, 9)
        want = x.copy()
        getattr(np, op).at(want, rows, value)
        x, value, rows = map(torch.asarray, (x, value, rows))

        def updated(x, value):
            return getattr(xo.at(x)[rows], op)(value)

        assert np.allclose(updated(x, value), want, rtol=1e-14)
        mapped = torch.func.vmap(updated)(x.expand(3, 4, 2), value.expand(3, 9, 2))
        assert np.allclose(mapped, want, rtol=1e-14)
        empty = getattr(xo.at(x)[rows[:0]], op)(value[:0])
        assert torch.equal(empty, x)
        assert torch.autograd.gradcheck(updated, (x.requires_grad_(), value.requires_grad_()))

    def test_vmap_over_the_index(self):
        torch = pytest.importorskip("torch", exc_type=ImportError)
        x, rows = torch.zeros(3), torch.tensor([0, 2])
        for options in ({}, {"copy": None}):
            got = torch.func.vmap(lambda i, options=options: xo.at(x)[i[None]].set(1.0, **options))(rows)
            assert got.tolist() == [[1, 0, 0], [0, 0, 1]]
        assert not x.any()

    @pytest.mark.parametrize("op", ["add", "subtract", "multiply", "divide", "set", "max"])
    @pytest.mark.parametrize("index", [slice(1, None), (slice(None, None, -1),), [2, 0], [1, 1]], ids=str)
    def test_gradients(self, op, index):
        torch = pytest.importorskip("torch", exc_type=ImportError)
        if op == "set" and index == [1, 1]:
            index = [1]
        x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
        value = torch.tensor([1.5], dtype=torch.float64, requires_grad=True)

        def updated(x, value, copy):
            return getattr(xo.at(x * 1)[index], op)(value, copy=copy)

        for copy in (True, None):
            assert torch.autograd.gradcheck(updated, (x, value, copy))


class TestJax:
    @pytest.mark.parametrize("op", ["add", "subtract", "multiply", "divide", "min", "max"])
    @pytest.mark.parametrize("index", [slice(1, None), [2, 0, 1], [1, 1, 0], [0, 0, 0]], ids=str)
    def test_gradients(self, op, index):
        jax = pytest.importorskip("jax", exc_type=ImportError)
        jnp = jax.numpy
        from jax.test_util import check_grads

        x = jnp.asarray([1.0, 2.0, 3.0])
        value = jnp.asarray([1.5, 0.5, 2.5][: 2 if isinstance(index, slice) else 3])

        def updated(x, value):
            return getattr(xo.at(x)[index], op)(value)

        check_grads(jax.jit(updated), (x, value), order=1, rtol=2e-2, atol=2e-2)

    def test_rows_have_gradients(self):
        jax = pytest.importorskip("jax", exc_type=ImportError)
        jnp = jax.numpy
        rows = jnp.asarray([0, 0, 1])
        gradient = jax.grad(lambda v: jnp.sum(xo.at(jnp.full((2, 2), 3.0))[:, rows].multiply(v)))(jnp.ones((2, 3)) * 2)
        assert gradient.tolist() == [[6, 6, 3], [6, 6, 3]]
        second = jax.jit(jax.grad(jax.grad(lambda v: xo.at(jnp.ones(2))[rows].multiply(v)[0])))
        assert float(second(3.0)) == 2

    def test_transforms(self):
        jax = pytest.importorskip("jax", exc_type=ImportError)
        jnp = jax.numpy
        x, mask = jnp.arange(6.0).reshape(2, 3), jnp.asarray([True, False, True])
        got = jax.jit(lambda x, m: xo.at(x)[1, m].add(10.0))(x, mask)
        assert got.tolist() == [[0, 1, 2], [13, 4, 15]]
        mapped = jax.vmap(lambda i: xo.at(x[0])[i].multiply(0.0))(jnp.asarray([[1, 1], [2, 0]]))
        assert mapped.tolist() == [[0, 0, 2], [0, 1, 0]]
        with pytest.raises(xo.Unsupported, match=r"number of elements that a mask selects is unknown.*Instead"):
            jax.jit(lambda x, m: xo.at(x)[:, m].get())(x, mask)
        with pytest.raises(xo.Unsupported, match="bounds of a slice must be integers"):
            jax.jit(lambda x, n: xo.at(x)[n:].set(0.0))(x, 1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_random_indices_at_length(library):
    """Thousands of expressions, fewer on JAX, which compiles each shape, and on Dask, which builds graphs."""
    module = pytest.importorskip(library)
    variant = variant_of(library, 0)
    with module.enable_x64(True) if library == "jax" else nullcontext(), np.errstate(all="ignore"):
        found = cases(0, {"jax": 60, "dask": 300}.get(library, 5_000), variant.dtypes)
        failures = [f"{case}: {wrong}" for case in found if (wrong := fault(variant, case, True))]
    assert not failures, "\n".join(failures[:10])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("op", ["set", "add", "multiply", "max"])
def test_values_that_do_not_fit_a_mask(library, op):
    vector, value = array(library, list(range(12)), dtype="float32"), array(library, [1, 2, 3, 4], dtype="float32")
    matrix = xo.reshape(vector, (3, 4))
    for x, mask, shape in ((vector, vector > 5, r"\(6,\)"), (matrix, matrix > 5, r"\(6,\)")):
        for copy in (True, None):
            match = rf"^xo\.at\(x\)\[index\]\.{op}: " + ("" if library == "dask" else rf".*\(4,\) .*{shape}")
            with pytest.raises(ValueError, match=match):  # Dask counts the elements when it computes
                xo.compute(getattr(xo.at(x)[mask], op)(value, copy=copy))
    rows = (array(library, [True, False, True]), array(library, [0, 1, 2]))
    with pytest.raises(IndexError, match=rf"^xo\.at\(x\)\[index\]\.{op}: "):
        xo.compute(getattr(xo.at(matrix)[rows], op)(1.0))


@pytest.mark.parametrize("library", LIBRARIES)
def test_none_is_no_value(library):
    for op in ("set", "add", "min"):
        with pytest.raises(TypeError, match=rf"^xo\.at\(x\)\[index\]\.{op}: the value must .*not None\. Instead: "):
            getattr(xo.at(array(library, [1.0]))[0], op)(None)
