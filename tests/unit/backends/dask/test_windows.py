"""Functions of windows over chunks: the values of NumPy, and few tasks for each chunk of the result."""

import dask.array as da
import numpy as np
import pytest

import xarrayops as xo

TASKS = 10
"""The tasks for each chunk of the result."""


def chunked(random, x, whole=()):
    """x in random chunks, except along the axes that are whole."""
    chunks = []
    for axis, n in enumerate(x.shape):
        cuts = sorted({0, n, *random.integers(0, n + 1, 0 if axis in whole else 3).tolist()})
        chunks.append(tuple(np.diff(cuts).tolist()) or (0,))
    return da.from_array(x, chunks=tuple(chunks))


def tasks_of_a_chunk(result, *operands):
    count = len(dict(result.__dask_graph__())) - sum(x.npartitions for x in operands)
    return count / result.npartitions


@pytest.mark.parametrize("seed", range(60))
def test_convolution(seed):
    random = np.random.default_rng(seed)
    axes = int(random.integers(1, 4))
    groups, last = int(random.integers(1, 3)), bool(random.integers(2))
    space = random.integers(4, 14, axes).tolist()
    window = [int(random.integers(1, n + 1)) for n in space]
    options = {
        "stride": random.integers(1, 4, axes).tolist(),
        "padding": [tuple(random.integers(0, 4, 2).tolist()) for _ in space],
        "dilation": [1 if n > 3 else int(random.integers(1, 3)) for n in window],
    }
    dtype = random.choice(["float32", "float64", "int32", "complex128", "float16"])
    x = random.integers(-9, 10, (3, *space, 4) if last else (3, 4, *space)).astype(dtype)
    weights = random.integers(-9, 9, (6, 4 // groups, *window)).astype(dtype)
    layout = ("NWC", "NHWC", "NDHWC")[axes - 1] if last else ("NCW", "NCHW", "NCDHW")[axes - 1]
    function = (xo.conv1d, xo.conv2d, xo.conv3d)[axes - 1]
    given = {**options, "groups": groups, "layout": layout}
    try:
        expected = function(x, weights, **given)
    except ValueError as error:  # the window is longer than the axis
        with pytest.raises(type(error)):
            function(chunked(random, x), chunked(random, weights), **given)
        return
    found = function(chunked(random, x), chunked(random, weights), **given)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found.compute(), expected)


@pytest.mark.parametrize("seed", range(20))
def test_pooling(seed):
    random = np.random.default_rng(seed)
    axes, kind = int(random.integers(1, 4)), random.choice(["max", "avg"])
    space = random.integers(4, 14, axes).tolist()
    window = [int(random.integers(1, 4)) for _ in space]
    options = {"stride": random.integers(1, 5, axes).tolist(), "padding": [(n // 2, n // 2) for n in window]}
    x = random.standard_normal((3, 2, *space))
    function = getattr(xo, f"{kind}_pool{axes}d")
    found = function(chunked(random, x), window, **options)
    np.testing.assert_allclose(found.compute(), function(x, window, **options), rtol=1e-14)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("verb", ["convolve", "correlate"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int16", "bool", "complex64"])
@pytest.mark.parametrize("lengths", [(30, 7), (7, 30), (12, 12), (5, 1), (1, 1)])
def test_products_of_vectors(lengths, dtype, verb, mode):
    random = np.random.default_rng(sum(lengths))
    first, second = (random.integers(-5, 6, n).astype(dtype) for n in lengths)
    found = getattr(xo, verb)(chunked(random, first), chunked(random, second), mode=mode)
    expected = getattr(xo, verb)(first, second, mode=mode)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.compute(), expected)


@pytest.mark.parametrize("verb", ["convolve", "correlate"])
def test_empty_chunks(verb):
    x = np.arange(6.0)
    of_chunks = da.from_array(x, chunks=((5, 0, 1),))
    for ones, mode in ((np.ones(1), "full"), (np.ones(9), "valid")):
        found = getattr(xo, verb)(da.from_array(ones), of_chunks, mode=mode)
        np.testing.assert_array_equal(found.compute(), getattr(np, verb)(ones, x, mode=mode))


def test_infinite_elements_of_the_shorter_vector():
    long, short = np.arange(1.0, 21.0), np.asarray([1.0, np.inf, 2.0])
    found = xo.convolve(da.from_array(long, chunks=5), da.from_array(short))
    np.testing.assert_array_equal(found.compute(), np.convolve(long, short))


@pytest.mark.parametrize("n", [1, 2, 5, 11, 12, 13])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_differences(axis, n):
    random = np.random.default_rng(n)
    x = random.integers(-99, 99, (12, 14))
    np.testing.assert_array_equal(xo.diff(chunked(random, x), n=n, axis=axis).compute(), np.diff(x, n, axis))
    with_ends = xo.diff(chunked(random, x), n=n, axis=axis, prepend=da.zeros_like(x[:1, :1] + x[:, :1] * 0 + x[:1] * 0))
    np.testing.assert_array_equal(with_ends.compute(), np.diff(x, n, axis, prepend=np.zeros_like(x)))


@pytest.mark.parametrize("length", [50, 1000])
def test_tasks_do_not_depend_on_the_window(length):
    """One task, and a part of each chunk that it needs."""
    ones = da.ones
    vector, short = ones(10 * length, chunks=length), ones(length // 2, chunks=10)
    image, window = ones((2, 3, 96, 96), chunks=(1, 3, 32, 32)), ones((4, 3, 9, 9))
    for result, operands in (
        (xo.convolve(vector, short), (vector, short)),
        (xo.correlate(vector, short, mode="same"), (vector, short)),
        (xo.conv2d(image, window), (image, window)),
        (xo.max_pool2d(image, 5, stride=1), (image,)),
        (xo.diff(vector, n=5), (vector,)),
    ):
        assert tasks_of_a_chunk(result, *operands) <= TASKS


def test_two_vectors_of_one_length():
    a = da.ones(100, chunks=50)
    np.testing.assert_array_equal(xo.convolve(a, a).compute(), np.convolve(np.ones(100), np.ones(100)))
    assert tasks_of_a_chunk(xo.convolve(a, a)) <= 20


def test_differences_of_booleans_and_wrong_numbers():
    x = np.arange(9) % 3 == 0
    np.testing.assert_array_equal(xo.diff(da.from_array(x, chunks=2)).compute(), np.diff(x))
    with pytest.raises(TypeError):
        xo.diff(da.ones(9, chunks=2), n=2.5)


def test_unknown_sizes():
    x = da.arange(20, chunks=5)
    with pytest.raises(xo.Unsupported, match="not computed yet"):
        xo.convolve(x[x > 3], x)
