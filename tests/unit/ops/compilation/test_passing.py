"""NumPy arrays of a function that JAX compiles: passed as they are where JAX keeps their values, and never aliased."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._host.views import aligned
from xarrayops._ops.compilation import compilers
from xarrayops.errors import ExchangeError

jax = pytest.importorskip("jax")


def numbers(dtype=np.float32, n=600):
    """Numbers in memory that XLA could alias."""
    x = aligned((n,), np.dtype(dtype))
    x[:] = np.arange(n)
    return x


@pytest.fixture
def converted(monkeypatch):
    """The arrays that the core converts by a plan."""
    found = []
    convert = compilers.convert
    monkeypatch.setattr(
        compilers, "convert", lambda x, *args, **options: found.append(x) or convert(x, *args, **options)
    )
    return found


def same(x):
    return x, x[:3]


@pytest.mark.parametrize("misplaced", [0, 1])
def test_results_own_their_memory(misplaced, converted):
    x, f = numbers()[misplaced:], xo.jit(same, engine="jax")
    for _ in range(4):
        results = f(x)
    assert not converted
    for result in results:
        assert isinstance(result, np.ndarray)
        assert result.flags.writeable
        assert not np.may_share_memory(result, x)
        np.testing.assert_array_equal(result, x[: len(result)])
    x[:] = -1
    assert (f(x)[0] == -1).all(), "a later call reads the new values"


def test_a_number_is_a_scalar_of_numpy():
    f = xo.jit(lambda x: xo.sum(x), engine="jax")
    assert [type(f(numbers())) for _ in range(4)] == [np.float32] * 4


@pytest.mark.parametrize(
    "x", [numbers()[::2], numbers()[::-1], numbers().astype(">f4"), numbers().reshape(20, 30).T], ids=str
)
def test_other_arrays_give_the_same_numbers(x):
    f = xo.jit(lambda x: x + 1, engine="jax")
    for _ in range(4):
        result = f(x)
    np.testing.assert_array_equal(result, x + 1)


def test_numbers_are_never_narrowed(converted):
    with jax.enable_x64(True):
        f = xo.jit(lambda x: x / 3, engine="jax")
        for _ in range(3):
            assert f(numbers(np.float64)).dtype == np.float64
        assert not converted
    with jax.enable_x64(False), pytest.raises((ExchangeError, xo.Unsupported), match="x64"):
        xo.jit(lambda x: x / 3, engine="jax")(numbers(np.float64))


def test_a_guard_of_transfers_and_a_default_device():
    f = xo.jit(lambda x: x + 1, engine="jax")
    expected = [f(numbers()) for _ in range(4)]
    with jax.transfer_guard("disallow"):
        np.testing.assert_array_equal(f(numbers()), expected[-1])
    with jax.default_device(jax.devices("cpu")[0]):
        np.testing.assert_array_equal(f(numbers()), expected[-1])
