"""Real preprocessing on real data: the handwritten digits of scikit-learn, standardised, whitened and projected.

`whiten` is ordinary backend-agnostic code; ``examples/preprocess_digits.py`` uses it in a program.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench.workloads._contract import Case, MissingData, Shapes, Workload
from xarrayops.plugin import Array

COMPONENTS = 8
"""How many directions the benchmark keeps."""
_SHAPE = (1797, 64)


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
    """The 1797 images of 8 by 8 pixels as a float64 NumPy array (1797, 64), values 0 to 16.

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
    return datasets.load_digits().data


def shapes(size: str) -> Shapes:
    """The data are what they are: one shape at every size."""
    return (_SHAPE,)


def prepare(dtype: str, size: str) -> Case:
    """The operations are those of the two products and of the eigenvectors (about 9 n^3)."""
    x = load_digits().astype(dtype)
    expected, amplification = _oracle(x.astype(np.float64))
    samples, features = x.shape
    tolerance = 4 * math.sqrt(features) * amplification * float(np.finfo(dtype).eps)
    operations = 2.0 * samples * features * (features + COMPONENTS) + 9.0 * features**3 + 6.0 * x.size
    nbytes = float(x.nbytes + samples * COMPONENTS * x.itemsize)
    return Case((x,), expected, tolerance, operations, nbytes)


def _oracle(x: Any) -> tuple[tuple[Any, Any], float]:
    """The answer by another road, the singular values of the samples; and how much the task amplifies an error.

    Two directions turn into each other by the error of the covariance over the gap between their variances.
    """
    spread = x.std(axis=0)
    standard = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
    left, singular, right = np.linalg.svd(standard, full_matrices=False)
    variances = singular**2 / len(x)
    weights = right[:COMPONENTS]
    signs = np.sign(np.take_along_axis(weights, np.abs(weights).argmax(axis=1, keepdims=True), axis=1))[:, 0]
    scores = left[:, :COMPONENTS] * signs * math.sqrt(len(x))
    amplification = variances[0] / np.min(-np.diff(variances[: COMPONENTS + 1]))
    return (scores, variances[:COMPONENTS] / variances.sum()), float(amplification)


WORKLOAD = Workload(
    "pipeline",
    "scikit-learn's digits (1797 images): standardise, covariance, eigh, project on 8 whitened directions",
    whiten,
    shapes,
    prepare,
    "FLOP/s",
)
