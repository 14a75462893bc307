"""The distributions of the numbers, their accuracy, and the independence of streams."""

import itertools

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._generic.random import arithmetic
from xarrayops._host.random import draws
from xarrayops.plugin import beta, distributions
from xarrayops.plugin.random import Draw

stats = pytest.importorskip("scipy.stats")
special = pytest.importorskip("scipy.special")
LEAST = 1e-4
"""The least p-value. The numbers are always the same, so a test that passes stays."""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_continuous_distributions(dtype):
    rng = xo.random.default_rng(11, dtype=dtype)
    n = 50_000
    for x, distribution in (
        (rng.random(n), stats.uniform()),
        (rng.normal(size=n), stats.norm()),
        (rng.normal(-3.0, 0.25, size=n), stats.norm(-3.0, 0.25)),
        (rng.exponential(size=n), stats.expon()),
        (rng.exponential(5.0, size=n), stats.expon(scale=5.0)),
    ):
        assert x.dtype == dtype
        assert stats.kstest(x.astype(np.float64), distribution.cdf).pvalue > LEAST
    x = rng.random(n)
    assert x.min() >= 0
    assert x.max() < 1


BETA = [(1.0, 1.0), (0.5, 0.5), (0.07, 0.3), (0.3, 7.0), (2.0, 5.0), (1.0, 4.0), (1e4, 2e4), (1e7, 1e7)]


@pytest.mark.parametrize(("a", "b"), BETA)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_beta_numbers(a, b, dtype):
    n = 50_000
    x = xo.random.default_rng(16, dtype=dtype).beta(a, b, n)
    assert x.dtype == dtype
    # Rounding makes several numbers of float32 equal, near 1 and for large shapes: the test is for the others.
    at_1 = np.count_nonzero(x == 1)
    distribution, known = stats.beta(a, b), x[x < 1].astype(np.float64)
    assert at_1 <= 1.2 * n * distribution.sf(1 - 2.0 * np.finfo(dtype).eps) + 30
    most = distribution.cdf(known.max())
    assert stats.kstest(known, lambda x: distribution.cdf(x) / most).pvalue > LEAST
    assert np.all((x >= 0) & (x <= 1))


def test_beta_numbers_of_arrays_and_sizes():
    """The parameters broadcast; the first numbers of a long draw are those of a short one."""
    a = np.asarray([[0.5], [2.0]])
    draw = lambda *args, **kwargs: xo.random.default_rng(17).beta(*args, **kwargs)
    assert draw(a, np.ones(3)).shape == (2, 3)
    assert draw(a, 2.0, size=(5, 2, 3)).shape == (5, 2, 3)
    assert draw(1, 2).shape == ()
    assert draw(1, 2, size=(2, 0)).shape == (2, 0)
    np.testing.assert_array_equal(draw(0.3, 2, 9)[:4], draw(0.3, 2, 4))
    np.testing.assert_array_equal(draw(0.3 * np.ones(9), 2), draw(0.3, 2, 9))
    bad = np.asarray([-1.0, 0.0, np.nan, np.inf])
    assert np.isnan(draw(bad, 2.0)).all()
    assert np.isnan(draw(2.0, bad)).all()
    assert np.isnan(draw(np.asarray(1e-310), 2.0))
    tiny = draw(np.full(2000, 2e-306), 2e-306)  # all are 0 or 1
    assert np.all((tiny >= 0) & (tiny <= 1))


def test_sizes_that_parameters_do_not_fit():
    """Broadcasting afterwards would repeat numbers."""
    rng = xo.random.default_rng(19)
    for draw in (
        lambda: rng.normal(np.zeros(3), 1.0, size=(1,)),
        lambda: rng.normal(np.zeros((2, 1)), size=3),
        lambda: rng.exponential(np.ones((2, 3)), size=(3,)),
        lambda: rng.beta(np.ones(3), 2.0, size=(1,)),
    ):
        with pytest.raises(ValueError, match="do not broadcast to"):
            draw()
    assert rng.normal(np.zeros(3), np.ones((2, 1)), size=(4, 2, 3)).shape == (4, 2, 3)


def test_the_steps_of_beta_numbers_are_exact():
    for dtype in ("float64", "float32"):
        a, form, unit = arithmetic(np), distributions.FORMATS[dtype], np.finfo(dtype).eps
        x = np.concatenate([np.linspace(0.0, 86.0, 5000), [0.0, 1e-9]]).astype(dtype)
        np.testing.assert_allclose(beta._exp_minus(a, dtype, x), np.exp(-x.astype(np.longdouble)), rtol=2 * unit)
        assert beta._exp_minus(a, dtype, np.asarray([1e4, np.inf], dtype)).tolist() == [0, 0]
        w = np.geomspace(1e-9, 1 - 1e-6, 2000)
        w = np.concatenate([w, -w, [1.5, 3.4]]).astype(dtype)
        np.testing.assert_allclose(beta._log1p(a, form, w), np.log1p(w.astype(np.longdouble)), rtol=6 * unit)


