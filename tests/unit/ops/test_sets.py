"""unique on every library: NumPy's values, order, options and shapes."""

import itertools

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._generic.hooks import sets

NAN = np.nan
ARRAYS = {
    "integers": np.asarray([5, 3, 3, 0, 4, 1] * 3),
    "booleans": np.asarray([True, False, True]),
    "uint64": np.asarray([2**64 - 1, 2**63, 0, 2**63], dtype="uint64"),
    "NaN": np.asarray([5, NAN, 3, NAN, 4, 1.0] * 2).reshape(3, 4),
    "complex": np.asarray([5 + 1j, 3, 3 - 1j, 0, 4, 3, -0.0]),
    "complex NaN": np.asarray([5, complex(1, NAN), complex(NAN, 1), 3, NAN, 4, 1.0]),
    "infinite": np.asarray([np.inf, 1, -np.inf, np.inf, NAN]),
    "empty": np.asarray([]),
    "0-d": np.asarray(3),
}
ROWS = {
    "rows": np.asarray([[1, 0, 2], [0, 5, 1], [1, 0, 2], [0, 4, 9]]),
    "booleans": np.asarray([[True, False], [True, False], [False, True]]),
    "complex rows": np.asarray([[1, 2j], [1, 1j], [1, 2j], [0, 9]]),
    "NaN rows": np.asarray([[NAN, 2], [NAN, 1], [1, NAN], [1, 2], [NAN, 1], [1, 2]]),
    "blocks": np.random.default_rng(0).integers(0, 2, (6, 2, 5)),
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((3, 0)),
}
OPTIONS = ("return_index", "return_inverse", "return_counts")
EVERYTHING = dict.fromkeys(OPTIONS, True)


def check(library, host, options, axis=None):
    want = np.unique(host, **options, axis=axis)
    found = xo.unique(library.array(host), **options, axis=axis)
    assert isinstance(found, tuple) == isinstance(want, tuple)
    wanted, got = (each if isinstance(each, tuple) else (each,) for each in (want, found))
    assert len(got) == len(wanted)
    for w, g in zip(wanted, map(library.host, got), strict=True):
        np.testing.assert_array_equal(g, w)
        assert g.dtype == w.dtype


class TestUnique:
    @pytest.mark.parametrize("name", ARRAYS)
    def test_elements(self, library, name):
        check(library, ARRAYS[name], {})
        check(library, ARRAYS[name], EVERYTHING)

    @pytest.mark.parametrize("name", ROWS)
    def test_slices(self, library, name):
        check(library, ROWS[name], EVERYTHING, axis=0)
        check(library, np.swapaxes(ROWS[name], 0, 1), EVERYTHING, axis=1)

    def test_every_combination_of_results(self, library):
        for given in itertools.product((False, True), repeat=3):
            check(library, ARRAYS["integers"], dict(zip(OPTIONS, given, strict=True)))

    def test_functions_of_the_standard_are_sorted(self, library):
        for name in ("integers", "complex", "uint64", "0-d"):
            x, want = library.array(ARRAYS[name]), np.unique(ARRAYS[name])
            np.testing.assert_array_equal(library.host(xo.unique_values(x)), want)
            for function in (xo.unique_all, xo.unique_counts, xo.unique_inverse):
                np.testing.assert_array_equal(library.host(function(x)[0]), want)

    def test_every_nan_is_distinct_in_the_standard(self, library):
        found = library.host(xo.unique_values(library.array(ARRAYS["NaN"])))
        np.testing.assert_array_equal(found, np.unique(ARRAYS["NaN"], equal_nan=False))

    def test_the_first_complex_nan_is_the_value(self, library):
        host = np.asarray([2, complex(NAN, 1), complex(1, NAN), complex(0, NAN), NAN, 1, complex(NAN, 1)])
        x = library.array(host.reshape(7, 1))
        x = x.rechunk((2, 1)) if library.name == "dask" else x
        for given in itertools.product((False, True), repeat=3):
            options = dict(zip(OPTIONS, given, strict=True))
            found = xo.unique(x, **options)
            values, *others = map(library.host, found if isinstance(found, tuple) else (found,))
            assert values.tolist()[:2] == [1, 2]
            assert (np.isnan(values[2].real), values[2].imag) == (True, 1)
            want = ([5, 0, 1], [[1], [2], [2], [2], [2], [0], [2]], [1, 1, 5])
            for other, wanted in zip(others, itertools.compress(want, given), strict=True):
                assert other.tolist() == wanted

    def test_an_axis_out_of_bounds_raises(self, library):
        with pytest.raises((IndexError, ValueError)):
            xo.unique(library.array(ROWS["rows"]), axis=2)


class TestGeneric:
    @pytest.mark.parametrize("name", [*ARRAYS, *ROWS])
    def test_the_generic_function_is_that_of_numpy(self, name):
        host, axis = (ARRAYS[name], None) if name in ARRAYS else (ROWS[name], 0)
        got = sets.unique(xo.backend("numpy").namespace, host, **EVERYTHING, axis=axis)
        for g, w in zip(got, np.unique(host, **EVERYTHING, axis=axis), strict=True):
            np.testing.assert_array_equal(g, w)


class TestTraced:
    def test_jax_raises_an_error_of_ours(self):
        jax = pytest.importorskip("jax")
        with pytest.raises(xo.Unsupported, match="shape of the result depends on values"):
            jax.jit(xo.unique)(jax.numpy.arange(3))

    def test_dask_is_lazy(self):
        pytest.importorskip("dask")
        x = xo.convert(ARRAYS["integers"], "dask")
        assert all(xo.is_lazy(each) for each in xo.unique(x, **EVERYTHING))
        assert all(xo.is_lazy(each) for each in xo.unique(xo.reshape(x, (9, 2)), **EVERYTHING, axis=1))
