"""Functions that cubed lacks, refuses or gets wrong, on arrays in chunks that differ: each result is that of NumPy."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import ExchangeError, Unsupported

cubed = pytest.importorskip("cubed")
RNG = np.random.default_rng(0)
SPEC = cubed.Spec(allowed_mem="100MB")
A, B = RNG.standard_normal((2, 7, 5, 4))
C = A + 1j * B
INTEGERS = RNG.integers(0, 4, A.shape)
TALL = RNG.standard_normal((3, 6, 4))


def in_chunks(a, number=0):
    """A cubed array in chunks of (3, 2, 3) or (2, 5, 1) elements."""
    sizes = [(3, 2, 3), (2, 5, 1)][number % 2]
    return cubed.from_array(a, chunks=tuple(map(min, sizes, a.shape)), spec=SPEC)


def check(function, wanted, *arrays):
    found = function(*(in_chunks(a, i) for i, a in enumerate(arrays)))
    found = found if isinstance(found, tuple) else (found,)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for got, want in zip(xo.compute(*found) if len(found) > 1 else [xo.compute(found[0])], wanted, strict=True):
        assert got.dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["float64", "int8"])
def test_joining(axis, dtype):
    b = (9 * B).astype(dtype)
    check(lambda x, y: xo.stack([x, y, x], axis=axis), np.stack([A, b, A], axis=axis), A, b)
    check(lambda x, y: xo.concat([x, y, x], axis=axis), np.concatenate([A, b, A], axis=axis), A, b)
    check(lambda x: xo.concat([x[:0], x]), A, A)


@pytest.mark.parametrize(("shift", "axis"), [(1, 0), (-3, -1), (12, 1), (5, None), ((5, 1), (0, -1)), (2, (0, 1))])
def test_roll(shift, axis):
    check(lambda x: xo.roll(x, shift, axis=axis), np.roll(A, shift, axis=axis), A)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_differences_and_repeats(axis):
    check(lambda x: xo.diff(x, axis=axis, n=2), np.diff(A, axis=axis, n=2), A)
    joined = np.diff(A, axis=axis, prepend=B, append=B)
    check(lambda x, y: xo.diff(x, axis=axis, prepend=y, append=y), joined, A, B)
    counts = np.arange(A.shape[axis])
    for repeats in (0, 1, 3, counts):
        given = repeats if isinstance(repeats, int) else xo.asarray(repeats, like=in_chunks(A))
        check(lambda x, given=given: xo.repeat(x, given, axis=axis), np.repeat(A, repeats, axis=axis), A)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_elements_along_an_axis(axis):
    order = np.argsort(B, axis=axis)
    check(lambda x, i: xo.take_along_axis(x, i, axis=axis), np.take_along_axis(A, order, axis=axis), A, order)
    first = order.take([0], axis=axis)
    check(lambda x, i: xo.take_along_axis(x, i, axis=axis), np.take_along_axis(A, first, axis=axis), A, first)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cumulative_sums(axis):
    wanted = np.cumulative_sum(A, axis=axis, include_initial=True)
    check(lambda x: xo.cumulative_sum(x, axis=axis, include_initial=True), wanted, A)
    check(lambda x: xo.cumulative_prod(x, axis=axis), np.cumprod(A, axis=axis), A)


@pytest.mark.parametrize("axes", [0, ((-1,), (-1,)), ((1, -1), (1, -1)), ((2, 0), (2, 0))])
def test_tensordot(axes):
    b = B if axes else B[0, 0]
    check(lambda x, y: xo.tensordot(x, y, axes=axes), np.tensordot(A, b, axes=axes), A, b)


def test_vecdot_conjugates():
    check(xo.vecdot, (C.conj() * B).sum(-1), C, B)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "any", "argmax"])
def test_reductions(name):
    for axis in (None, 0, -1) if name == "argmax" else (None, 0, (0, -1), ()):
        for a in (A, INTEGERS):
            check(lambda x, axis=axis: getattr(xo, name)(x, axis=axis), getattr(np, name)(a, axis=axis), a)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "sort", "argsort"])
def test_order_of_complex_numbers(name):
    c = np.round(C)
    check(lambda x: getattr(xo, name)(x, axis=1), getattr(np, name)(c, axis=1), c)


def test_comparisons_of_complex_numbers():
    check(xo.maximum, np.maximum(C, C[::-1]), C, C[::-1])
    check(xo.less, np.less(C, B), C, B)


def test_real_numbers_have_parts():
    for name in ("conj", "real"):
        check(getattr(xo, name), A, A)


def test_bounds():
    check(lambda x, y: xo.clip(x, max=y), np.minimum(A, B), A, B)
    check(lambda x: xo.clip(x, -0.5, 0.5), np.clip(A, -0.5, 0.5), A)


def test_membership():
    tests = INTEGERS[:2, :2] * 2
    check(lambda x, y: xo.isin(x, y, invert=True), np.isin(INTEGERS, tests, invert=True), INTEGERS, tests)
    check(lambda x: xo.isin(x, 3), INTEGERS == 3, INTEGERS)


@pytest.mark.parametrize("arguments", [(7, -3, -2), (0, 1, 0.1), (2.5,), (5, 2)])
def test_ranges(arguments):
    wanted = np.arange(*arguments)
    np.testing.assert_allclose(xo.compute(xo.arange(*arguments, backend="cubed")), wanted, rtol=1e-15)


def test_a_range_with_a_negative_step_in_several_chunks():
    n = 17_000_000  # cubed chooses chunks of 128 MiB
    found = xo.arange(n, 0, -1, like=cubed.from_array(A, spec=cubed.Spec(allowed_mem="2GB")))
    assert found.npartitions == 2
    np.testing.assert_array_equal(xo.compute(found[n - 3 :]), [3, 2, 1])


def test_values_in_another_dtype():
    x = in_chunks(A.astype("float32"))
    assert xo.asarray(x, dtype="float64").dtype == np.float64


def test_nothing_is_spaced_evenly():
    assert xo.linspace(0, 1, 0, backend="cubed").shape == (0,)


EMPTY = {
    "matmul": lambda xp, a, b: xp.matmul(a[:, :0], b[:0]),
    "sum": lambda xp, a, b: xp.sum(a[:0], axis=0),
    "add": lambda xp, a, b: xp.add(a[:0], b[:1]),
    "sort": lambda xp, a, b: xp.sort(a[:0], axis=0),
    "argsort": lambda xp, a, b: xp.argsort(a[:, :0]),
    "all": lambda xp, a, b: xp.all(a[:0], axis=0),
    "max": lambda xp, a, b: xp.max(a[:0], axis=1),
    "diff": lambda xp, a, b: xp.diff(a, axis=0, prepend=b[:0]),
    "concat": lambda xp, a, b: xp.concat([b[:0], a]),
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_arrays(name):
    a, b = A[:4, :4, 0], B[:4, :4, 0]
    check(lambda x, y: EMPTY[name](xo, x, y), EMPTY[name](np, a, b), a, b)


@pytest.mark.parametrize("name", ["det", "inv", "eigvalsh", "slogdet", "cholesky", "trace", "diagonal", "matrix_norm"])
def test_matrices(name):
    square = np.swapaxes(TALL, 1, 2) @ TALL
    options = {"trace": {"axis1": 1, "axis2": 2}, "diagonal": {"axis1": 1, "axis2": 2}}.get(name, {})
    wanted = getattr(np if options else np.linalg, name)(square, **options)
    check(getattr(xo.linalg, name), tuple(wanted) if name == "slogdet" else wanted, square)


def test_factors_of_stacks():
    u, s, vh = xo.compute(*xo.linalg.svd(in_chunks(TALL), full_matrices=False))
    np.testing.assert_allclose(u * s[:, None] @ vh, TALL)
    q, r = xo.compute(*xo.linalg.qr(in_chunks(TALL), mode="complete"))
    assert q.shape == (3, 6, 6)
    np.testing.assert_allclose(q @ r, TALL, atol=1e-14)


def test_broadcast_axes_are_not_split_into_elements():
    x = xo.broadcast_to(in_chunks(A), (100, *A.shape))
    assert x.numblocks == (1, *in_chunks(A).numblocks)
    np.testing.assert_array_equal(xo.compute(x), np.broadcast_to(A, x.shape))


def test_draws_by_a_key_are_those_of_numpy():
    for draw in (lambda rng: rng.normal(size=(3, 4)), lambda rng: rng.beta(2.5, 0.7, size=300)):
        rng = xo.random.default_rng(xo.random.key(5, backend="cubed"))
        np.testing.assert_array_equal(xo.compute(draw(rng)), draw(xo.random.default_rng(5)))


def test_dtypes_that_cubed_does_not_compute_are_refused():
    half = xo.zeros(3, dtype="float16", backend="cubed")
    for use in (lambda: xo.add(half, half), lambda: xo.astype(in_chunks(A), "float16")):
        with pytest.raises(Unsupported, match=r"no arithmetic of float16\. Instead: float32"):
            use()
    with pytest.raises(ExchangeError, match="no arithmetic of float16"):
        xo.convert(A.astype("float16"), "cubed")


def test_nothing_is_inserted():
    v = A[0, 0]
    check(lambda x, y: xo.insert(x, [], y[:0]), v, v, v)


def test_the_variance_of_a_number():
    check(xo.var, np.var(A[0, 0, 0]), A[0, 0, 0])
