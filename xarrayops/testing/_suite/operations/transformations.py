"""Gradients, batches and checkpoints, against derivatives by hand in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import Unsupported
from xarrayops.plugin import gap_of
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.table import exercises
from xarrayops.testing._suite.variant import Variant, depends_on

X = sample("float32", (3, 4), low=-1, high=1)
CUBE = np.float32(3) * X * X


def cubes(x: Any) -> Any:
    """The sum of the third powers."""
    return xo.sum(xo.multiply(xo.square(x), x))


@depends_on("memory")
class TransformationSuite:
    """Functions that are differentiated, batched, and computed again."""

    @exercises("grad", "value_and_grad", "no_grad")
    def test_gradient(self, variant: Variant) -> None:
        """The gradient of a sum of cubes. A library without gradients raises."""
        x = variant.array(X)
        if refuses(variant, "value_and_grad", xo.grad(cubes), x):
            return
        check_array(variant, xo.grad(cubes)(x), CUBE, dtype="float32")
        value, gradient = xo.value_and_grad(cubes)(x)
        check_array(variant, value, (X.astype("float64") ** 3).sum().astype("float32"), dtype="float32")
        check_array(variant, gradient, CUBE, dtype="float32")
        second = xo.grad(lambda x: xo.sum(xo.grad(cubes)(x)))(x)
        check_array(variant, second, np.float32(6) * X, dtype="float32")

    @exercises("vmap")
    def test_batch(self, variant: Variant) -> None:
        """Each column is an item; the results are also columns."""
        x = variant.array(X)
        reverse = xo.vmap(lambda column: xo.multiply(xo.flip(column), 2.0), in_axes=1, out_axes=1)
        if not refuses(variant, "vmap", reverse, x):
            check_array(variant, reverse(x), X[::-1] * 2, dtype="float32")

    @exercises("checkpoint")
    def test_checkpoint(self, variant: Variant) -> None:
        """The results and the gradient are equal to the function's."""
        x = variant.array(X)
        function = xo.checkpoint(lambda x, factor: (xo.multiply(xo.square(x), factor), None))
        if refuses(variant, "checkpoint", lambda x: function(x, 2.0), x):
            return
        result, nothing = function(x, 2.0)
        assert nothing is None
        check_array(variant, result, X * X * 2, dtype="float32")
        if gap_of(variant.backend.functions["value_and_grad"]) is None:
            gradient = xo.grad(lambda x: xo.sum(function(x, 2.0)[0]))(x)
            check_array(variant, gradient, X * 4, dtype="float32")

    @exercises("no_grad")
    def test_no_grad(self, variant: Variant) -> None:
        """The results are the same as outside of the block."""
        with xo.no_grad():
            result = xo.square(variant.array(X))
        check_array(variant, result, X * X, dtype="float32")


def refuses(variant: Variant, hook: str, function: Callable[..., Any], x: Any) -> bool:
    """Whether the library lacks a hook; then the function must raise."""
    if gap_of(variant.backend.functions[hook]) is None:
        return False
    with pytest.raises(Unsupported):
        function(x)
    return True
