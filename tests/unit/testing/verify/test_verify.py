"""verify: arguments, results, random draws, errors, and the report."""

import re
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numpy.random import default_rng

import xarrayops as xo
from xarrayops.testing import verify

X = np.linspace(-1.0, 2.0, 12).reshape(3, 4)
GLOBAL = np.random.default_rng(8)


class Pair(NamedTuple):
    low: object
    high: object


def on_numpy(port, *args, **options):
    return verify(port, *args, libraries=["numpy"], **options)


def test_nested_results():
    def original(x):
        return {"a": [x, (x + 1, 2)], "b": Pair(x.min(), x.max()), "c": None, "d": "text"}

    def port(x):
        return {"d": "text", "a": [x, (x + 1, 2)], "b": Pair(xo.min(x), xo.max(x)), "c": None}

    assert on_numpy(port, X, expected=original).ok


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda x: (x, x), "nested"),
        (lambda x: {"a": x, "c": 1.0}, "nested"),
        (lambda x: {"a": x[:1], "b": 1.0}, r"result\['a'\]: shape \(1, 4\) where the reference has \(3, 4\)"),
        (lambda x: {"a": x.astype("float32"), "b": 1.0}, r"result\['a'\]: dtype float32 .* float64"),
        (lambda x: {"a": x * (1 + 1e-12), "b": 1.0}, r"result\['a'\]: .* at \[2, 3\]; \d+ of 12 elements differ"),
        (lambda x: {"a": x, "b": 1.5}, r"result\['b'\]: 1.5 where the reference has 1.0"),
        (lambda x: {"a": x, "b": None}, r"result\['b'\]: None where"),
        (lambda x: {"a": np.where(x > 1, np.nan, x), "b": 1.0}, "nan where the reference has"),
    ],
)
def test_what_differs(wrong, text):
    report = on_numpy(wrong, X, expected=lambda x: {"a": x, "b": 1.0})
    (outcome,) = report.outcomes
    assert outcome.status == "different"
    assert re.search(text, outcome.what), outcome.what
    with pytest.raises(AssertionError, match="differs from the reference on numpy"):
        report.raise_if_different()


def test_the_expected_result_may_be_a_value():
    assert on_numpy(lambda x: xo.sum(x, axis=0), X, expected=X.sum(axis=0)).ok
    assert not on_numpy(lambda x: xo.sum(x, axis=0), X, expected=X.sum(axis=0) + 1e-9).ok


def test_keywords_and_arguments_in_containers():
    def original(pair, *, scale):
        return pair["x"] * scale + pair["y"][0]

    arguments = {"x": X, "y": [X[0], 3]}
    report = verify(original, arguments, keywords={"scale": 2.0}, libraries=["numpy", "array_api_strict"])
    assert [each.status for each in report.outcomes] == ["same", "same"]


def test_arguments_are_copied_and_stay_one_array():
    def original(x, y):
        x += 1
        return y

    before = X.copy()
    assert on_numpy(original, X, X).ok
    assert np.array_equal(X, before)


@pytest.mark.parametrize(
    "port",
    [
        lambda x: xo.sum(x + 1),
        lambda x: xo.sum(x.__iadd__(2)) - 1.0 * x.size,
        lambda x: xo.sum(x.__iadd__(1.0 + 1e-9)),
    ],
)
def test_arguments_are_compared_after_the_call(port):
    def original(x):
        x += 1
        return x.sum()

    (outcome,) = on_numpy(port, X, expected=original).outcomes
    assert outcome.status == "different"
    assert "argument 0 after the call" in outcome.what or "result" in outcome.what


def test_an_argument_that_only_the_reference_writes():
    def original(x):
        x[0] = 5.0
        return x.sum()

    def port(x):
        y = xo.at(x)[0].set(5.0)
        return xo.sum(y)

    (outcome,) = on_numpy(port, X, expected=original).outcomes
    assert outcome.what.startswith("argument 0 after the call: ")


def draws_of_numpy():
    return np.random.default_rng(3).normal(2.0, 5.0, size=4)


def draws_of_a_name():
    return default_rng(3).uniform(-1, 1, size=4)


def draws_of_a_global():
    return GLOBAL.random(4) + GLOBAL.permutation(4)


def draws_of_the_module():
    np.random.seed(3)
    return np.random.standard_normal(4) + np.random.randint(0, 9, size=4)


@pytest.mark.parametrize("original", [draws_of_numpy, draws_of_a_name, draws_of_a_global, draws_of_the_module])
def test_draws_repeat_in_each_run(original):
    makers = np.random.default_rng, np.random.RandomState, np.random.rand, GLOBAL, default_rng
    assert on_numpy(original).ok
    assert (np.random.default_rng, np.random.RandomState, np.random.rand, GLOBAL, default_rng) == makers


