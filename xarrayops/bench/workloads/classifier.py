"""A classifier of the handwritten digits of scikit-learn, in float32 and in 8-bit integers.

`scores` and `scores_int8` are ordinary backend-agnostic code; ``examples/quantized_digits.py`` uses them in a program,
which compares the accuracy, the bytes of the weights and the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, Workload, exactly
from xarrayops.bench.workloads.pipeline import load_digits
from xarrayops.plugin import Array

HIDDEN = 256
"""The units of each of the two hidden layers."""
TEST = slice(0, None, 3)
"""The images on which the accuracy is measured; the others are used for training."""
_SIZES = (64, HIDDEN, HIDDEN, 10)
_STEPS, _RATE, _DECAY = 80, 0.005, (0.9, 0.999)
"""The steps of the training with Adam (Kingma and Ba 2015), its rate and its decays."""

Layer = tuple[Array, Array]
"""Weights (inputs, outputs) and biases (outputs,)."""
QuantizedLayer = tuple[xo.Calibration, xo.Quantized, Array]
"""The calibration of the inputs, the weights, and the biases in float32."""


def scores(images: Array, layers: Sequence[Layer]) -> Array:
    """The score (n, 10) of each digit for each image (n, 64): layers with ReLU in between."""
    x = images
    for i, (weights, biases) in enumerate(layers):
        x = xo.add(xo.matmul(xo.maximum(x, 0) if i else x, weights), biases)
    return x


def scores_int8(images: Array, layers: Sequence[QuantizedLayer]) -> Array:
    """The same with products of 8-bit integers."""
    x = images
    for i, (calibration, weights, biases) in enumerate(layers):
        inputs = xo.quantize(xo.maximum(x, 0) if i else x, calibration=calibration)
        x = xo.add(xo.qmatmul(inputs, weights), biases)
    return x


def quantized_layers(images: Array, layers: Sequence[Layer]) -> list[QuantizedLayer]:
    """The layers with weights of int8, one scale for each output, and calibrations of their inputs for such images."""
    quantized, x = [], images
    for i, (weights, biases) in enumerate(layers):
        x = xo.maximum(x, 0) if i else x
        quantized.append((xo.calibrate(x), xo.quantize(weights, axis=-1), biases))
        x = scores(x, [(weights, biases)])
    return quantized


def trained() -> list[tuple[Any, Any]]:
    """The layers of the classifier in float32, on NumPy.

    Raises
    ------
    MissingData
        scikit-learn, which has the digits, is not installed.
    """
    digits = load_digits()
    training = np.arange(len(digits.data)) % 3 != 0
    return _trained(digits.data[training].astype(np.float32).tobytes(), digits.target[training].tobytes())


@cache
def _trained(images: bytes, target: bytes) -> list[tuple[Any, Any]]:
    """Full-batch Adam on the cross-entropy; the derivatives are written out."""
    x = np.frombuffer(images, np.float32).reshape(-1, _SIZES[0])
    wanted = np.eye(_SIZES[-1], dtype=np.float32)[np.frombuffer(target, np.int64)]
    random = np.random.default_rng(0)
    weights = [(random.standard_normal(shape) * np.sqrt(2 / shape[0])).astype(np.float32) for shape in pairwise(_SIZES)]
    parameters = [*weights, *(np.zeros(n, np.float32) for n in _SIZES[1:])]
    moments = [[np.zeros_like(p) for p in parameters] for _ in _DECAY]
    count = len(weights)
    for step in range(1, _STEPS + 1):
        inputs = [x / 16]
        for w, b in zip(parameters[:count], parameters[count:], strict=True):
            inputs.append(np.maximum(inputs[-1] @ w + b, 0) if len(inputs) < count else inputs[-1] @ w + b)
        powers = np.exp(inputs[-1] - inputs[-1].max(axis=1, keepdims=True))
        delta = (powers / powers.sum(axis=1, keepdims=True) - wanted) / len(x)
        gradients = [np.zeros_like(p) for p in parameters]
        for i in reversed(range(count)):
            gradients[i], gradients[count + i] = inputs[i].T @ delta, delta.sum(axis=0)
            delta = (delta @ parameters[i].T) * (inputs[i] > 0)
        for p, g, first, second in zip(parameters, gradients, *moments, strict=True):
            for moment, decay, value in ((first, _DECAY[0], g), (second, _DECAY[1], g * g)):
                moment += (1 - decay) * (value - moment)
            corrected = (m / (1 - decay**step) for m, decay in zip((first, second), _DECAY, strict=True))
            mean, square = corrected
            p -= _RATE * mean / (np.sqrt(square) + 1e-8)
    parameters[0] /= 16  # the images have values from 0 to 16
    return list(zip(parameters[:count], parameters[count:], strict=True))


def _paired(arrays: Sequence[Array]) -> list[Layer]:
    return list(zip(arrays[::2], arrays[1::2], strict=True))


def _score(images: Array, *arrays: Array) -> Array:
    return scores(images, _paired(arrays))


def _score_int8(images: Array, layers: list[QuantizedLayer], calibration: xo.Calibration, /) -> tuple[Array, Array]:
    """The digits, and their scores in int8."""
    x = scores_int8(images, layers)
    return xo.argmax(x, axis=1), xo.quantize(x, calibration=calibration).values


def _inputs(random: Any, n: int) -> Arrays:
    return load_digits().data[:n], *(part for layer in trained() for part in layer)


def _by_layers(images: Any, *arrays: Any) -> Any:
    """The expected scores of the classifier in float32."""
    for i, (weights, biases) in enumerate(_paired(arrays)):
        images = np.where(images > 0, images, 0) @ weights + biases if i else images @ weights + biases
    return images


def _training_images() -> Any:
    images = load_digits().data.astype(np.float32)
    return images[np.arange(len(images)) % 3 != 0]


@cache
def _quantized() -> tuple[list[QuantizedLayer], xo.Calibration]:
    """The classifier in int8 and the calibration of its scores, on NumPy: their bits depend on its products."""
    samples, layers = _training_images(), trained()
    return quantized_layers(samples, layers), xo.calibrate(scores(samples, layers))


def _with_classifier(images: Array) -> tuple[Any, ...]:
    """The images in float32, the classifier in int8 and the calibration of its scores, on the images' library."""

    def here(part: Any) -> Any:
        if part is None:
            return None
        return type(part)(*map(here, part)) if isinstance(part, tuple) else xo.convert(part, images)

    layers, calibration = _quantized()
    return xo.astype(images, "float32"), [tuple(map(here, layer)) for layer in layers], here(calibration)


