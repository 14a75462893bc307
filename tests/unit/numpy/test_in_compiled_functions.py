"""Functions of numbers and of NumPy's arrays inside functions that PyTorch compiles, where arrays are tensors."""

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as np

torch = pytest.importorskip("torch")

TABLE = numpy.arange(8.0)
NUMBERS = [1.0, 2.0, 3.0]
OF_NUMBERS = {
    "a root": lambda x: x * np.sqrt(2.0),
    "an angle": lambda x: x * np.deg2rad(30.0),
    "an integer": lambda x: x * np.abs(-3),
    "two operands": lambda x: x * np.hypot(3.0, 4.0),
    "two integers": lambda x: x * np.power(2, 3) + np.mod(7, 3),
    "two results": lambda x: x * np.modf(2.5)[0],
    "a dtype": lambda x: x * np.sqrt(2.0, dtype=np.float64),
    "a Python integer": lambda x: x * int(np.ceil(x.shape[0] / 3)),
    "a branch": lambda x: x if not np.isnan(2.0) else -x,
    "limits": lambda x: x * np.clip(2.0, 0, 1),
    "a rounded number": lambda x: x * np.round(2.5),
    "a list": lambda x: x * np.sum([1, 2]),
    "a shape": lambda x: x * np.prod(x.shape),
    "a cast": lambda x: x * np.float32(3),
    "limits of a dtype": lambda x: x * np.finfo(x.dtype).eps + np.iinfo(np.int8).max,
    "promotion": lambda x: x * (2 if np.result_type(x, 3) == np.float32 else 3),
    "common type": lambda x: x * (2 if np.common_type(x) == np.float32 else 3),
    "an array of numbers": lambda x: np.asarray(NUMBERS, like=x) + x[:3],
    "new arrays": lambda x: np.arange(8, like=x) + np.zeros(8, like=x) + np.linspace(0, 1, 8, like=x) + x,
    "an array of NumPy": lambda x: np.asarray(TABLE, like=x) * x,
    "an array of NumPy in a dtype": lambda x: xo.asarray(TABLE, like=x, dtype="float32") * x,
}


@pytest.mark.parametrize("f", OF_NUMBERS.values(), ids=OF_NUMBERS)
def test_values_and_dtypes(f):
    x = torch.arange(1.0, 9.0)
    expected = f(x)
    for compiled in (torch.compile(f, fullgraph=True, backend="eager"), xo.jit(f)):
        torch._dynamo.reset()
        found = compiled(x)
        assert found.dtype == expected.dtype
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=0.0)


@pytest.mark.parametrize("table", [TABLE[::-1], TABLE.astype(">f8")], ids=["negative strides", "big endian"])
def test_arrays_that_the_tracer_cannot_read(table):
    """PyTorch's tracer makes a tensor of every array of NumPy before xarrayops sees it."""
    x = torch.ones(8)
    assert torch.equal(np.asarray(table, like=x), torch.asarray(table.astype("f8")))
    with pytest.raises(torch._dynamo.exc.Unsupported, match="convert numpy"):
        torch.compile(lambda x: np.asarray(table, like=x), fullgraph=True, backend="eager")(x)
