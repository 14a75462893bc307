"""Sorted values of large arrays have the bits of a stable sort, whatever sort serves."""

import numpy as np
import pytest

import xarrayops as xo

SIZE = 20_000
NANS = np.array([0x7FC00000, 0xFFC00001, 0x7F800005], np.uint32).view(np.float32)


def values(kind):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(SIZE).astype(np.float32)
    if kind == "signed zeros":
        x[rng.permutation(SIZE)[:3000]] *= 0
    elif kind == "NaNs":
        x[rng.permutation(SIZE)[:3000]] = np.resize(NANS, 3000)
    elif kind == "infinities":
        x[rng.permutation(SIZE)[:2000]] = np.resize([np.inf, -np.inf], 2000)
    elif kind != "floats":
        x = (x * 100).astype(kind)
    return x


@pytest.mark.parametrize(
    "kind",
    ["floats", "signed zeros", "NaNs", "infinities", "float64", "float16", "int8", "int32", "uint64", "complex64"],
)
@pytest.mark.parametrize("shape", [(-1,), (40, 500), (500, 40)])
def test_the_bits_are_those_of_a_stable_sort(kind, shape):
    with np.errstate(invalid="ignore"):
        x = values(kind).reshape(shape)
    x.flags.writeable = False
    for each in (x, x[::-1], x.T, x[..., ::2]):
        for axis in range(each.ndim):
            want = np.sort(each, axis=axis, stable=True)
            assert xo.sort(each, axis=axis).tobytes() == want.tobytes()
            assert xo.sort(each, axis=axis, descending=True).tobytes() == np.flip(want, axis).tobytes()


def test_no_warning_of_nans():
    with np.errstate(all="raise"):
        assert np.isnan(xo.sort(values("NaNs"))[-3000:]).all()