def test_rare_proposals_of_beta_numbers():
    """Proposals that are refused, up to the last one, which is taken; both ways to compute them agree."""
    shape = (400, 2, beta.PROPOSALS)
    rng = np.random.default_rng(18)
    normals, exponentials = rng.normal(size=shape), rng.exponential(size=shape)
    shapes = np.broadcast_to(rng.uniform(0.01, 4.0, (400, 2, 1)), shape)
    normals[:, :, :-1][rng.random((400, 2, beta.PROPOSALS - 1)) < 0.8] = -9.0  # 1 + w is negative
    normals[:20] = -9.0
    numbers = (shapes, normals, exponentials)
    found = beta.beta(arithmetic(np), "float64", *numbers)
    np.testing.assert_array_equal(draws.beta_numbers("float64", *numbers), found)
    assert np.all((found >= 0) & (found <= 1))
    accepted = np.full_like(normals, np.nan)  # each gamma number from the definition
    d = np.where(shapes < 1, shapes + 2 / 3, shapes - 1 / 3)
    t = 1 + normals / np.sqrt(9 * d)
    with np.errstate(invalid="ignore", divide="ignore"):
        is_accepted = (t > 0) & (-exponentials < normals**2 / 2 + d - d * t**3 + d * np.log(t**3))
    accepted = np.where(is_accepted.any(-1), np.argmax(is_accepted, -1), beta.PROPOSALS - 1)
    t = np.take_along_axis(np.where(t > 0, t, 1), accepted[..., None], -1)[..., 0]
    factors = np.where(shapes < 1, np.exp(-exponentials / shapes), 1.0)[..., -1]
    x, y = np.moveaxis(d[..., 0] * t**3 * factors, -1, 0)
    np.testing.assert_allclose(found, x / (x + y), rtol=1e-9)


def uniform_p_value(x, kinds):
    counts = np.bincount(x, minlength=kinds)
    assert counts.size == kinds
    return stats.chisquare(counts).pvalue


def test_integers():
    rng = xo.random.default_rng(12)
    assert uniform_p_value(rng.integers(-3, 7, 50_000) + 3, 10) > LEAST
    assert uniform_p_value(rng.integers(1, 6, 50_000, endpoint=True) - 1, 6) > LEAST
    for low, high, dtype in ((0, 2**64, "uint64"), (-(2**63), 2**63, "int64"), (0, 3 * 2**61, "uint64")):
        x = rng.integers(low, high, 50_000, dtype=dtype)
        assert x.dtype == dtype
        parts = ((x.astype(np.longdouble) - low) * 64 / (high - low)).astype(np.int64)
        assert uniform_p_value(parts, 64) > LEAST
    for low in (-(2**63), 2**63 - 1):
        assert set(rng.integers(low, low + 1, 5).tolist()) == {low}
    assert set(rng.integers(2**64 - 2, 2**64, 64, dtype="uint64").tolist()) == {2**64 - 2, 2**64 - 1}


def test_multiply_shift_is_exact():
    bits = np.asarray([0, 1, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 0x123456789ABCDEF0], dtype=np.uint64)
    for width in (1, 2, 3, 10**9, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64):
        found = distributions.multiply_shift(bits.view(np.int64), width).view(np.uint64)
        assert found.tolist() == [(int(each) * width) >> 64 for each in bits]


def test_orders_and_samples():
    rng = xo.random.default_rng(13)
    orders = {order: i for i, order in enumerate(itertools.permutations(range(4)))}
    assert uniform_p_value([orders[tuple(rng.permutation(4).tolist())] for _ in range(2400)], 24) > LEAST
    assert uniform_p_value([orders[tuple(rng.shuffled(np.arange(4)).tolist())] for _ in range(2400)], 24) > LEAST
    assert uniform_p_value(rng.choice(7, 20_000), 7) > LEAST
    pairs = [tuple(rng.choice(4, 2, replace=False).tolist()) for _ in range(2400)]
    assert uniform_p_value([[*itertools.permutations(range(4), 2)].index(pair) for pair in pairs], 12) > LEAST
    p = np.asarray([0.1, 0.0, 0.6, 0.3])
    for weights in (p.tolist(), p, (10 * p).tolist()):
        counts = np.bincount(rng.choice(4, 20_000, p=weights), minlength=4)
        assert counts[1] == 0
        assert stats.chisquare(counts[p > 0], 20_000 * p[p > 0]).pvalue > LEAST
    first = [rng.choice(4, 3, replace=False, p=p)[0] for _ in range(2000)]
    assert stats.chisquare(np.bincount(first, minlength=4)[p > 0], 2000 * p[p > 0]).pvalue > LEAST
    assert sorted(rng.permutation(100_000).tolist()) == list(range(100_000))