def _by_integers(images: Any) -> Arrays:
    """The expected digits and scores of the classifier in int8: products in int64, every other step in float32."""

    def steps(x: Any, scale: Any) -> Any:
        return np.clip(np.rint(x / scale), -127, 127)

    layers, calibration = _quantized()
    x = images.astype(np.float32)
    for i, (inputs, weights, biases) in enumerate(layers):
        x = np.where(x > 0, x, np.float32(0)) if i else x
        sums = steps(x, inputs.scale).astype(np.int64) @ weights.values.astype(np.int64)
        x = sums.astype(np.float32) * (inputs.scale * weights.scale) + biases
    return x.argmax(axis=1), steps(x, calibration.scale).astype(np.int8)


def _operations(n: int) -> float:
    return 2.0 * n * sum(a * b for a, b in pairwise(_SIZES))


def _bytes(n: int, itemsize: int) -> float:
    """Images, scales and biases in float32, weights and scores in int8, and the digits."""
    weights, outputs = sum(a * b for a, b in pairwise(_SIZES)), sum(_SIZES[1:])
    return float(4 * n * _SIZES[0] + weights + 2 * 4 * outputs + n * (_SIZES[-1] + 8))


_TOY_DEFAULT_LARGE = {"toy": (90,), "default": (1797,), "large": (1797,)}
WORKLOADS = (
    Workload(
        "pipeline classifier",
        _score,
        inputs=_inputs,
        expected=_by_layers,
        sizes=_TOY_DEFAULT_LARGE,
        timed="scikit-learn's digits (1797 images): the scores of a classifier with two hidden layers of 256 units",
        operations=_operations,
        tolerance=lambda n: 64.0,
    ),
    Workload(
        "pipeline classifier int8",
        _score_int8,
        inputs=lambda random, n: (load_digits().data[:n].astype(np.int8),),
        expected=_by_integers,
        sizes=_TOY_DEFAULT_LARGE,
        timed="the same classifier with weights and activations of int8, calibrated before: the digits and int8 scores",
        operations=_operations,
        nbytes=_bytes,
        tolerance=exactly,
        arrange=_with_classifier,
        dtypes=("int8",),
    ),
)
