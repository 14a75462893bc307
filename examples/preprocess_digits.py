"""Preprocess images on any array library, with one function.

    python examples/preprocess_digits.py                # every installed library
    python examples/preprocess_digits.py numpy torch    # these

The images are the 1797 handwritten digits of scikit-learn, which ``pip install '.[bench]'`` installs in a checkout.
The function ``preprocess`` names no library: it runs on the library and device of its argument. Its last step,
``whiten``, is a workload of the benchmark.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench import MissingData
from xarrayops.bench.workloads.pipeline import load_digits, whiten


def preprocess(images: Any, components: int = 8) -> tuple[Any, Any]:
    """Normalise the contrast of each image (a row of pixels), then whiten: scores, and the variance they explain.

    Missing pixels, which are NaN, count as the mean of their image. Images without contrast become 0.
    """
    known = xo.logical_not(xo.isnan(images))
    count = xo.sum(xo.astype(known, images.dtype), axis=1, keepdims=True)
    mean = xo.divide(xo.sum(xo.where(known, images, 0.0), axis=1, keepdims=True), xo.maximum(count, 1.0))
    filled = xo.where(known, images, mean)
    has_contrast = xo.any(xo.not_equal(filled, filled[:, :1]), axis=1, keepdims=True)
    centred = xo.where(has_contrast, xo.subtract(filled, mean), 0.0)
    length = xo.linalg.vector_norm(centred, axis=1, keepdims=True)
    return whiten(xo.divide(centred, xo.where(has_contrast, length, 1.0)), components)


def main(names: list[str]) -> int:
    """Run ``preprocess`` on each library and compare the results; 1 if they disagree, or the images are missing."""
    try:
        images = load_digits().data.astype("float32")
    except MissingData as error:  # scikit-learn is not installed; the message has the command
        print(error, file=sys.stderr)
        return 1
    exact, _ = preprocess(images.astype("float64"))
    agree = True
    for name in names or [status.name for status in xo.backends() if status.available]:
        scores, explained = xo.compute(*preprocess(xo.convert(images, name)))
        difference = np.abs(xo.convert(scores, "numpy") - exact).max() / np.abs(exact).max()
        same = bool(difference < 1e-3)
        agree = agree and same
        parts = " ".join(f"{part:.1%}" for part in xo.convert(explained, "numpy"))
        print(f"{name:12} explained variance {parts}   {'same' if same else 'DIFFERENT'} scores ({difference:.0e})")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