def test_a_generator_among_the_arguments():
    def original(rng, n):
        return rng.normal(size=n) * rng.choice(5, size=n)

    assert on_numpy(original, np.random.default_rng(0), 6).ok
    assert on_numpy(original, np.random.RandomState(0), 6).ok


def test_scales_of_draws_may_be_applied_by_the_port():
    def port():
        return 5.0 * xo.random.default_rng(3).normal(size=4) + 2.0

    def wrong():
        return 25.0 * xo.random.default_rng(3).normal(size=4) + 2.0

    assert on_numpy(port, expected=draws_of_numpy).ok
    assert not on_numpy(wrong, expected=draws_of_numpy).ok


def test_more_draws_than_the_reference():
    def port():
        rng = xo.random.default_rng(3)
        return rng.normal(2.0, 5.0, size=4) + rng.normal(size=4)

    (outcome,) = on_numpy(port, expected=draws_of_numpy).outcomes
    assert (outcome.divergence.kind, outcome.divergence.why) == (
        "random stream",
        "this is draw 2, and the reference made 1",
    )


def test_an_error_of_the_reference_is_raised():
    with pytest.raises(ZeroDivisionError):
        on_numpy(lambda x: x, X, expected=lambda x: 1 / 0)


def test_an_error_of_the_port_is_at_its_line():
    def port(x):
        y = x + 1
        return y.reshape(5)  # here

    (outcome,) = on_numpy(port, X, expected=lambda x: x).outcomes
    assert (outcome.status, outcome.divergence.source) == ("raised", "return y.reshape(5)  # here")
    assert outcome.what.startswith("ValueError")


def test_the_first_line_is_before_the_line_that_raises():
    def original(x):
        m = x.mean(axis=0)
        return x - m

    def port(x):
        m = xo.mean(x, axis=1)
        return x - m

    (outcome,) = on_numpy(port, X, expected=original).outcomes
    assert (outcome.status, outcome.divergence.source) == ("raised", "m = xo.mean(x, axis=1)")
    assert outcome.divergence.kind == "axis or shape"


def test_helpers_are_replayed():
    (outcome,) = on_numpy(Port.main, X, expected=Original.main).outcomes
    assert (outcome.divergence.function, outcome.divergence.source) == ("helper", "return y * 1.01")


class Original:
    @staticmethod
    def helper(x):
        y = x + 1
        return y * 1.0

    @staticmethod
    def main(x):
        return Original.helper(x) / 2


class Port:
    @staticmethod
    def helper(x):
        y = x + 1
        return y * 1.01

    @staticmethod
    def main(x):
        return Port.helper(x) / 2


def test_values_on_a_threshold_may_differ():
    """The sums of both orders round differently, so a right port may choose otherwise."""

    def original(x):
        return (x.sum() > 0.6).astype(int) + np.floor(x.sum() * 10)

    def port(x):
        return (x[::-1].sum() > 0.6).astype(int) + np.floor(x[::-1].sum() * 10)

    x = np.asarray([0.3, 0.2, 0.1])
    assert original(x) != port(x)
    assert on_numpy(port, x, expected=original).ok


def test_exact_steps_have_no_spread():
    report = on_numpy(lambda x: np.nextafter(x.sum(), 9.0) * 1.0 + 2**-40, np.arange(4.0), expected=lambda x: x.sum())
    assert not report.ok


def test_without_a_replay():
    (outcome,) = on_numpy(lambda x: x + 1, X, expected=lambda x: x, replay=False).outcomes
    assert (outcome.status, outcome.divergence) == ("different", None)


def test_crossings_are_counted():
    pytest.importorskip("torch")
    report = verify(lambda x: float(x[0, 0]) + float(x.sum()), X, libraries=["torch:eager"])
    assert [(each.run, each.waits) for each in report.outcomes] == [("torch", 2)]
    assert " waits " in str(report)


def test_gaps_and_compilers_are_no_differences():
    torch = pytest.importorskip("torch")
    assert torch

    def port(x):
        return x[x > 0] if float(x.sum()) > 0 else x

    report = verify(port, X, libraries=["torch:eager", "torch:meta"])
    assert {each.run: each.status for each in report.outcomes} == {"torch": "same", "torch:meta": "not run"}
    assert report.ok


