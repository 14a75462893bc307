"""What PyTorch/XLA compiles and transfers for ranges and random numbers."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo

torch = pytest.importorskip("torch", exc_type=ImportError)
torch_xla = pytest.importorskip("torch_xla", exc_type=ImportError)
metrics = pytest.importorskip("torch_xla.debug.metrics", exc_type=ImportError)

RANGES = [(7,), (3, 11), (2, 20, 3), (20, 2, -3), (2**40, 2**40 + 5), (-5, 5, 2)]
SEEDS = (0, 1, 2, 3, 2**32, 2**63)


def hlo(x):
    return torch_xla._XLAC._get_xla_tensors_hlo([x])


def compilations(call):
    """The number of programs that XLA compiles for a call, without those that it has already compiled."""
    torch_xla.sync()
    before = (metrics.metric_data("CompileTime") or [0])[0]
    result = call()
    torch_xla.sync()
    assert result is not None
    return (metrics.metric_data("CompileTime") or [0])[0] - before


@pytest.mark.parametrize("dtype", [None, "int32", "int64", "float32", "uint8"])
@pytest.mark.parametrize("limits", RANGES)
def test_ranges_have_the_values_of_numpy(limits, dtype):
    if dtype in ("int32", "uint8") and not 0 <= min(range(*limits)) <= max(range(*limits)) < 256:
        pytest.skip("the values do not fit")
    found = xo.arange(*limits, dtype=dtype, backend="torch_xla")
    want = np.arange(*limits, dtype=dtype or "int64")
    assert xo.backend(found).functions["dtype_name"](found.dtype) == want.dtype.name
    np.testing.assert_array_equal(xo.convert(found, "numpy"), want)


@pytest.mark.parametrize("limits", [(0,), (5, 5), (5, 2), (2, 5, -1)])
def test_empty_ranges(limits):
    assert xo.arange(*limits, backend="torch_xla").shape == (0,)


def test_a_range_is_computed_on_the_device():
    text = hlo(xo.arange(100_000, backend="torch_xla"))
    assert " iota(" in text
    assert not any(" constant({" in line for line in text.splitlines())


def test_other_limits_need_no_other_program():
    xo.synchronize(xo.arange(3, 503, backend="torch_xla"))
    assert compilations(lambda: xo.arange(1000, 3000, 4, backend="torch_xla")) == 0


@pytest.mark.parametrize("name", ["random", "normal", "exponential", "integers"])
def test_other_seeds_need_no_other_program(name):
    options = {"high": 1000} if name == "integers" else {"dtype": "float32"}
    args = (0,) if name == "integers" else ()

    def draw(seed):
        return getattr(xo.random.default_rng(seed, backend="torch_xla"), name)(*args, size=(50, 3), **options)

    xo.synchronize(draw(0))

    assert sum(compilations(lambda seed=seed: draw(seed)) for seed in SEEDS) == 0
    for seed in SEEDS:
        want = getattr(xo.random.default_rng(seed), name)(*args, size=(50, 3), **options)
        np.testing.assert_array_equal(xo.convert(draw(seed), "numpy"), want)


def test_words_of_a_key_that_are_constants_elsewhere():
    """0, 1 and -1 as Python numbers are constants of PyTorch/XLA's programs."""
    draw = xo.backend("torch_xla").functions["random_draw"]
    device = torch_xla.device()
    from xarrayops.plugin.random import Draw

    def made(key):
        return draw(Draw("bits", "int64"), key, (11,), device)

    assert [compilations(lambda key=key: made(key)) for key in ((5, 6), (0, 6), (5, 1), (1, 0))] == [1, 0, 0, 0]
