"""Arrays instead of numbers in full, full_like, linspace, arange and fftfreq: one answer on every library.

The oracle is NumPy's own function, with the elements of NumPy's array, which are scalars.
"""

import numpy as np
import pytest

import xarrayops as xo

FLOATS = np.asarray([1.1, 3.0, -np.inf, np.nan, -0.0])
INTEGERS = np.asarray([3, 7, -(2**40)])
CALLS = {
    "full": lambda xp, v, i: xp.full((2, 3), v[0]),
    "full of a number that no narrower dtype holds": lambda xp, v, i: xp.full(2, xp.exp(v[0]) * 1e300),
    "full of an infinity": lambda xp, v, i: xp.full((2,), v[2]),
    "full of NaN": lambda xp, v, i: xp.full((), v[3]),
    "full of a negative zero": lambda xp, v, i: 1 / xp.full((1,), v[4]),
    "full of integers": lambda xp, v, i: xp.full((4, 0), i[2]),
    "full of an integer": lambda xp, v, i: xp.full(2, i[2]),
    "full with a dtype": lambda xp, v, i: xp.full((2,), v[0], dtype=xp.int32),
    "full of rows": lambda xp, v, i: xp.full((2, 5), v),
    "full_like": lambda xp, v, i: xp.full_like(v, v[0]),
    "full_like of integers": lambda xp, v, i: xp.full_like(i, v[1]),
    "full_like of rows": lambda xp, v, i: xp.full_like(i, i),
    "linspace": lambda xp, v, i: xp.linspace(v[0], v[1], 5),
    "linspace from a number": lambda xp, v, i: xp.linspace(0, v[1], 4),
    "linspace without its end": lambda xp, v, i: xp.linspace(v[1] - 2, v[1], 4, endpoint=False),
    "linspace of one number": lambda xp, v, i: xp.linspace(v[0], v[1], 1),
    "linspace of no number": lambda xp, v, i: xp.linspace(v[0], v[1], 0),
    "linspace of integers": lambda xp, v, i: xp.linspace(-v[1], 2 * v[0], 5, dtype=xp.int64),
    "linspace between one number": lambda xp, v, i: xp.linspace(v[0], v[0], 3),
    "fftfreq": lambda xp, v, i: xp.fft.fftfreq(5, d=v[1] - v[0]),
    "rfftfreq": lambda xp, v, i: xp.fft.rfftfreq(4, d=v[1]),
}
COUNTED = {
    "arange of an integer": lambda xp, v, i: xp.arange(i[1]),
    "arange between": lambda xp, v, i: xp.arange(i[0], i[1], 2),
    "arange of fractions": lambda xp, v, i: xp.arange(v[0], 5),
    "arange of large integers": lambda xp, v, i: xp.arange(i[2], i[2] + 3),
}


def agree(library, name, call):
    want = np.asarray(call(np, FLOATS, INTEGERS))
    got = library.host(call(xo, library.array(FLOATS), library.array(INTEGERS)))
    assert got.dtype == want.dtype, name
    np.testing.assert_allclose(got, want, rtol=1e-15, err_msg=name)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_the_answer_is_that_of_numpy(library):
    for name, call in CALLS.items():
        agree(library, name, call)


def test_a_length_needs_known_values(library):
    for name, call in COUNTED.items():
        if library.name != "dask":
            agree(library, name, call)
            continue
        with pytest.raises(xo.Unsupported, match=r"^xo\.arange: the length .* Instead: (int|float)\(start\)"):
            agree(library, name, call)


def test_integers_become_the_default_dtype(library):
    v = library.array(INTEGERS)
    default = library.host(xo.zeros(0, like=v)).dtype
    for got in (xo.linspace(v[0], v[1], 3), xo.linspace(v[0], v[1], 3, like=v), xo.fft.fftfreq(3, d=v[0])):
        assert library.host(got).dtype == default
    assert library.host(xo.linspace(v[0], v[1], 3)).tolist() == [3, 5, 7]


def test_like_gives_the_floating_dtype(library):
    v, i = library.array(FLOATS), library.array(np.asarray([3, 7], dtype="int32"))
    x = xo.astype(v, "float32")
    found = (xo.full(2, v[0], like=x), xo.linspace(v[0], v[1], 3, like=x), xo.linspace(i[0], i[1], 3, like=x))
    assert {str(library.host(each).dtype) for each in found} == {"float32"}
    assert library.host(xo.full(2, i[0], like=x)).dtype == "int32"
    z = library.array(np.asarray([1j]))
    assert library.host(xo.full(1, z[0], like=x)).dtype in ("complex64", "complex128")


def test_arrays_of_other_shapes(library):
    v = library.array(FLOATS)
    for call in (lambda: xo.linspace(v, 3, 2), lambda: xo.linspace(0, v, 2, like=v), lambda: xo.fft.fftfreq(3, d=v)):
        with pytest.raises(ValueError, match=r"must be a number or a 0-d array, not an array of shape \(5,\)"):
            call()
    with pytest.raises(ValueError, match=r"must be a number or a 0-d array|^xo\.arange"):
        xo.arange(v)
    with pytest.raises(ValueError, match=r"fill_value of shape \(5,\) does not broadcast to the shape \(2,\)"):
        xo.full((2,), v)


def test_arrays_of_another_library():
    torch = pytest.importorskip("torch")
    one, x = torch.ones(()), np.ones(2)
    calls = {
        "full": (lambda **options: xo.full(2, one, **options)),
        "linspace": (lambda **options: xo.linspace(0, one, 3, **options)),
        "arange": (lambda **options: xo.arange(one, **options)),
    }
    for verb, call in calls.items():
        with pytest.raises(xo.MixedBackends, match=rf"^xo\.{verb} was given arrays of several"):
            call(like=x)
        with pytest.raises(xo.MixedBackends, match=rf'^xo\.{verb}\(.*-> xo\.convert\(\w+, "numpy"\)'):
            call(backend="numpy")
        assert xo.backend(call()).name == xo.backend(call(backend="torch")).name == "torch"
    with pytest.raises(xo.Unsupported, match="masked"):
        xo.full(2, np.ma.ones(()), like=x)


def test_gradients_and_compiled_functions():
    jax = pytest.importorskip("jax")

    def f(x):
        return xo.sum(xo.full((3,), x[0], like=x) * xo.linspace(x[0], x[1], 3, like=x))

    x = jax.numpy.asarray([1.0, 3.0])
    assert jax.jit(f)(x) == 6
    assert jax.grad(f)(x).tolist() == [7.5, 1.5]
    with pytest.raises(xo.Unsupported, match="outside of compiled functions"):
        jax.jit(lambda x: xo.arange(x[1]))(x)
    torch = pytest.importorskip("torch")
    t = torch.asarray([1.0, 3.0], requires_grad=True)
    f(t).backward()
    assert t.grad.tolist() == [7.5, 1.5]
    assert torch.compile(f, fullgraph=True, backend="eager")(t) == 6


def test_dask_computes_nothing():
    dask = pytest.importorskip("dask")

    def refuse(*args, **kwargs):
        raise AssertionError

    v = xo.asarray([1.0, 3.0], backend="dask")
    with dask.config.set(scheduler=refuse):
        for found in (xo.full((2,), v[0]), xo.full_like(v, v[0]), xo.linspace(v[0], v[1], 3)):
            assert found.dtype == "float64"
