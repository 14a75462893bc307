"""Functions of all kinds on cubed: at least 36 of 44 give NumPy's results, and the others say what to do instead."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import Unsupported

cubed = pytest.importorskip("cubed")
RNG = np.random.default_rng(0)
A, V = RNG.standard_normal((12, 8)), RNG.standard_normal(50)
SQUARE = A @ A.T + np.eye(12)
INTEGERS = RNG.integers(0, 9, 50)
KERNEL = RNG.standard_normal(5)
IMAGES, WEIGHTS = RNG.standard_normal((2, 3, 9, 9)), RNG.standard_normal((4, 3, 3, 3))
HEADS = RNG.standard_normal((1, 2, 12, 4))


def random(x):
    return xo.random.default_rng(0, like=x).normal(size=(3, 4))


def triangle(x):
    """Without the signs of the rows, which differ."""
    return xo.abs(xo.linalg.qr(x)[1])


CALLS = {
    "zeros_like": (xo.zeros_like, A),
    "arange": (lambda x: xo.arange(5, like=x), A),
    "eye": (lambda x: xo.eye(3, like=x), A),
    "full": (lambda x: xo.full((2, 3), 1.5, like=x), A),
    "random": (random, A),
    "exp": (xo.exp, A),
    "add": (xo.add, A, A),
    "where": (lambda x: xo.where(x > 0, x, 0.0), A),
    "clip": (lambda x: xo.clip(x, -0.5, 0.5), A),
    "astype": (lambda x: xo.astype(x, "float32"), A),
    "sum": (lambda x: xo.sum(x, axis=0), A),
    "mean": (lambda x: xo.mean(x, axis=0), A),
    "var": (lambda x: xo.var(x, axis=1), A),
    "max": (xo.max, A),
    "argmax": (lambda x: xo.argmax(x, axis=1), A),
    "cumulative_sum": (lambda x: xo.cumulative_sum(x, axis=0), A),
    "logsumexp": (lambda x: xo.logsumexp(x, axis=1), A),
    "softmax": (lambda x: xo.softmax(x, axis=1), A),
    "quantile": (lambda x: xo.quantile(x, 0.3), V),
    "median": (xo.median, V),
    "sort": (xo.sort, V),
    "argsort": (xo.argsort, V),
    "topk": (lambda x: xo.topk(x, 3)[0], V),
    "unique_values": (xo.unique_values, INTEGERS),
    "histogram": (lambda x: xo.histogram(x, bins=7)[0], V),
    "bincount": (lambda x: xo.bincount(x, length=9), INTEGERS),
    "segment_sum": (lambda x, ids: xo.segment_sum(x, ids, 9), V, INTEGERS),
    "searchsorted": (xo.searchsorted, np.sort(V), KERNEL),
    "matmul": (xo.matmul, A, A.T.copy()),
    "einsum": (lambda x, y: xo.einsum("ij,kj->ik", x, y), A, A),
    "tensordot": (lambda x, y: xo.tensordot(x, y, axes=2), A, A),
    "linalg.qr": (triangle, A),
    "linalg.svd": (xo.linalg.svdvals, A),
    "linalg.solve": (xo.linalg.solve, SQUARE, A),
    "linalg.eigh": (lambda x: xo.linalg.eigh(x)[0], SQUARE),
    "fft": (xo.fft.fft, V),
    "at": (lambda x: xo.at(x)[2:5].set(1.0), A),
    "take": (lambda x: xo.take(x, xo.asarray([3, 1], like=x, dtype="int64"), axis=0), A),
    "pad": (lambda x: xo.pad(x, 2), A),
    "roll": (lambda x: xo.roll(x, 3, axis=0), A),
    "reshape": (lambda x: xo.reshape(x, (-1,)), A),
    "convolve": (xo.convolve, V, KERNEL),
    "conv2d": (xo.conv2d, IMAGES, WEIGHTS),
    "attention": (lambda x: xo.attention(x, x, x), HEADS),
}
"""The calls of xarrayops: NumPy's arrays give the results to compare with."""
NEEDED = 36


def refusal(name):
    """The error of a call on cubed, or an empty string if the values are NumPy's."""
    function, *arrays = CALLS[name]
    spec = cubed.Spec(allowed_mem="100MB")
    chunked = [cubed.from_array(a, chunks=tuple(-(-n // 2) for n in a.shape), spec=spec) for a in arrays]
    try:
        found = np.asarray(xo.compute(function(*chunked)))
    except Unsupported as error:
        return str(error)
    np.testing.assert_allclose(found, function(*arrays), rtol=1e-6, atol=1e-9)
    return ""


def test_most_functions_serve_cubed():
    assert len(CALLS) == 44
    refused = {name: said for name in CALLS if (said := refusal(name))}
    assert len(CALLS) - len(refused) >= NEEDED, refused
    assert all("Instead: " in said for said in refused.values()), refused