@pytest.mark.parametrize(("dtype", "kind", "tolerance"), [("float64", "int64", 2e-15), ("float32", "int32", 6e-7)])
def test_normal_numbers_are_exact_to_the_tails(dtype, kind, tolerance):
    """For bits near both ends, the middle and the limits of the three formulas, compared with SciPy's inverse."""
    form = distributions.FORMATS[dtype]
    half = 1 << (form.normal - 1)
    near = np.asarray(
        [*range(200), *(2**k for k in range(8, form.normal - 1)), *(int(0.85 * half) + k for k in range(9))]
    )
    magnitude = np.unique(np.concatenate([near, half - 1 - near[near < half]]))
    signed = np.concatenate([magnitude, -1 - magnitude])
    bits = (signed << (form.bits - form.normal)).astype(kind)
    found = distributions.from_bits(arithmetic(np), Draw("normal", dtype), bits).astype(np.float64)
    upper = (half - 1 - magnitude + 0.5) / (2.0 * half)
    want = -special.ndtri(upper)
    np.testing.assert_allclose(found, np.concatenate([want, -want]), rtol=tolerance)
    assert found.max() > (8.2 if dtype == "float64" else 6.3)


def test_exponential_numbers_are_exact_to_the_tails():
    k = np.asarray([*range(100), *(2**53 - 1 - j for j in range(100))], dtype=np.int64)
    found = distributions.from_bits(arithmetic(np), Draw("exponential", "float64"), k << 11)
    u = (k + 1).astype(np.longdouble) / 2**53
    np.testing.assert_allclose(found, -np.log(u).astype(np.float64), rtol=5e-16)
    assert found.min() == 0
    assert not np.signbit(found).any()


def test_streams_of_spawned_generators_are_uncorrelated():
    """Also with the numbers of their parent, of neighbouring seeds and of later calls, at several lags."""
    parent = xo.random.default_rng(14)
    n = 20_000
    rngs = [*parent.spawn(12), *parent.spawn(1)[0].spawn(4), parent, *map(xo.random.default_rng, range(15, 19))]
    streams = np.stack([each.normal(size=n) for rng in rngs for each in (rng, rng)])
    limit = 5.5 / np.sqrt(n)
    for lag in (0, 1, 2):
        products = streams[:, lag:] @ streams[:, : n - lag].T / n
        np.fill_diagonal(products, products.diagonal() - (lag == 0))
        assert np.abs(products).max() < (limit if lag else 2 * limit)
    bits = np.stack([rng.bits(n) for rng in rngs])
    for a, b in itertools.combinations(range(len(rngs)), 2):
        equal = 64 * n - int(np.bitwise_count(bits[a] ^ bits[b]).sum())
        assert abs(equal - 32 * n) < 5.5 * np.sqrt(16 * n)


def test_samples_of_several_axes():
    a = np.arange(24).reshape(2, 3, 4)
    rng = xo.random.default_rng(15)
    assert rng.choice(a, (5, 2), axis=-1).shape == (2, 3, 5, 2)
    assert rng.choice(a, axis=1).shape == (2, 4)
    order = rng.permutation(a, axis=2)
    assert sorted(map(tuple, np.moveaxis(order, 2, 0).reshape(4, -1))) == sorted(
        map(tuple, np.moveaxis(a, 2, 0).reshape(4, -1))
    )
    assert rng.choice(0, 0).shape == (0,)
    assert rng.permutation(0).shape == (0,)
    assert rng.shuffled(a[:0]).shape == (0, 3, 4)
    scale = np.asarray([[1.0], [100.0]])
    x = rng.normal(np.asarray([0.0, 1000.0]), scale, size=(5000, 2, 2))
    np.testing.assert_allclose(x.mean(axis=0), [[0, 1000], [0, 1000]], atol=8)
    np.testing.assert_allclose(x.std(axis=0), [[1, 1], [100, 100]], rtol=0.05)
    assert rng.normal(np.zeros(3), scale).shape == (2, 3)


@pytest.mark.parametrize("name", sorted(n for n in dir(np.random.Generator) if not n.startswith("_")))
def test_every_method_of_numpy_is_there_or_answered(name):
    rng = xo.random.default_rng(0)
    if name in dir(rng):
        assert callable(getattr(rng, name))
        return
    with pytest.raises(AttributeError, match=rf"xo\.random's generators have no {name}: \S"):
        getattr(rng, name)


def test_unknown_attributes_of_generators():
    rng = xo.random.default_rng(0)
    assert not hasattr(rng, "no_such_name")
    with pytest.raises(AttributeError, match=r"low \+ \(high - low\) \* rng.random"):
        rng.uniform(0, 1)


def test_parameters_of_distributions_are_numbers_or_arrays():
    rng = xo.random.default_rng(0)
    named = r"^xo\.random\.Generator"
    with pytest.raises(TypeError, match=named + r"\.normal: loc is \(2,\), .*number or an array.*size=\(2,\)"):
        rng.normal((2,))
    with pytest.raises(TypeError, match=named + r"\.exponential: scale is \[1, 2\], .*xo\.asarray\(\[1, 2\]"):
        rng.exponential([1, 2])
    with pytest.raises(TypeError, match=named + r"\.normal: scale is None, but it must be a number or an array"):
        rng.normal(np.zeros(2), None)
