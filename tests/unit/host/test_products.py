"""Products over host memory: half precision is rounded once, integers of 8 bits are exact."""

import threading

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._host import products

NARROW = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
EPS = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float8_e4m3fn": 2.0**-4, "float8_e5m2": 2.0**-3}
"""Half the distance of 1 and the next number."""
TINY = {"float16": 2.0**-25, "bfloat16": 0.0, "float8_e4m3fn": 2.0**-10, "float8_e5m2": 2.0**-17}
"""Half the least number."""
SHAPES = [
    ((3, 4), (4, 5)),
    ((4,), (4,)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (4,)),
    ((3, 1, 2, 4), (2, 4, 5)),
    ((4, 5), (3, 5, 2)),
    ((3, 0), (0, 5)),
    ((2, 0, 4), (4, 5)),
    ((1, 3000), (3000, 2)),
    ((20, 2048), (2048, 2)),
    ((1100, 20), (20, 1030)),
    ((9, 70, 50), (50, 60)),
    ((9, 70, 50), (9, 50, 60)),
    ((2, 9, 70, 50), (9, 50, 60)),
    ((300, 1, 90), (300, 90, 1)),
]


def narrow(dtype):
    if dtype != "float16":
        pytest.importorskip("ml_dtypes")
    return xo.zeros(1, dtype=dtype, backend="numpy").dtype


def values(rng, shape, dtype):
    return rng.uniform(-1, 1, shape).astype(dtype)


def laid(x, layout):
    """A view of other memory with the values of x."""
    if layout == "strided":
        return np.repeat(x, 2, axis=-1)[..., ::2]
    if layout == "transposed":
        return np.ascontiguousarray(x.T).T
    if layout == "reversed":
        backward = (slice(None, None, -1),) * x.ndim
        return np.ascontiguousarray(x[backward])[backward]
    return x


def require_rounded_once(got, x1, x2, want, magnitude, dtype):
    """The error of a sum in float32, and of one rounding."""
    terms = x1.shape[-1]
    error = np.abs(got.astype(np.float64) - want)
    bound = magnitude * terms * 2.0**-24
    assert got.dtype == dtype
    assert got.shape == want.shape
    name = dtype.name
    assert np.all(error <= bound + (np.abs(want) + bound) * EPS[name] + TINY[name])


@pytest.mark.parametrize("layout", ["compact", "strided", "transposed", "reversed"])
@pytest.mark.parametrize("name", NARROW)
def test_products_of_narrow_numbers_are_rounded_once(name, layout):
    dtype, rng = narrow(name), np.random.default_rng(0)
    for first, second in SHAPES:
        x1, x2 = values(rng, first, dtype), values(rng, second, dtype)
        wide1, wide2 = x1.astype(np.float64), x2.astype(np.float64)
        want, magnitude = np.matmul(wide1, wide2), np.matmul(np.abs(wide1), np.abs(wide2))
        got = xo.matmul(laid(x1, layout), laid(x2, layout))
        require_rounded_once(np.asarray(got), x1, x2, np.asarray(want), magnitude, dtype)
        assert got.flags.writeable or got.ndim == 0


@pytest.mark.parametrize("name", NARROW)
def test_other_products_of_narrow_numbers(name):
    dtype, rng = narrow(name), np.random.default_rng(1)
    x, y, z = (values(rng, shape, dtype) for shape in ((5, 40, 6), (6, 40, 3), (5, 40, 6)))
    wide = [a.astype(np.float64) for a in (x, y, z)]
    absolute = [np.abs(a) for a in wide]

    def check(function, *arrays):
        got = function(xo, *[(x, y, z)[i] for i in arrays])
        want, magnitude = (function(np, *[a[i] for i in arrays]) for a in (wide, absolute))
        require_rounded_once(np.asarray(got), np.empty(240), None, np.asarray(want), magnitude, dtype)

    check(lambda xp, a, b: xp.tensordot(a, b, axes=((1, 2), (1, 0))), 0, 1)
    check(lambda xp, a, b: xp.tensordot(a, b, axes=((-1,), (0,))), 0, 1)
    check(lambda xp, a, b: xp.tensordot(a, b, axes=((0, 1, 2), (0, 1, 2))), 0, 2)
    check(lambda xp, a, b: xp.tensordot(a, b, axes=1), 0, 1)
    check(lambda xp, a, b: xp.tensordot(a[0, 0], b[0, 0], axes=0), 0, 1)
    check(lambda xp, a, b: xp.vecdot(a, b), 0, 2)
    check(lambda xp, a, b: xp.vecdot(a, b, axis=-2), 0, 2)
    check(lambda xp, a, b: xp.vecdot(a, b[0, 0]), 0, 2)
    check(lambda xp, a, b: xp.vecdot(a[:, :, :1], b[0, :, :1], axis=-2), 0, 2)
    check(lambda xp, a, b: xp.einsum("ijk,kjl->il", a, b), 0, 1)
    check(lambda xp, a, b: xp.einsum("ijk,ijk->jk", a, b), 0, 2)
    check(lambda xp, a: xp.einsum("ijk->j", a), 0)


def test_sums_of_float16_do_not_stop_growing():
    """A sum in float16 stops at 2048; one whose blocks are rounded loses digits at every block."""
    x = np.full((3, 5000), 1, np.float16)
    assert xo.matmul(x, x.T).tolist() == [[5000] * 3] * 3
    small = np.full((1, 4097), 0.0625, np.float16)
    assert xo.vecdot(small[0], np.ones(4097, np.float16)) == np.float16(4097 / 16)


@pytest.mark.parametrize("other", ["int8", "float32"])
def test_mixed_dtypes_of_products(other):
    x, y = np.arange(12, dtype=np.float16).reshape(3, 4), np.arange(8).reshape(4, 2).astype(other)
    for got in (xo.matmul(x, y), xo.tensordot(x, y, axes=1), xo.einsum("ij,jk->ik", x, y)):
        assert got.dtype == np.result_type(x, y)
        assert np.array_equal(got, x.astype(int) @ y.astype(int))


@pytest.mark.parametrize("dtype", ["float16", "int8", "float32"])
def test_shapes_that_do_not_fit(dtype):
    x, y = np.ones((3, 4), dtype), np.ones((3, 4), dtype)
    for call in (
        lambda: xo.matmul(x, y),
        lambda: xo.matmul(x, x[0, 0]),
        lambda: xo.matmul(np.ones((2, 3, 4), dtype), np.ones((3, 4, 5), dtype)),
        lambda: xo.tensordot(x, y, axes=1),
        lambda: xo.vecdot(x, y[:, :2]),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()


def test_each_thread_has_its_own_buffers():
    """Products of several threads at the same time do not write the panels of each other."""
    rng = np.random.default_rng(2)
    pairs = [tuple(rng.integers(-128, 128, (200, 200)).astype(np.int8) for _ in range(2)) for _ in range(4)]
    wrong = []

    def work(x1, x2):
        want = x1.astype(np.int64) @ x2.astype(np.int64)
        wrong.extend(i for i in range(20) if not np.array_equal(products.matmul_int32(x1, x2), want))

    workers = [threading.Thread(target=work, args=pair) for pair in pairs]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
