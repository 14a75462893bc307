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
}


@pytest.mark.parametrize("name", CALLS)
def test_tracers_are_refused(name):
    function, instead = CALLS[name]
    x = jax.numpy.asarray([2, 1, 2])
    with pytest.raises(xo.Unsupported, match=rf"(?s)xo\.{name}: .*values, which are unknown.*Instead: .*{instead}"):
        jax.jit(function)(x)
    function(x)


def test_a_known_number_of_repeats_is_traced():
    counts = jax.numpy.asarray([1, 2])
    found = jax.jit(lambda x: xo.repeat(x, counts, axis=0))(jax.numpy.asarray([5, 7]))
    assert found.tolist() == [5, 7, 7]
    assert jax.jit(lambda x: xo.repeat(x, 2))(jax.numpy.asarray([5, 7])).tolist() == [5, 5, 7, 7]