def test_a_compiler_that_is_the_first_to_call_a_function():
    """PyTorch's compiler traces again after a part that it cannot compile, and must then see the same calls."""
    pytest.importorskip("torch")
    program = """
import numpy as np, xarrayops.numpy as xnp
from xarrayops.testing import verify
def port(x):
    n = x.shape[0]
    deviation = xnp.std(x, axis=0)
    deviation = xnp.where(deviation <= 0.1, 1.0, deviation)
    x = (x - xnp.mean(x, axis=0)) / (xnp.sqrt(n) * deviation)
    return x.T @ x
report = verify(port, np.random.default_rng(0).random((40, 8)), libraries=["torch:compile"])
assert [each.status for each in report.outcomes] == ["same"], report
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_dtype_that_a_library_lacks_is_unsupported():
    pytest.importorskip("jax")
    report = verify(lambda x: x + x, X.astype(np.longdouble), libraries=["numpy", "jax:eager"])
    assert [each.status for each in report.outcomes] == ["same", "unsupported"]


def test_arguments_may_be_of_any_library():
    strict = xo.asarray(X, backend=pytest.importorskip("array_api_strict"))
    report = verify(lambda x: x + 1, strict, libraries=["numpy", "array_api_strict"])
    assert [(each.status, each.what) for each in report.outcomes] == [("same", ""), ("same", "")]


def test_results_of_another_library_are_named():
    pytest.importorskip("torch")
    report = verify(lambda x: (x + 1, np.ones(3)), X, libraries=["torch:eager"])
    assert [(each.status, each.what) for each in report.outcomes] == [("different", "result[1] is an array of numpy")]
    pytest.importorskip("dask.array")  # a library without devices: the result is only named
    report = verify(lambda x: (x + 1, np.ones(3)), X, libraries=["dask"])
    assert [(each.status, each.what) for each in report.outcomes] == [("same", "result[1] is an array of numpy")]


def test_results_that_cannot_be_compared_are_noted():
    def cancels(x):
        return (x + 1e16) - 1e16

    given = np.concatenate([np.ravel(X) + 0.3, np.full(999, 1e17)])
    (note,) = on_numpy(cancels, given).notes
    assert note.startswith(f"result: for {X.size} of {given.size} elements the comparison has little meaning")
    assert not on_numpy(lambda x: x * 0.1 + 1, X.astype("float16")).notes


def test_an_unknown_library():
    with pytest.raises(ValueError, match=r"cannot run on trch\..*numpy"):
        verify(np.sin, X, libraries=["trch"])
    with pytest.raises(ValueError, match=r"cannot run on numpy:jit\."):
        verify(np.sin, X, libraries=["numpy:jit"])


def test_a_function_without_source():
    assert on_numpy(np.sin, X).ok
    report = on_numpy(np.cos, X, expected=np.sin)
    assert not report.ok
    assert report.outcomes[0].divergence is None


def test_the_report_as_data():
    report = on_numpy(lambda x: x + 1, X, expected=lambda x: x)
    data = report.as_dict()
    assert (data["ok"], data["outcomes"][0]["run"]) == (False, "numpy")
    assert data["outcomes"][0]["divergence"]["kind"] == "bug"


def test_pytest_is_not_needed():
    program = """
import sys, numpy as np
from xarrayops.testing import verify
verify(np.sin, np.ones(3), libraries=["numpy"]).raise_if_different()
assert not {"pytest", "torch", "jax"} & set(sys.modules), "only what is needed is imported"
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_compilations():
    """A library compiles a function once for each shape; what is compiled already is not compiled again."""
    jax = pytest.importorskip("jax")

    def port(x):
        shapes = [x[:n] * 3.25 for n in (2, 3)]
        return xo.sum(shapes[0]) + xo.sum(shapes[1])

    jax.clear_caches()
    first, again = (verify(port, np.ones(7), libraries=["jax:eager"]).outcomes[0].compilations for _ in range(2))
    assert first >= 4, "two slices, products and sums of two shapes"
    assert again == 0
    (jitted,) = verify(port, np.ones(7), libraries=["jax:jit"]).outcomes
    assert jitted.compilations >= 1
    (eager,) = verify(port, np.ones(7), libraries=["numpy"]).outcomes
    assert eager.compilations == 0


def test_compilations_of_torch():
    pytest.importorskip("torch")

    def port(x):
        print(end="")  # a break between two graphs
        return x * 2 if float(x.sum()) > 0 else x

    (compiled,) = verify(port, np.ones(3), libraries=["torch:compile"]).outcomes
    (eager,) = verify(port, np.ones(3), libraries=["torch:eager"]).outcomes
    assert compiled.compilations == 2, compiled
    assert eager.compilations == 0


def test_a_library_that_raises_is_not_compiled_for():
    """A compiler may take a minute until it raises the same error."""
    pytest.importorskip("torch")
    ran = []

    def port(x):
        if not isinstance(x, np.ndarray):
            ran.append(x)
            raise TypeError("no")
        return x

    report = verify(port, np.ones(3), expected=lambda x: x, libraries=["numpy", "torch"], replay=False)
    found = {outcome.run: (outcome.status, outcome.what) for outcome in report.outcomes}
    assert found["torch"] == ("raised", "TypeError: no")
    compiled = {name: each for name, each in found.items() if name.startswith("torch:")}
    assert set(compiled) >= {"torch:compile", "torch:meta"}
    assert set(compiled.values()) == {("not run", "it raises on torch without a compiler")}
    assert len(ran) == 1
