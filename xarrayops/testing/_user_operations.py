"""Operations of users: a definition without kernels, and a kernel for the library."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.testing._compare import check_array
from xarrayops.testing._samples import sample
from xarrayops.testing._table import exercises
from xarrayops.testing._variant import Variant

X = sample("float32")
_numbers = count()


def _definition(x: Any, *, factor: float = 2.0) -> Any:
    return xo.multiply(xo.subtract(x, xo.max(x)), factor)


class OperationSuite:
    """Operations of users on the arrays of the library."""

    @exercises("operation")
    def test_operation(self, variant: Variant) -> None:
        """The definition serves, and then a kernel of the library; traced, too."""
        operation = xo.operation(f"contract::shifted{next(_numbers)}")(_definition)
        expected = (X - X.max()) * np.float32(0.5)
        x = variant.array(X)
        check_array(variant, variant.run(operation, x, factor=0.5), expected, dtype="float32")
        name = variant.backend.name
        if not variant.backend.has_entry_point:
            return
        calls = []

        def kernel(x: Any, *, factor: float) -> Any:
            calls.append(factor)
            return _definition(x, factor=factor)

        operation.kernel(f"{name}:own", dtypes=("float32",))(kernel)
        check_array(variant, variant.run(operation, x, factor=0.5), expected, dtype="float32")
        assert set(calls) == {0.5}
