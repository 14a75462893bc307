"""like= of every function that creates arrays, and shifts of roll: all libraries give what NumPy gives."""

import inspect
from fractions import Fraction
from itertools import product

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as ours
from tests.unit.numpy.conftest import as_numpy, leaves, with_64_bits

LIBRARIES = ("numpy", "torch", "jax", "dask")
CREATION = {
    "arange": "4",
    "array": "[1.0, 2.0]",
    "asanyarray": "[1.0, 2.0]",
    "asarray": "[1.0, 2.0]",
    "ascontiguousarray": "[1.0, 2.0]",
    "asfortranarray": "[[1.0, 2.0]]",
    "bartlett": "5",
    "blackman": "5",
    "empty": "(2, 0)",
    "eye": "3",
    "fft.fftfreq": "5, 0.5",
    "fft.rfftfreq": "5, 0.5",
    "frombuffer": "bytes(8), 'uint8'",
    "fromfunction": "lambda i, j: i + j, (2, 3)",
    "fromiter": "range(3), 'int64'",
    "full": "(2, 3), 7.5",
    "geomspace": "1, 8, 4",
    "hamming": "5",
    "hanning": "5",
    "identity": "3",
    "indices": "(2, 3)",
    "kaiser": "5, 2.0",
    "linspace": "0, 1, 5",
    "logspace": "0, 1, 5",
    "ones": "(2, 3)",
    "require": "[1.0, 2.0]",
    "tri": "3",
    "zeros": "(2, 3)",
}
"""The arguments of every function that has like=."""
WITH_STRIDES = ("ascontiguousarray", "asfortranarray")
"""Functions for libraries whose arrays have strides."""
OTHER_CALLS = (
    "np.linspace([0, 1], [5, 6], 4{})",
    "np.linspace(0, 1j, 4{})",
    "np.logspace(0, 1, 4, base=[2.0, 3.0]{})",
    "np.geomspace(-1, -8, 4{})",
    "np.geomspace([1, 2], [8, 9], 4{})",
    "np.geomspace(1, 8, 4, dtype='complex128'{})",
)


@pytest.mark.parametrize("library", LIBRARIES)
def test_functions_that_create_arrays_take_like(library):
    pytest.importorskip(library)
    names = [name for name in CREATION if library in ("numpy", "torch") or name not in WITH_STRIDES]
    calls = [f"np.{name}({CREATION[name]}{{}})" for name in names] + [*OTHER_CALLS]
    with with_64_bits(library):
        x = xo.convert(numpy.ones(2), library, copy=True)
        for call in calls:
            found = leaves(eval(call.format(", like=x"), {"np": ours, "x": x}))
            wanted = leaves(eval(call.format(""), {"np": numpy}))
            for each, y in zip(found, wanted, strict=True):
                assert xo.backend(each).name == library, call
                assert as_numpy(each).dtype == y.dtype, call
                numpy.testing.assert_allclose(as_numpy(each), y, rtol=1e-14, atol=1e-15, err_msg=call)
        assert xo.backend(ours.random.default_rng(0, like=x).random(2)).name == library


def test_the_table_has_every_function_with_like():
    found = {
        f"{prefix}{name}"
        for prefix, module in (("", ours), ("fft.", ours.fft))
        for name in dir(module)
        if inspect.isfunction(getattr(module, name)) and "like" in inspect.signature(getattr(module, name)).parameters
    }
    assert found == CREATION.keys()
    theirs = {name for name in dir(numpy) if "like=" in str(getattr(getattr(numpy, name), "__text_signature__", ""))}
    assert theirs & {*dir(ours)} <= found


def test_like_must_be_an_array():
    for name, given in CREATION.items():
        with pytest.raises(TypeError, match="like"):
            eval(f"np.{name}({given}, like=float)", {"np": ours})


def test_numbers_and_sequences_are_references_too():
    torch = pytest.importorskip("torch")
    for like in (None, 1, 2.5, [1], (), [[2.0]], Fraction(1, 2), numpy.ones(2)):
        assert type(ours.zeros(2, like=like)) is numpy.ndarray
    assert isinstance(ours.zeros(2, like=[1, torch.ones(2)]), torch.Tensor)
    with xo.use("torch"):
        assert isinstance(ours.zeros(2, like=3), torch.Tensor)


SHIFTS = (0, 3, -2, (1,), (1, 2), [3], [1, -5], (1, 2, 3), ())
AXES = (None, 0, -1, (0,), (1, 0), (0, 0), (-1, 1, 2), ())


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("shape", [(2, 3, 4), (0, 3, 2)])
def test_shifts_and_axes_of_roll_broadcast(library, shape):
    pytest.importorskip(library)
    values = numpy.arange(numpy.prod(shape), dtype="float32").reshape(shape)
    x, compared = xo.convert(values.copy(), library, copy=True), 0
    for shift, axis in product(SHIFTS, AXES):
        try:
            wanted = numpy.roll(values, shift, axis)
        except ValueError:
            for roll in (ours.roll, xo.roll):
                with pytest.raises(ValueError, match=r"broadcast|shape mismatch"):
                    roll(x, shift, axis=axis)
            continue
        for roll in (ours.roll, xo.roll):
            numpy.testing.assert_array_equal(as_numpy(roll(x, shift, axis=axis)), wanted, f"{shift}, {axis}")
            compared += 1
    assert compared > 80
