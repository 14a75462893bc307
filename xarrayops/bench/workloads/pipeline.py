"""Preprocessing of real data: the handwritten digits of scikit-learn, standardised, whitened and projected.

`whiten` is ordinary backend-agnostic code; ``examples/preprocess_digits.py`` uses it in a program.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workload import Arrays, MissingData, Workload
from xarrayops.plugin import Array, install_command

COMPONENTS = 8
"""The number of directions that the benchmark keeps."""
_FEATURES = 64
_AMPLIFICATION = 44.0
"""The error amplification of the directions: the largest variance over the smallest gap between the kept variances.

Two directions mix by the error of the covariance divided by the gap between their variances.
"""


def whiten(x: Array, components: int = COMPONENTS, /) -> tuple[Array, Array]:
    """Standardise, whiten and project samples onto their directions of largest variance.

    Parameters
    ----------
    x : array (samples, features), real floating point, of any library
    components : int
        The number of directions to keep.

    Returns
    -------
    scores : array (samples, components)
        Uncorrelated, with mean 0 and variance 1, in the library, dtype and device of x.
    explained : array (components,)
        The fraction of the variance that each direction explains, largest first.

    Notes
    -----
    Constant features become 0, and so do the scores of directions without variance. The sign of a direction is
    arbitrary; here its largest weight is positive. Fill missing values before: with NaN, the eigendecomposition of
    some libraries raises, and that of others gives NaN.
    """
    varies = xo.any(xo.not_equal(x, x[:1, ...]), axis=0)  # rounding gives equal numbers a deviation above 0
    spread = xo.where(varies, xo.std(x, axis=0), xo.inf)
    standard = xo.divide(xo.subtract(x, xo.mean(x, axis=0)), spread)
    covariance = xo.divide(xo.matmul(xo.matrix_transpose(standard), standard), max(x.shape[0], 1))
    variances, directions = xo.linalg.eigh(covariance)
    top = xo.flip(directions, axis=1)[:, :components]
    kept = xo.flip(variances)[:components]
    weight = xo.expand_dims(xo.argmax(xo.abs(top), axis=0), axis=0)
    top = xo.multiply(top, xo.sign(xo.take_along_axis(top, weight, axis=0)))
    total = xo.sum(variances)
    has_variance = xo.greater(kept, xo.multiply(total, xo.finfo(x.dtype).eps))  # others are rounding errors
    scores = xo.divide(xo.matmul(standard, top), xo.sqrt(xo.where(has_variance, kept, xo.inf)))
    return scores, xo.divide(kept, xo.where(xo.greater(total, 0), total, 1.0))


def load_digits() -> Any:
    """The 1797 images of 8 by 8 pixels: ``data`` (1797, 64), float64 from 0 to 16, and ``target``, the digits.

    Raises
    ------
    MissingData
        scikit-learn, which has the data, is not installed.
    """
    try:
        datasets = import_module("sklearn.datasets")
    except ModuleNotFoundError as error:
        raise MissingData(
            f"scikit-learn, which has the digits, is not installed (no module {error.name})",
            install_command("bench"),
        ) from None
    return datasets.load_digits()


def _operations(n: int) -> float:
    """The operations of the two products, the eigenvectors (about 9 n^3) and the elementwise steps."""
    return 2.0 * n * _FEATURES * (_FEATURES + COMPONENTS) + 9.0 * _FEATURES**3 + 6.0 * n * _FEATURES


def _by_singular_values(x: Any) -> Arrays:
    """The expected results by another method: the singular value decomposition of the samples."""
    standard = (x - x.mean(axis=0)) / np.where((x == x[0]).all(axis=0), np.inf, x.std(axis=0))
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
        timed="scikit-learn's digits (1797 images): standardise, covariance, eigh, project onto 8 whitened directions",
        operations=_operations,
        tolerance=lambda n: 2 * math.sqrt(_FEATURES) * _AMPLIFICATION,
    ),
)
