"""Functions whose shapes depend on values raise our error under `jax.jit`, and say what to write instead."""

import pytest

import xarrayops as xo

jax = pytest.importorskip("jax")

CALLS = {
    **{
        name: (getattr(xo, name), "size=")
        for name in ("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values")
    },
    "nonzero": (xo.nonzero, "xo.where"),
    "repeat": (lambda x: xo.repeat(x, x), "total_repeat_length"),
    "compress": (lambda x: xo.compress(x > 1, x), "xo.where"),
    "delete": (lambda x: xo.delete(x, x), "xo.where"),
    "insert": (lambda x: xo.insert(x, x, 5), "xo.concat"),
    "intersect1d": (lambda x: xo.intersect1d(x, x, return_indices=True), "jax.numpy.intersect1d"),
    **{
        name: (lambda x, name=name: getattr(xo, name)(x, x), f"jax.numpy.{name}")
        for name in ("setdiff1d", "setxor1d", "union1d")
    },
    "bincount": (xo.bincount, "length="),
    **{
        f"segment_{name}": (lambda x, name=name: getattr(xo, f"segment_{name}")(x, x), "num_segments=")
        for name in ("max", "mean", "min", "sum")
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_tracers_are_refused(name):
    function, instead = CALLS[name]
    x = jax.numpy.asarray([2, 1, 2])
    for transform in (jax.jit, lambda f: jax.vmap(lambda each: f(x + each))):
        with pytest.raises(xo.Unsupported, match=rf"(?s)^xo\.{name}.*values, which are unknown.*Instead: .*{instead}"):
            transform(function)(x)
    function(x)


def test_known_values_beside_tracers():
    """Under jax.grad the values are known."""
    x, mask = jax.numpy.asarray([2.0, 1.0, 3.0]), jax.numpy.asarray([True, False, True])
    assert jax.grad(lambda x: xo.sum(xo.compress(mask, x) ** 2))(x).tolist() == [4.0, 0.0, 6.0]
    assert jax.grad(lambda x: xo.sum(xo.compress(x > 1, x) ** 2))(x).tolist() == [4.0, 0.0, 6.0]
    assert jax.jit(lambda x: xo.delete(x, 1))(x).tolist() == [2.0, 3.0]
    assert jax.jit(lambda x: xo.compress(mask, x))(x).tolist() == [2.0, 3.0]


def test_the_option_size_of_jax_is_passed_on():
    """array-api-extra gives it to the functions of the namespace."""
    xp = xo.backend("jax").namespace
    x = jax.numpy.asarray([2, 1, 2])
    assert jax.jit(lambda x: xp.unique_values(x, size=3, fill_value=9))(x).tolist() == [1, 2, 9]
    assert jax.jit(lambda x: xp.nonzero(x > 1, size=2)[0])(x).tolist() == [0, 2]


def test_a_known_number_of_repeats_is_traced():
    counts = jax.numpy.asarray([1, 2])
    found = jax.jit(lambda x: xo.repeat(x, counts, axis=0))(jax.numpy.asarray([5, 7]))
    assert found.tolist() == [5, 7, 7]
    assert jax.jit(lambda x: xo.repeat(x, 2))(jax.numpy.asarray([5, 7])).tolist() == [5, 5, 7, 7]
