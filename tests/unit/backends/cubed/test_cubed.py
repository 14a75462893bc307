"""cubed: the Spec of results, bounds that are known before anything runs, and values in several chunks."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import Unsupported

cubed = pytest.importorskip("cubed")
RNG = np.random.default_rng(0)
SPEC = cubed.Spec(allowed_mem="50MB")
A, V = RNG.standard_normal((23, 17)), RNG.standard_normal(101)
INTEGERS = RNG.integers(0, 9, 101)


def chunked(a, spec=SPEC, parts=3):
    """A cubed array with that many chunks along each axis; the last one is shorter."""
    return cubed.from_array(a, chunks=tuple(-(-n // parts) for n in a.shape), spec=spec)


class CountTasks(cubed.runtime.types.Callback):
    def __init__(self):
        self.count = 0

    def on_task_end(self, event):
        self.count += 1


CREATED = {
    "arange": lambda x: xo.arange(5, like=x),
    "asarray": lambda x: xo.asarray(np.arange(3.0), like=x),
    "eye": lambda x: xo.eye(3, like=x),
    "full": lambda x: xo.full((3, 2), 1.5, like=x),
    "linspace": lambda x: xo.linspace(0, 1, 5, like=x),
    "random": lambda x: xo.random.default_rng(0, like=x).normal(size=(3, 4)),
    "zeros_like": xo.zeros_like,
}


@pytest.mark.parametrize("name", CREATED)
def test_creation_beside_an_array_keeps_its_spec(name):
    assert CREATED[name](chunked(A)).spec is SPEC


def test_every_array_is_lazy_and_compute_gives_its_values():
    x = chunked(A)
    assert xo.is_lazy(x)
    first, second = xo.compute(x, xo.sum(x, axis=0))
    np.testing.assert_array_equal(first, A)
    np.testing.assert_allclose(second, A.sum(0))
    assert type(first) is type(second) is np.ndarray


def test_arrays_are_converted_from_and_to_numpy():
    big = np.arange(300_000.0)  # more than the megabyte that cubed keeps in a plan
    for a in (A, big, np.float32(2.5) * np.ones(())):
        x = xo.convert(a, "cubed")
        a = a.copy()
        assert isinstance(x, cubed.Array)
        np.testing.assert_array_equal(xo.convert(x, "numpy"), a)


def test_persist_computes_once():
    x = xo.persist(xo.exp(chunked(V)))
    tasks = CountTasks()
    np.testing.assert_allclose(np.asarray(x.compute(callbacks=[tasks])), np.exp(V))
    assert x.spec is SPEC
    assert tasks.count == 0


@pytest.mark.parametrize("chunks", [1, 2, 3, 5, 6, 7, 13, 16, 101])
def test_sort_merges_any_number_of_chunks(chunks):
    v = V.copy()
    v[::9] = np.nan
    x = xo.sort(chunked(v, parts=chunks))
    np.testing.assert_array_equal(xo.compute(x), np.sort(v))
    assert x.chunks == chunked(v, parts=chunks).chunks


def test_a_task_of_a_sort_holds_two_chunks():
    n = 1 << 20  # 8 MB of 64 chunks; NumPy's sort of the whole would need more than allowed_mem
    x = cubed.random.random(n, chunks=n >> 6, spec=cubed.Spec(allowed_mem="2MB"))
    assert cubed.plan(xo.median(x)).max_projected_mem <= 2_000_000


@pytest.mark.parametrize("q", [0.0, 0.31, 0.5, 1.0])
def test_quantiles_are_exact(q):
    np.testing.assert_allclose(xo.compute(xo.quantile(chunked(V), q)), np.quantile(V, q), rtol=1e-15)
    np.testing.assert_allclose(xo.compute(xo.quantile(chunked(A), q, axis=0)), np.quantile(A, q, axis=0), rtol=1e-14)


def test_counts_are_exact():
    x, weights = chunked(INTEGERS), chunked(V)
    np.testing.assert_array_equal(xo.compute(xo.bincount(x)), np.bincount(INTEGERS))
    np.testing.assert_allclose(xo.compute(xo.bincount(x, weights)), np.bincount(INTEGERS, V))
    counts, edges = xo.histogram(weights, bins=7)
    np.testing.assert_array_equal(xo.compute(counts), np.histogram(V, 7)[0])
    np.testing.assert_allclose(xo.compute(edges), np.histogram(V, 7)[1])
    np.testing.assert_array_equal(
        xo.compute(xo.segment_max(weights, x, 9)), [V[i == INTEGERS].max(initial=-np.inf) for i in range(9)]
    )


@pytest.mark.parametrize("a", [INTEGERS, INTEGERS.astype("uint8"), INTEGERS > 4, np.array([np.nan, 2, np.nan, 1, 2])])
def test_distinct_values_of_chunks_are_merged(a):
    np.testing.assert_array_equal(xo.compute(xo.unique_values(chunked(a))), np.unique(a, equal_nan=False))


def test_more_distinct_values_than_memory_are_refused():
    x = cubed.random.random(10_000, chunks=2_000, spec=cubed.Spec(allowed_mem="300kB"))
    with pytest.raises(Unsupported, match=r"distinct values. Instead: a Spec with more allowed_mem"):
        xo.unique_values(x)


INDICES = {
    "slices": (slice(3, 9), slice(2, None)),
    "negative step": (slice(None, None, -2),),
    "integers": (20, -1),
    "array": ([1, 1, 20, -1],),
    "two arrays": ([1, 1, 20], [0, 0, -1]),
    "array and slice": (slice(2, 20), [16, 3, 3]),
}


@pytest.mark.parametrize("name", INDICES)
def test_updates_reach_the_elements_of_every_chunk(name):
    index = INDICES[name]
    for value in (2.0, RNG.standard_normal(A[index].shape)):
        wanted = A.copy()
        np.add.at(wanted, index, value)
        given = value if isinstance(value, float) else xo.convert(value, "cubed")
        given = given if isinstance(value, float) else xo.asarray(given, like=chunked(A))
        np.testing.assert_allclose(xo.compute(xo.at(chunked(A))[index].add(given)), wanted)


def test_one_value_is_set_at_slices_with_steps():
    wanted = A.copy()
    wanted[3:9, ::-2] = 1.5
    np.testing.assert_array_equal(xo.compute(xo.at(chunked(A))[3:9, ::-2].set(1.5)), wanted)


def test_updates_at_a_mask():
    x = chunked(A)
    np.testing.assert_array_equal(xo.compute(xo.at(x)[x > 0].set(0.5)), np.where(A > 0, 0.5, A))


def test_explain_quotes_the_bound_of_cubed_and_computes_nothing():
    tasks = CountTasks()
    with tasks:
        found = xo.explain("matmul", chunked(A), chunked(A.T.copy()))
        sizes = xo.explain("unique_values", chunked(INTEGERS))
    assert tasks.count == 0
    projected = cubed.plan(xo.matmul(chunked(A), chunked(A.T.copy()))).max_projected_mem
    assert f"cubed projects {cubed.utils.memory_repr(projected)} for a task, and allowed_mem is 50.0 MB" in str(found)
    assert "depends on values" in str(sizes)


def test_a_plan_beyond_the_allowed_memory_is_refused_before_it_runs():
    x = cubed.random.random((3000, 3000), chunks=(1500, 1500), spec=SPEC)
    found, tasks = xo.explain("add", x, x), CountTasks()
    assert found.chosen is None
    assert "allowed_mem is 50.0 MB. Instead: x.rechunk" in str(found)
    with tasks, pytest.raises(Unsupported, match=r"max_mem.*Instead: x.rechunk"):
        xo.compute(xo.argsort(x, axis=0))
    assert tasks.count == 0


def test_what_cubed_refuses_says_what_to_do():
    x = chunked(A)
    with pytest.raises(Unsupported, match=r"no sizes that depend on values. Instead"):
        xo.union1d(x, x)
    with pytest.raises(Unsupported, match=r"Instead: xo.compute"):
        xo.fft.fft(x)
    with pytest.raises(Unsupported, match=r"Instead: arrays created with like="):
        xo.add(x, chunked(A, cubed.Spec(allowed_mem="60MB")))


def test_tall_factorisations():
    tall = RNG.standard_normal((200, 6))
    q, r = xo.compute(*xo.linalg.qr(chunked(tall)))
    np.testing.assert_allclose(q @ r, tall)
    np.testing.assert_allclose(q.T @ q, np.eye(6), atol=1e-14)
    np.testing.assert_allclose(
        xo.compute(xo.linalg.svdvals(chunked(tall))), np.linalg.svd(tall, compute_uv=False), rtol=1e-13
    )


@pytest.mark.parametrize("shape", [(-1,), (17, 23), (1, 391), (391, 1, 1)])
def test_reshape_of_chunks_that_would_be_irregular(shape):
    np.testing.assert_array_equal(xo.compute(xo.reshape(chunked(A), shape)), A.reshape(shape))


def test_as_many_indices_as_elements_are_taken():
    whole = RNG.permutation(len(V))
    for order in (whole, whole[:-1], whole[:1], whole[:0], -whole[:7] - 1):
        np.testing.assert_array_equal(xo.compute(xo.take(chunked(V), xo.asarray(order, like=chunked(V)))), V[order])


def test_arrays_in_different_chunks_are_joined():
    x, y = chunked(A), chunked(A, parts=1)
    for arrays, wanted in (([y, x, y[:2, :]], [A, A, A[:2]]), ([x[:1, :], x, x], [A[:1], A, A])):
        np.testing.assert_array_equal(xo.compute(xo.concat(arrays)), np.concatenate(wanted))
