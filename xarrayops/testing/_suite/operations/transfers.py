"""`xo.strict` and `xo.profile`."""

from __future__ import annotations

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
