"""A classifier of the handwritten digits of scikit-learn, in float32 and in 8-bit integers.

`scores` and `scores_int8` are ordinary backend-agnostic code; ``examples/quantized_digits.py`` uses them in a program,
which compares the accuracy, the bytes of the weights and the time.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
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
_EPOCHS = 10
"""The epochs of the training, by scikit-learn."""
_TRAINED_BY = ("scikit-learn",)

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


@cache
def trained() -> list[tuple[Any, Any]]:
    """The layers of the classifier in float32, on NumPy.

    Raises
    ------
    MissingData
        scikit-learn, which has the digits, is not installed.
    """
    images, target = _training()
    neural_network = import_module("sklearn.neural_network")
    network = neural_network.MLPClassifier((HIDDEN, HIDDEN), max_iter=_EPOCHS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few epochs do not converge
        network.fit(images, target)
    return list(zip(network.coefs_, network.intercepts_, strict=True))


def _training() -> tuple[Any, Any]:
    """The images in float32 and the digits that are used for training."""
    digits = load_digits()
    chosen = np.arange(len(digits.data)) % 3 != 0
    return digits.data[chosen].astype(np.float32), digits.target[chosen]


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


@cache
def _quantized() -> tuple[list[QuantizedLayer], xo.Calibration]:
    """The classifier in int8 and the calibration of its scores, on NumPy: their bits depend on its products."""
    (samples, _), layers = _training(), trained()
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
        packages=_TRAINED_BY,
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
        packages=_TRAINED_BY,
    ),
)
