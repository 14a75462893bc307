"""verify says yes only where a library compared equal, as a user of the port calls it."""

import re
import time

import numpy as np
import pytest

import xarrayops as xo
import xarrayops.numpy as xnp
from xarrayops.testing import verify

X = np.linspace(-1.0, 2.0, 12).reshape(3, 4)


@pytest.mark.parametrize("library", ["torch", "jax", "dask"])
def test_arrays_of_numpy_without_like_are_found(library):
    """The port runs without xo.use, too, as its users call it."""
    pytest.importorskip(library)

    def port(x):
        return xo.concat([xnp.zeros((1, 4)), x])

    report = verify(port, X, libraries=[library], replay=False)
    failed = report.failures[0]
    assert failed.run.partition(":")[0] == library
    assert failed.what.startswith("without xo.use: MixedBackends: ")
    assert verify(lambda x: xo.concat([xnp.zeros((1, 4), like=x), x]), X, libraries=[library], replay=False).ok
    assert verify(lambda n: xnp.zeros(n) + 1, 3, libraries=[library], replay=False).ok  # it has no array to tell


def test_a_tensor_that_numpy_reads_is_found():
    pytest.importorskip("torch")
    weights = np.arange(4.0)
    report = verify(lambda x: x * weights, X, libraries=["torch:eager"], replay=False)
    assert report.outcomes[0].status == "different"
    assert re.match(r"torch.Tensor.__array__ at .* raises for a tensor on a GPU$", report.outcomes[0].what)
    converted = lambda x: xo.asarray(np.cumsum(xo.convert(x, "numpy"), axis=0), like=x)
    assert verify(converted, X, libraries=["torch:eager"], replay=False).ok


def test_what_numpy_refuses_is_a_failure():
    report = verify(lambda x: xo.log2(x, out=x), X, expected=np.log2, libraries=["numpy"], replay=False)
    assert report.outcomes[0].status == "raised"
    report = verify(lambda x: xo.ufunc("frexp"), X, expected=np.exp, libraries=["numpy"], replay=False)
    assert not report.ok


def test_no_yes_without_a_comparison():
    pytest.importorskip("jax")
    report = verify(lambda x: x + x, X.astype(np.longdouble), libraries=["jax:eager"])
    assert [each.status for each in report.outcomes] == ["unsupported"]
    assert not report.ok
    assert str(report).startswith("test_no_yes_without_a_comparison.<locals>.<lambda> was not compared on any library")
    with pytest.raises(AssertionError, match="was not compared"):
        report.raise_if_different()


class Fitted:
    """What ``fit`` of an estimator returns."""

    def __init__(self, x, mean):
        self.mean, self.owner, self.names = mean(x, axis=0), self, ["a", mean(x)]


def test_objects_are_compared_by_their_attributes():
    pytest.importorskip("torch")
    ways = ["numpy", "torch:eager"]
    assert verify(lambda x: Fitted(x, xo.mean), X, expected=lambda x: Fitted(x, np.mean), libraries=ways).ok
    wrong = verify(lambda x: Fitted(x, xo.max), X, expected=lambda x: Fitted(x, np.mean), libraries=ways, replay=False)
    assert [each.status for each in wrong.outcomes] == ["different", "different"]
    assert wrong.outcomes[0].what.startswith("result['mean']: ")


def test_time_limit_progress_and_output(capsys):
    pytest.importorskip("torch")
    seen = []

    def port(x):
        print("printed by the port")
        while not isinstance(x, np.ndarray):
            time.sleep(0.01)
        return x

    report = verify(port, X, libraries=["numpy", "torch:eager"], seconds=0.2, progress=seen.append)
    assert [(each.status, each.what) for each in report.outcomes] == [("same", ""), ("not run", "stopped after 0.2 s")]
    assert seen == ["numpy", "torch"]
    assert capsys.readouterr().out == ""
    with pytest.raises(TimeoutError, match="seconds="):
        verify(lambda: time.sleep(5), seconds=0.1)
