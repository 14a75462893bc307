"""The gradient of a stack of 24 layers, with and without checkpoints: their memory and their time.

The expected result is the gradient by the chain rule, layer by layer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, Workload
from xarrayops.plugin import Array

_LAYERS, _FEATURES = 24, 128
_SIZES = {"toy": (3,), "default": (1024,), "large": (8192,)}


def layer(x: Array, first: Array, second: Array, /) -> Array:
    """A feed-forward block with four times as many hidden features."""
    return xo.add(x, xo.matmul(xo.square(xo.tanh(xo.matmul(x, first))), second))


def stacked(x: Array, first: Array, second: Array, /, step: Callable[..., Array] = layer) -> Array:
    """The gradient of the sum of squares after all layers."""

    def loss(x: Array) -> Array:
        for i in range(_LAYERS):
            x = step(x, first[i, ...], second[i, ...])
        return xo.sum(xo.square(x))

    found: Array = xo.grad(loss)(x)
    return found


def _inputs(random: Any, n: int) -> Arrays:
    x = random.standard_normal((n, _FEATURES))
    first = 0.02 * random.standard_normal((_LAYERS, _FEATURES, 4 * _FEATURES))
    return x, first, 0.02 * random.standard_normal((_LAYERS, 4 * _FEATURES, _FEATURES))


def by_the_chain_rule(x: Any, first: Any, second: Any) -> Any:
    """The gradient from the hidden features of each layer."""
    hidden = []
    for i in range(_LAYERS):
        hidden.append(np.tanh(x @ first[i]))
        x = x + hidden[i] ** 2 @ second[i]
    gradient = 2 * x
    for i in reversed(range(_LAYERS)):
        a = hidden[i]
        gradient = gradient + ((gradient @ second[i].T) * 2 * a * (1 - a * a)) @ first[i].T
    return gradient


WORKLOADS = tuple(
    Workload(
        name,
        function,
        inputs=_inputs,
        expected=by_the_chain_rule,
        sizes=_SIZES,
        timed=timed,
        operations=lambda n: 4.0 * _LAYERS * 2.0 * n * _FEATURES * 4 * _FEATURES,
        tolerance=lambda n: 256.0,
    )
    for name, function, timed in (
        ("gradient", stacked, "xo.grad of 24 layers"),
        ("gradient checkpointed", partial(stacked, step=xo.checkpoint(layer)), "xo.grad of 24 layers in xo.checkpoint"),
    )
)
