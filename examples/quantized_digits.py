"""Quantise a classifier to 8-bit integers: the bytes of its weights, its accuracy and its time.

    python examples/quantized_digits.py                # every installed library
    python examples/quantized_digits.py numpy torch    # these

The images are the 1797 handwritten digits of scikit-learn, which ``pip install '.[bench]'`` installs in a checkout. Two
images in three train a small network, with NumPy; the others test it. The functions ``scores`` and ``scores_int8`` name
no library, and are workloads of the benchmark.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.bench import MissingData
from xarrayops.bench.workloads.classifier import TEST, quantized_layers, scores, scores_int8, trained
from xarrayops.bench.workloads.pipeline import load_digits

MOST = 0.01
"""The greatest drop of the accuracy."""


def converted(item: Any, library: str) -> Any:
    """The arrays of nested lists and tuples on a library."""
    if isinstance(item, (list, tuple)):
        parts = [converted(part, library) for part in item]
        return type(item)(*parts) if hasattr(item, "_fields") else type(item)(parts)
    return item if item is None else xo.convert(item, library)


def nbytes(layers: Any) -> int:
    """The bytes of all arrays in nested lists and tuples."""
    if isinstance(layers, (list, tuple)):
        return sum(map(nbytes, layers))
    return 0 if layers is None else int(layers.nbytes)


def milliseconds(function: Any, images: Any, layers: Any) -> float:
    """The least time of ten calls, after one that may compile."""
    times = []
    for _ in range(11):
        start = perf_counter()
        xo.synchronize(xo.compute(function(images, layers)))
        times.append(perf_counter() - start)
    return 1e3 * min(times[1:])


def main(names: list[str]) -> int:
    """Print a row for each library; 1 if the accuracy drops too much, or scores differ, or the images are missing."""
    try:
        digits, layers = load_digits(), trained()
    except MissingData as error:  # scikit-learn is not installed; the message has the command
        print(error, file=sys.stderr)
        return 1
    images, target = digits.data.astype(np.float32), digits.target[TEST]
    training = images[np.arange(len(images)) % 3 != 0]
    small = quantized_layers(training, layers)
    print(f"weights: {nbytes(layers)} bytes in float32, {nbytes(small)} in int8 with scales and biases")
    exact, good = scores_int8(images, small).tobytes(), True
    for name in names or [status.name for status in xo.backends() if status.available]:
        own, wide, narrow = converted((images, layers, small), name)
        found = {}
        for label, function, network in (("float32", scores, wide), ("int8", scores_int8, narrow)):
            result = xo.compute(function(own, network))
            result = xo.convert(result, "numpy")
            accuracy = float(np.mean(result[TEST].argmax(axis=1) == target))
            found[label] = accuracy, milliseconds(function, own, network), result
        drop, same = found["float32"][0] - found["int8"][0], found["int8"][2].tobytes() == exact
        good = good and same and drop < MOST
        row = ", ".join(f"{label} {accuracy:.1%} in {time:.2f} ms" for label, (accuracy, time, _) in found.items())
        print(f"{name:12} {row}; the accuracy drops by {drop:.2%}; {'the same' if same else 'OTHER'} bits as NumPy")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
