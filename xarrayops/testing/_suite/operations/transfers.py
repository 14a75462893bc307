"""`xo.strict`, `xo.profile`, `xo.on_host` and `xo.carried`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.table import exercises
from xarrayops.testing._suite.variant import Variant, depends_on

X = sample("float32")


class TransferSuite:
    """Limits and counts of transfers, waits and computations."""

    @depends_on("memory")
    @exercises("strict", "profile")
    def test_crossings(self, variant: Variant) -> None:
        """Arithmetic causes none. A truth value causes one wait or computation if the library reports them."""
        x = variant.array(X)
        with xo.strict(transfers=0, waits=0, computes=0):
            y = xo.multiply(xo.add(x, x), 2.0)
        check_array(variant, y, X * 4, dtype="float32")
        reports = variant.backend.own_hook("crossings") is not None
        with xo.profile(show=False) as crossings:
            truth = bool(xo.any(xo.greater(x, -1e30)))
        assert truth
        assert (crossings.transfers, crossings.waits + crossings.computes) == (0, int(reports))

    @exercises("on_host")
    @depends_on("memory")
    def test_on_host(self, variant: Variant) -> None:
        """The function gets NumPy's arrays, and its results are in the library of the arguments."""
        x = variant.array(X)
        with xo.profile(show=False) as crossings:
            found, total = xo.on_host(lambda x: (np.sort(x), float(np.sum(x))))(x)
        check_array(variant, found, np.sort(X), dtype="float32")
        assert total == float(np.sum(X))
        is_numpys = variant.backend.name == "numpy"
        assert crossings.transfers + crossings.computes == (0 if is_numpys else 1)

    @exercises("carried")
    @depends_on("memory")
    def test_carried(self, variant: Variant) -> None:
        """A thread without open blocks has the limits of the block in which the function was carried."""
        x = variant.array(X)
        with xo.strict(transfers=None, waits=0, computes=0) as crossings:
            task = xo.carried(lambda x: bool(xo.any(xo.greater(x, -1e30))))
        with ThreadPoolExecutor(1) as pool:
            if variant.backend.own_hook("crossings") is None:
                assert pool.submit(task, x).result()
            else:
                with pytest.raises(xo.CrossingError):
                    pool.submit(task, x).result()
                assert crossings.waits + crossings.computes == 1
