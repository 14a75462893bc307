"""The order of random integers: NumPy's stable argsort is the oracle."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._host import compiled
from xarrayops._host.random.order import order_of_bits


@pytest.mark.parametrize("size", [0, 1, 2, 3, 100, 1000, 5000])
@pytest.mark.parametrize("package", ["random", None])
@pytest.mark.parametrize("distinct", [1, 2, 50, 2**63])
def test_equal_values_keep_their_order(size, distinct, package):
    """Values that differ in their last bits only, which their indices replace, and values that are equal."""
    loops = compiled.loops(package) if package else None
    if package and loops is None:
        pytest.skip("numba is not installed")
    random = np.random.default_rng((size, distinct % 97))
    for shift in (0, 3, 40) if distinct < 100 else (0,):
        bits = random.integers(-distinct, distinct, size) << shift
        bits += np.int64(1) << 62 if shift == 3 else 0
        before = bits.copy()
        np.testing.assert_array_equal(order_of_bits(bits, loops), np.argsort(bits, kind="stable"))
        np.testing.assert_array_equal(bits, before)


def test_permutations_of_torch_are_those_of_the_generic_function():
    torch = pytest.importorskip("torch")
    from xarrayops._generic.random import random_permutation

    backend = xo.backend("torch")
    for size in (0, 1, 7, 40_000, 70_000):
        found = backend.functions["random_permutation"]((3, 5), size, torch.device("cpu"))
        want = random_permutation(backend.namespace, (3, 5), size, torch.device("cpu"))
        assert found.dtype == want.dtype == torch.int64
        assert torch.equal(found, want)
