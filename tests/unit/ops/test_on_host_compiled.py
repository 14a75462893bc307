"""xo.on_host inside of torch.compile: a graph break, so that Dynamo traces neither SciPy nor the function."""

import numpy as np
import pytest

import xarrayops as xo

torch = pytest.importorskip("torch")
signal = pytest.importorskip("scipy.signal")
interpolate = pytest.importorskip("scipy.interpolate")
ndimage = pytest.importorskip("scipy.ndimage")
optimize = pytest.importorskip("scipy.optimize")
stats = pytest.importorskip("scipy.stats")

X = np.random.default_rng(0).normal(size=300)
B, A = signal.butter(3, 0.2)
POSITIONS = np.linspace(0.0, 1.0, 300)
MADE_OUTSIDE = xo.on_host(signal.filtfilt)


def nearest(_):
    """The parameters that minimise a function of SciPy's, which calls the function again."""
    return lambda x: optimize.minimize(lambda p: ((p - x[:2]) ** 2).sum(), np.zeros(2)).x


CALLS = {
    "filtfilt": lambda on, x: on(signal.filtfilt)(B, A, x),
    "filtfilt of an array in the graph": lambda on, x: on(signal.filtfilt)(B, A, x * 2),
    "made outside": lambda on, x: (MADE_OUTSIDE if on is xo.on_host else signal.filtfilt)(B, A, x),
    "lfilter": lambda on, x: on(signal.lfilter)(B, A, x + 1, axis=-1),
    "medfilt": lambda on, x: on(signal.medfilt)(x + 1, kernel_size=5),
    "interpolation": lambda on, x: on(lambda v: interpolate.interp1d(POSITIONS, v)(POSITIONS / 2))(x * 3),
    "griddata": lambda on, x: on(interpolate.griddata)(x[:20, None] * 1, x[:20], x[:5, None]),
    "rank_filter": lambda on, x: on(ndimage.rank_filter)(x, 1, 3),
    "a field of a result": lambda on, x: on(stats.ttest_1samp)(x * 2, 0.0).statistic,
    "minimize": lambda on, x: on(nearest(x))(x * 1),
    "several calls": lambda on, x: sum(on(np.sort)(x * k) for k in (1, 2, 3)),
}
WANTED = {name: call(lambda function: function, X) * 2 + 1 for name, call in CALLS.items()}


@pytest.fixture(autouse=True)
def _nothing_compiled():
    torch._dynamo.reset()


@pytest.mark.parametrize("name", CALLS)
def test_compiled_functions_give_the_results_of_scipy(name):
    def function(x):
        return CALLS[name](xo.on_host, x) * 2 + 1

    x = torch.asarray(X)
    compiled = torch.compile(function, backend="aot_eager")
    for _ in range(2):
        found = compiled(x)
        assert found.shape == WANTED[name].shape
        assert np.allclose(found.numpy(), WANTED[name], rtol=1e-12, atol=1e-12)
        assert torch.equal(found, function(x))


def test_arrays_of_numpy_are_not_traced():
    compiled = torch.compile(lambda x: xo.on_host(signal.filtfilt)(B, A, X).shape + x.shape, backend="eager")
    assert compiled(torch.ones(2)) == (300, 2)


def test_a_call_of_the_same_shape_does_not_compile_again():
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(lambda x: xo.on_host(np.sort)(x * 2) * 2, backend="eager")
    assert compiled(torch.asarray([2.0, 1.0])).tolist() == [4, 8]
    graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    assert compiled(torch.asarray([3.0, 5.0])).tolist() == [12, 20]
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == graphs == 2


def test_errors_say_that_the_call_is_a_graph_break():
    def function(x):
        return xo.on_host(np.sort)(x * 2)

    advice = r"xo\.on_host calls a function of NumPy's arrays, .* Instead: torch\.compile without fullgraph=True"
    with pytest.raises(torch._dynamo.exc.Unsupported, match=advice):
        torch.compile(function, fullgraph=True, backend="eager")(torch.ones(2))
    with pytest.raises(xo.Unsupported, match=rf"xo\.jit\(function\): torch cannot compile it .*{advice}"):
        xo.jit(function)(torch.ones(2))


def test_profile_and_strict_see_the_call_of_a_compiled_function():
    compiled = torch.compile(lambda x: xo.on_host(np.sort)(x * 2), backend="eager")
    with xo.profile(show=False) as counted:
        compiled(torch.ones(2))
    assert [each.what for each in counted.crossings] == ["xo.on_host(sort)"]
    with pytest.raises(xo.CrossingError, match=r"xo\.on_host\(sort\)"), xo.strict(transfers=0):
        compiled(torch.ones(2))


def test_a_gradient_is_not_lost():
    compiled = torch.compile(xo.on_host(np.sort), backend="eager")
    with pytest.raises(xo.ExchangeError, match="detach"):
        compiled(torch.ones(2, requires_grad=True))
