"""The plugin for packages: the variants, the marks, and planted faults that each variant finds."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from xarrayops.testing import assert_close, assert_equal, assert_less
from xarrayops.testing._library import variants

MODULE = """
import array_api_extra
import numpy as np
import pytest
from xarrayops.compat import array_namespace
from xarrayops.testing import assert_close, assert_equal


def standardise(x, ddof=0):
    xp = array_namespace(x)
    return (x - xp.mean(x)) / xp.std(x, correction=ddof)

def writes(x):
    x[0] = 7.0
    return x

def writes_by_extra(x):
    return array_api_extra.at(x)[0].set(7.0)

def scaled(x, factor, mode, *, weights):
    assert factor == 2 and mode == "up"
    return x * factor + weights

def branches(x):
    return x if bool(x[0] > 0) else -x

def to_numpy(x):
    return np.asarray(x) + 1

def private(x):
    return array_namespace(x).nansum(x)

def wide(x):
    xp = array_namespace(x)
    return xp.astype(x, xp.float64)

def test_good(xp, xp_call):
    x = xp.asarray([1.0, 3.0], dtype=xp.float32)
    assert_close(xp_call(standardise, x, ddof=0), xp.asarray([-1.0, 1.0], dtype=xp.float32))

@pytest.mark.xp_xfail(lacks="in-place", reason="writes to its argument")
def test_writes(xp, xp_call):
    assert_equal(xp_call(writes, xp.asarray([1.0])), xp.asarray([7.0]))

def test_writes_by_extra(xp, xp_call):
    assert_equal(xp_call(writes_by_extra, xp.asarray([1.0]) * 1), xp.asarray([7.0]))

def test_constants(xp, xp_call):
    x = xp.asarray([1.0])
    assert_equal(xp_call(scaled, x, 2, "up", weights=x), xp.asarray([3.0]))

@pytest.mark.xp_xfail(lacks=["values", "in-place"], reason="for the list")
def test_two_capabilities(xp):
    raise AssertionError

@pytest.mark.xp_xfail(lacks="values", reason="needs a value")
def test_branches(xp, xp_call):
    assert_equal(xp_call(branches, xp.asarray([1.0])), xp.asarray([1.0]))

@pytest.mark.xp_skip("jax", "dask", reason="for the marks")
def test_skipped(xp):
    assert xp.__name__ not in ("jax.numpy", "dask.array")

@pytest.mark.xp_xfail("numpy", "numpy-readonly", reason="passes nevertheless")
def test_strict(xp):
    pass

def test_to_numpy(xp, xp_call):
    assert_equal(xp_call(to_numpy, xp.asarray([1.0])), xp.asarray([2.0]))

def test_private(xp, xp_call):
    assert_close(xp_call(private, xp.asarray([1.0, 2.0])), 3.0)

def test_wide(xp, xp_call):
    x = xp.asarray([1.0], dtype=xp.float32)
    assert_equal(xp_call(wide, x), x)
