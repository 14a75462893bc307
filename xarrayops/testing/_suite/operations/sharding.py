"""`xo.shard`, `xo.sharding_of` and `xo.limits`."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.table import called, exercises
from xarrayops.testing._suite.variant import Variant

X = sample("float32")


class ShardingSuite:
    """How arrays are split, and limits of what calls on split arrays hold."""

    @exercises("shard", "sharding_of")
    def test_sharding(self, variant: Variant) -> None:
        """A whole array is one shard with the values of x; a split one has the spec, if the library splits arrays."""
        x = variant.array(X)
        whole = called(variant, "shard", xo.shard, x, None)
        check_array(variant, whole, X, dtype="float32")
        found = xo.sharding_of(xo.shard(x, None))
        assert found is not None
        assert (found.shape, found.shard_shape, found.pieces) == (X.shape, X.shape, 1)
        assert found.shard_bytes in (X.nbytes, None)
        if found.engine is None:
            with pytest.raises((xo.Unsupported, ValueError), match=r"Instead|devices"):
                xo.shard(x, ("rows",), mesh={"rows": 4096})
            return
        split = xo.shard(x, ("rows",), mesh={"rows": 2})
        check_array(variant, split, X, dtype="float32")
        parts = xo.sharding_of(split)
        assert parts is not None
        assert parts.pieces == 2
        assert parts.spec is not None
        again = xo.sharding_of(xo.shard(x, parts.spec, mesh=parts.mesh))
        assert again == parts

    @exercises("limits")
    def test_limits_of_calls(self, variant: Variant) -> None:
        """Within the limits, and for arrays that are not split, calls return what they return without limits."""
        x = variant.array(X)
        with xo.limits(moves="1 GB", holds="64 MiB"):
            check_array(variant, called(variant, "sort", xo.sort, x), np.sort(X), dtype="float32")
        with pytest.raises(ValueError, match="is not a number of bytes"):
            xo.limits(holds="much")
