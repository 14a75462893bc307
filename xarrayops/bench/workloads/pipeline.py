"""Real preprocessing on real data: the handwritten digits of scikit-learn, standardised, whitened and projected.

`whiten` is ordinary backend-agnostic code; ``examples/preprocess_digits.py`` uses it in a program.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, MissingData, Workload
from xarrayops.plugin import Array

COMPONENTS = 8
"""How many directions the benchmark keeps."""
_FEATURES = 64
_AMPLIFICATION = 44.0
"""Of errors, by the directions: the largest variance over the smallest gap between those that are kept, in the digits.

Two directions turn into each other by the error of the covariance over the gap between their variances.
"""


def whiten(x: Array, components: int = COMPONENTS, /) -> tuple[Array, Array]:
    """Standardise, whiten and project samples onto their directions of largest variance.

    Parameters
    ----------
    x : array (samples, features), real floating point, of any library
    components : int
        How many directions to keep.

    Returns
    -------
    scores : array (samples, components)
        Uncorrelated, of mean 0 and variance 1; of the library, dtype and device of x.
    explained : array (components,)
        The part of the variance that lies in each direction, largest first.

    Notes
    -----
    Features that never vary stay 0. A direction's sign is free; here its largest weight is positive.
    """
    spread = xo.std(x, axis=0)
    centred = xo.subtract(x, xo.mean(x, axis=0))
    standard = xo.divide(centred, xo.where(xo.greater(spread, 0), spread, xo.ones_like(spread)))
    covariance = xo.divide(xo.matmul(xo.matrix_transpose(standard), standard), x.shape[0])
    variances, directions = xo.linalg.eigh(covariance)
    top = xo.flip(directions, axis=1)[:, :components]
    kept = xo.flip(variances)[:components]
    weight = xo.expand_dims(xo.argmax(xo.abs(top), axis=0), axis=0)
    top = xo.multiply(top, xo.sign(xo.take_along_axis(top, weight, axis=0)))
    scores = xo.divide(xo.matmul(standard, top), xo.sqrt(kept))
    return scores, xo.divide(kept, xo.sum(variances))


def load_digits() -> Any:
    """The 1797 images of 8 by 8 pixels: ``data`` (1797, 64), NumPy's float64 from 0 to 16, and the digits, ``target``.

    Raises
    ------
    MissingData
        scikit-learn, which they come with, is not installed.
    """
    try:
        datasets = import_module("sklearn.datasets")
    except ModuleNotFoundError as error:
        raise MissingData(
            f"the digits come with scikit-learn, which is not installed (no module {error.name})",
            "pip install 'xarrayops[bench]'",
        ) from None
    return datasets.load_digits()


def _operations(n: int) -> float:
    """Those of the two products, of the eigenvectors (about 9 n^3), and of the steps element by element."""
    return 2.0 * n * _FEATURES * (_FEATURES + COMPONENTS) + 9.0 * _FEATURES**3 + 6.0 * n * _FEATURES


def _by_singular_values(x: Any) -> Arrays:
    """The answer by another road: the singular values of the samples."""
    spread = x.std(axis=0)
    standard = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
    left, singular, right = np.linalg.svd(standard, full_matrices=False)
    variances = singular**2 / len(x)
    weights = right[:COMPONENTS]
    signs = np.sign(np.take_along_axis(weights, np.abs(weights).argmax(axis=1, keepdims=True), axis=1))[:, 0]
    return left[:, :COMPONENTS] * signs * math.sqrt(len(x)), variances[:COMPONENTS] / variances.sum()


WORKLOADS = (
    Workload(
        "pipeline whitening",
        whiten,
        inputs=lambda random, n: (load_digits().data[:n],),
        expected=_by_singular_values,
        sizes=(1797,),
        timed="scikit-learn's digits (1797 images): standardise, covariance, eigh, project on 8 whitened directions",
        operations=_operations,
        tolerance=lambda n: 2 * math.sqrt(_FEATURES) * _AMPLIFICATION,
    ),
)