"""
INSTALLED = [v for v in variants.VARIANTS if find_spec(variants.library(v)) and v != "cupy"]


def run(tmp_path, text, *arguments):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["xarrayops.testing.pytest_plugin"]\n')
    (tmp_path / "test_it.py").write_text(text)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-rA",
        "--tb=line",
        *arguments,
        "test_it.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    outcomes = {m[2]: m[1] for m in re.finditer(r"^(PASSED|FAILED|XFAIL) test_it.py::(\S+)", done.stdout, re.MULTILINE)}
    return done, outcomes


def of(outcomes, test, outcome):
    return {
        name.partition("[")[2][:-1]
        for name, found in outcomes.items()
        if name.startswith(f"{test}[") and found == outcome
    }


def test_each_variant_finds_its_kind_of_fault(tmp_path):
    _, outcomes = run(tmp_path, MODULE)
    everything = {*INSTALLED}
    assert of(outcomes, "test_good", "PASSED") == everything
    assert of(outcomes, "test_writes", "XFAIL") == everything & {"numpy-readonly", "jax", "jax-jit"}
    assert of(outcomes, "test_writes", "PASSED") == everything - {"numpy-readonly", "jax", "jax-jit"}
    assert of(outcomes, "test_writes_by_extra", "FAILED") == {"numpy-readonly"}
    assert of(outcomes, "test_constants", "PASSED") == everything
    lacking = {"numpy-readonly", "jax", "jax-jit", "dask-lazy"}
    assert of(outcomes, "test_two_capabilities", "XFAIL") == everything & lacking
    assert of(outcomes, "test_two_capabilities", "FAILED") == everything - lacking
    assert of(outcomes, "test_branches", "XFAIL") == everything & {"jax-jit", "dask-lazy"}
    assert of(outcomes, "test_skipped", "PASSED") == {v for v in everything if v[:3] not in ("jax", "das")}
    assert of(outcomes, "test_strict", "FAILED") == {"numpy", "numpy-readonly"}
    assert of(outcomes, "test_to_numpy", "FAILED") == everything - {"numpy", "numpy-readonly"}
    assert of(outcomes, "test_private", "FAILED") == everything & {"array_api_strict"}
    if "jax" in everything:
        assert "jax" in of(outcomes, "test_wide", "PASSED") | of(outcomes, "test_wide", "FAILED")
    assert of(outcomes, "test_wide", "FAILED") >= everything - {"jax", "jax-jit"}


def test_the_option_selects_variants(tmp_path):
    done, outcomes = run(tmp_path, MODULE, "--xp", "numpy-readonly,array_api_strict", "-k", "good")
    assert {*outcomes} == {"test_good[numpy-readonly]", "test_good[array_api_strict]"}
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("xp_skip('tensorflow', reason='x')", "no variant tensorflow"),
        ("xp_xfail(lacks='colour', reason='x')", "no capability 'colour'"),
        ("xp_skip('numpy')", "needs reason="),
    ],
)
def test_wrong_marks_are_errors(tmp_path, mark, message):
    done, _ = run(tmp_path, f"import pytest\n@pytest.mark.{mark}\ndef test_it(xp):\n    pass\n")
    assert done.returncode != 0
    assert message in done.stdout + done.stderr


def arrays(library, values, dtype="float32"):
    xp = variants.namespace(library)
    return xp.asarray(values, dtype=getattr(xp, dtype))


@pytest.fixture(params=[v for v in INSTALLED if "-" not in v])
def library(request):
    return request.param


def test_comparisons_pass(library):
    x = arrays(library, [1.0, float("nan")])
    assert_equal(x, x)
    assert_close(x, x)
    assert_close(arrays(library, [1.0001]), arrays(library, [1.0]))
    assert_less(arrays(library, [1.0]), arrays(library, [2.0]))
    assert_equal(arrays(library, 2.0), 2.0)
    assert_equal(arrays(library, [], "int32"), arrays(library, [], "int32"))
    assert_equal(arrays(library, [1]), arrays(library, [1], "int32"), check_dtype=False)


def test_comparisons_find_planted_faults(library):
    x = arrays(library, [1.0, 2.0])
    other = np.asarray([1.0, 2.0], np.float32) if library != "numpy" else [1.0, 2.0]
    faults = [
        *((other, x), (arrays(library, [1.0, 2.0], "float16" if library in ("torch", "jax") else "int32"), x)),
        *((arrays(library, [[1.0, 2.0]]), x), (arrays(library, [1.0]), x), (arrays(library, [1.0, 3.0]), x), (x, 1.0)),
        (arrays(library, [1.0, float("nan")]), x),
    ]
    for compare in (assert_equal, assert_close):
        for actual, desired in faults:
            with pytest.raises(AssertionError):
                compare(actual, desired)
    with pytest.raises(AssertionError):
        assert_less(x, x)
    with pytest.raises(AssertionError):
        assert_close(arrays(library, [1.01]), arrays(library, [1.0]))
    with pytest.raises(AssertionError):
        assert_close(arrays(library, [1], "int32"), arrays(library, [2], "int32"))


def test_the_device_is_compared():
    torch = pytest.importorskip("torch")
    with pytest.raises(AssertionError, match="is on meta, not on cpu"):
        assert_equal(torch.ones(2, device="meta"), torch.ones(2))


def test_a_scalar_of_numpy_is_not_an_array():
    with pytest.raises(AssertionError, match="is a float32, and the expected value a ndarray"):
        assert_equal(np.float32(1), np.asarray(1, np.float32))
