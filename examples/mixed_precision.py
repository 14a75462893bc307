"""Train a classifier of handwritten digits in mixed precision, with one loop for PyTorch and JAX.

    python examples/mixed_precision.py [torch] [jax]

A network of two layers is trained in float32, bfloat16 and float16. Inside ``xo.autocast`` its products are in the half
type, and exponentials and sums are in float32; the weights stay in float32. In float16 small gradients would become
zero. So the loss is scaled by ``xo.loss_scale``: the scale begins far too high, the steps whose gradients overflow are
left out, and each of them halves the scale.

Only the gradient and its compilation are the library's own. All else is written once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workloads.pipeline import load_digits

Parameters = dict[str, Any]
Loss = Callable[..., Any]
STEPS, RATE, HIDDEN, TRAINED = 100, 1.0, 64, 1400
DTYPES = (None, "bfloat16", "float16")


def loss(parameters: Parameters, images: Any, targets: Any, state: xo.LossScale, dtype: str | None) -> Any:
    """The scaled cross-entropy of the scores."""
    with xo.autocast(dtype):
        scores = predict(parameters, images)
        of_targets = xo.sum(xo.multiply(scores, targets), axis=1)
        return state.scale(xo.mean(xo.subtract(xo.logsumexp(scores, axis=1), of_targets)))


def predict(parameters: Parameters, images: Any) -> Any:
    """The scores of each image: its products are in the dtype of the block around the call."""
    hidden = xo.add(xo.matmul(images, parameters["w1"]), parameters["b1"])
    return xo.add(xo.matmul(xo.maximum(hidden, 0.0), parameters["w2"]), parameters["b2"])


def step(gradient: Loss, dtype: str | None, parameters: Parameters, state: Any, images: Any, targets: Any) -> Any:
    """One step of gradient descent, left out if a gradient is not finite; and the scale for the next one."""
    gradients, finite = state.unscale(gradient(parameters, images, targets, state, dtype))
    trained = {name: xo.subtract(x, xo.multiply(gradients[name], RATE)) for name, x in parameters.items()}
    return {name: xo.where(finite, trained[name], x) for name, x in parameters.items()}, state.adjust(finite)


def with_torch() -> tuple[Loss, Callable[..., Any]]:
    """The gradient of the loss, and the step: eager."""
    import torch

    return torch.func.grad(loss), step


def with_jax() -> tuple[Loss, Callable[..., Any]]:
    """The gradient of the loss, and the step: compiled."""
    import jax

    return jax.grad(loss), jax.jit(step, static_argnums=(0, 1))


LIBRARIES = {"torch": with_torch, "jax": with_jax}


def train(library: str, dtype: str | None) -> tuple[float, list[float]]:
    """The share of right answers for images that were not trained, and the scale of every step."""
    gradient, run = LIBRARIES[library]()
    digits, random = load_digits(), np.random.default_rng(0)
    images = xo.asarray(digits.data.astype("float32") / np.float32(16), backend=library)
    targets = xo.one_hot(xo.asarray(digits.target[:TRAINED].astype("int32"), backend=library), 10, dtype="float32")
    shapes = {"w1": (64, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, 10), "b2": (10,)}
    parameters = {
        name: xo.asarray((random.standard_normal(shape) / 8).astype("float32"), backend=library)
        for name, shape in shapes.items()
    }
    state, scales = xo.loss_scale(2.0**24, growth_interval=20), []
    for _ in range(STEPS):
        parameters, state = run(gradient, dtype, parameters, state, images[:TRAINED], targets)
        scales.append(float(state.value))
    answers = np.asarray(xo.convert(xo.argmax(predict(parameters, images[TRAINED:]), axis=1), "numpy"))
    return float((answers == digits.target[TRAINED:]).mean()), scales


def main() -> int:
    """Train with the named libraries, or with those that are installed."""
    names = sys.argv[1:] or [name for name in LIBRARIES if find_spec(name)]
    for name in names:
        for dtype in DTYPES:
            right, scales = train(name, dtype)
            left_out = sum(after < before for before, after in zip([2.0**24, *scales], scales, strict=False))
            print(
                f"{name:6} {dtype or 'float32':9} {right:.1%} right, {left_out} steps left out, scale {scales[-1]:.0f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
