"""Arguments that are wrong in every library have one error."""

import numpy as np
import pytest

import xarrayops as xo


class TestKindsOfDtypes:
    def test_classes_of_python_are_the_dtypes_of_numpy(self, library):
        for name in ("bool", "int32", "int64", "float32", "float64", "complex128"):
            dtype = library.array(np.zeros(1, dtype=name)).dtype
            for kind in (bool, int, float, complex):
                assert xo.isdtype(dtype, kind) is (np.dtype(name) == np.dtype(kind))
            assert xo.isdtype(dtype, (int, "real floating")) is (name in ("int64", "float32", "float64"))

    def test_other_kinds(self, library):
        dtype = library.array(np.zeros(1)).dtype
        with pytest.raises(TypeError, match=r"^xo\.isdtype: .*numpy\.floating.* Instead: \"real floating\"$"):
            xo.isdtype(dtype, np.floating)
        for kind in (None, 5, str, ["real floating"], (float, 1.0)):
            with pytest.raises(TypeError, match=r"^xo\.isdtype: the kind must be a dtype or a string"):
                xo.isdtype(xo.astype(library.array([1]), "int8").dtype, kind)
        with pytest.raises(ValueError, match=r"^xo\.isdtype: 'floating' is neither a kind nor a dtype"):
            xo.isdtype(dtype, "floating")


def test_a_cast_needs_a_dtype(library):
    for host in (np.zeros(2), np.zeros(2, dtype="float32"), np.asarray(1)):
        with pytest.raises(TypeError, match=r'^xo\.astype: dtype is None\. Instead: .*xo\.astype\(x, "float64"\)'):
            xo.astype(library.array(host), None)


def test_shapes_of_unknown_sizes():
    pytest.importorskip("dask")
    x = xo.asarray([3, 1, 3], backend="dask")
    size = xo.unique_values(x).shape[0]
    for create, args in (
        (xo.zeros, ((3, size),)),
        (xo.ones, (size,)),
        (xo.empty, ([size, 3],)),
        (xo.full, ((3, size), 1.0)),
        (xo.full, ((3, size), x[0])),
        (xo.eye, (3, size)),
    ):
        with pytest.raises(
            xo.Unsupported, match=r"^xo\.\w+\(.*\): the shape .* must be known, .*xo\.compute.*compute_chunk_sizes"
        ):
            create(*args, like=x)
    assert np.isnan(xo.compute(xo.full(3, xo.nan, like=x))).all()


def test_no_elements_have_no_maximum(library):
    for shape, axis in (((0,), None), ((0,), 0), ((0, 3), 0), ((2, 0), None), ((2, 0), -1)):
        x = library.array(np.zeros(shape))
        for function in (xo.max, xo.min, xo.argmax, xo.argmin):
            with pytest.raises(ValueError):  # noqa: PT011 - the texts are the libraries'
                xo.compute(function(x, axis=axis))
    assert library.host(xo.max(library.array(np.zeros((0, 3))), axis=1)).shape == (0,)


def test_sizes_are_integers(library):
    x = library.array(np.zeros(1))
    for size in (2.0, (2.0,), [2, 1.5]):
        for create in (xo.zeros, xo.ones, xo.empty, lambda size, **options: xo.full(size, 1, **options)):
            with pytest.raises(TypeError):
                create(size, like=x)
