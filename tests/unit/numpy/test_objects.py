"""Objects that are no arrays: buffers, columns, images. xarrayops.numpy takes what NumPy takes; xo says what works."""

import array
import inspect
import re

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as ours
from xarrayops.errors import XArrayOpsError

LIBRARIES = ("numpy", "torch", "jax", "dask")
NUMBERS = numpy.asarray([3.0, 1.0, 2.0])


class Column:
    """A column as those of pandas, polars, h5py and Arrow: ``__array__`` alone."""

    def __init__(self, values):
        self.values = numpy.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)

    def __getitem__(self, index):
        return Column(self.values[index])


class Image:
    """An image as those of PIL: ``__array_interface__`` alone."""

    def __init__(self, values):
        self.values = values
        self.__array_interface__ = values.__array_interface__


class Nullable(Column):
    """An array as those of Arrow with nulls: ``__dlpack__`` raises an error of the library's own."""

    def __dlpack__(self, **options):
        raise LookupError("Can only use DLPack on arrays with no nulls.")

    def __dlpack_device__(self):
        return 1, 0


OBJECTS = {
    "column": Column(NUMBERS),
    "column of integers": Column([3, 1, 2]),
    "column of booleans": Column([True, False]),
    "table": Column(NUMBERS.reshape(1, 3)),
    "image": Image(numpy.arange(12, dtype="uint8").reshape(3, 4)),
    "nullable": Nullable(NUMBERS),
    "bytearray": bytearray(b"ab"),
    "memoryview": memoryview(b"ab"),
    "memoryview of numbers": memoryview(NUMBERS),
    "array.array": array.array("h", [1, 2]),
    "range": range(3),
    "list of columns": [Column(NUMBERS), Column(NUMBERS)],
}
OTHERS = {
    "column of text": Column(["a", "b"]),
    "column of objects": Column(numpy.asarray(["a", None], dtype=object)),
    "column of dates": Column(numpy.asarray(["2020-01-01"], "datetime64[D]")),
    "text": "ab",
    "bytes": b"ab",
    "set": {1, 2},
    "dict": {"a": 1},
    "class": int,
    "function": len,
    "object": object(),
}
"""Objects that hold no numbers."""


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", OBJECTS)
def test_objects_become_arrays_of_the_library_as_in_numpy(name, library):
    pytest.importorskip(library)
    obj, wanted = OBJECTS[name], numpy.asarray(OBJECTS[name])
    context = __import__("jax").enable_x64(True) if library == "jax" else numpy.errstate()
    with context, xo.use(library):
        for found in (ours.asarray(obj), ours.array(obj), ours.max(obj, keepdims=True), ours.atleast_1d(obj)):
            assert xo.backend(found).name == library
            assert numpy.asarray(xo.convert(xo.compute(found), "numpy")).dtype == wanted.dtype
        assert numpy.array_equal(xo.convert(xo.compute(ours.asarray(obj)), "numpy"), wanted)


WRITTEN = ("copyto", "place", "put", "putmask", "fill_diagonal", "put_along_axis")
"""Functions that write into their first argument, which must be an array."""


def test_first_arguments_may_be_such_objects():
    """Each function that takes one array gives the same for a column and for its values."""
    column, compared = Column(NUMBERS), 0
    for name in dir(ours):
        function = getattr(ours, name)
        if not (inspect.isfunction(function) or isinstance(function, ours.ufunc)) or name in (*WRITTEN, "empty_like"):
            continue
        try:
            wanted = function(NUMBERS.copy())
            getattr(numpy, name)(column)
        except Exception:
            continue  # it needs more arguments, or a matrix; or NumPy's needs an array
        if name not in ("isscalar", "iterable"):
            assert repr(function(column)) == repr(wanted), name
            compared += 1
    assert compared > 130


@pytest.mark.parametrize("name", [*OBJECTS, *OTHERS])
@pytest.mark.parametrize(
    "call",
    [
        lambda obj: xo.asarray(obj),
        lambda obj: xo.sum(obj),
        lambda obj: xo.add(numpy.ones(1), obj),
        lambda obj: xo.concat([numpy.ones(1), obj]),
        lambda obj: xo.convert(obj, "numpy"),
        lambda obj: xo.from_dlpack(obj),
        lambda obj: xo.sparse.from_dense(obj),
    ],
)
def test_errors_of_xo_advise_calls_that_work(name, call):
    obj = {**OBJECTS, **OTHERS}[name]
    try:
        call(obj)
    except (XArrayOpsError, TypeError) as error:
        text = str(error)
    except LookupError:
        return  # what the object's own __dlpack__ raises
    else:
        return
    advised = re.search(r"Instead: (xo\.asarray\(.*?\))(?=[.,]? ?(with|$|\.))", text)
    assert (advised is not None) == (name in OBJECTS), text
    if advised:
        names = {
            **dict.fromkeys(("x", "obj", "x2", "dense"), obj),
            "arrays": [NUMBERS, obj],
            "x1": NUMBERS,
            "y": NUMBERS,
        }
        names |= {"x": NUMBERS} if "like=x)" in advised[1] else {}
        assert xo.sum(eval(advised[1], {"xo": xo, "numpy": numpy, **names})) is not None
