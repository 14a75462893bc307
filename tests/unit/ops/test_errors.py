"""The error classes: their built-in bases, and messages with the call, the reason and what to do instead."""

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo

N = np.ones((2, 3), dtype=np.float32)
S = xps.ones((2, 3))
READ_ONLY = np.ones(2)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (xo.BackendNotFound, LookupError),
        (xo.NotAnArray, xo.BackendNotFound),
        (xo.NotAnArray, TypeError),
        (xo.MixedBackends, TypeError),
        (xo.Unsupported, NotImplementedError),
        (xo.ExchangeError, BufferError),
        (xo.LayoutError, ValueError),
        (xo.InvalidSparse, ValueError),
        (xo.InvalidBackend, Exception),
    ],
)
def test_base_classes(error, base):
    assert issubclass(error, xo.XArrayOpsError)
    assert issubclass(error, base)


CASES = {
    "mixed": (
        lambda: xo.matmul(N, S),
        xo.MixedBackends,
        (
            "xo.matmul",
            "x1: numpy float32 (2, 3) on cpu; x2: array_api_strict float64 (2, 3) on ",
            "x1 -> xo.convert(x1, x2)",
        ),
    ),
    "mixed dtype": (
        lambda: xo.astype(N, xps.float32),
        xo.MixedBackends,
        ("array_api_strict.float32", "belongs to array_api_strict", "the call uses numpy", 'by the string "float32"'),
    ),
    "foreign dtype": (
        lambda: xo.zeros(2, dtype=np.float64, backend=xps),
        xo.MixedBackends,
        ("belongs to numpy", 'Instead: name the dtype by the string "float64"'),
    ),
    "rule for bins": (
        lambda: xo.histogram(N, "auto"),
        xo.BackendNotFound,
        ("xo.histogram: argument bins is a str", "np.histogram_bin_edges(", "'auto'), like=x)"),
    ),
    "list": (
        lambda: xo.exp([1.0]),
        xo.BackendNotFound,
        ("xo.exp", "argument x", "list", "Instead: xo.asarray(x, like=y), with y an array of your library"),
    ),
    "list beside an array": (
        lambda: xo.vecdot(N, [0, 1]),
        xo.BackendNotFound,
        ("xo.vecdot", "argument x2", "list", "Instead: xo.asarray(x2, like=x1)."),
    ),
    "string beside an array": (lambda: xo.add(N, "a"), xo.BackendNotFound, ("argument x2 is a str", "known library.")),
    "number": (
        lambda: xo.log(6.4),
        xo.BackendNotFound,
        ("xo.log", "argument x is 6.4", "Instead: math.log(6.4), or xo.log(xo.asarray(6.4, like=x)) with x an array"),
    ),
    "number without a function in math": (
        lambda: xo.sum(6.4),
        xo.BackendNotFound,
        ("xo.sum", "argument x is 6.4", "Instead: xo.asarray(6.4, like=x), with x an array of your library"),
    ),
    "absolute of a number": (lambda: xo.abs(-2), xo.BackendNotFound, ("Instead: abs(-2), or xo.abs(xo.asarray(-2",)),
    "complex number": (lambda: xo.exp(1j), xo.BackendNotFound, ("Instead: xo.asarray(1j, like=x), with x an array",)),
    "none": (lambda: xo.exp(None), xo.BackendNotFound, ("xo.exp", "argument x", "None", "must be an array")),
    "no array": (
        lambda: xo.add(1, 2),
        xo.BackendNotFound,
        ("xo.add", "x1=1, x2=2", "needs an array", "xo.asarray(1, like=x)"),
    ),
    "masked": (
        lambda: xo.exp(np.ma.array([1.0])),
        xo.Unsupported,
        ("xo.exp", "argument x", "MaskedArray", "mask", "Instead: x.filled(value)"),
    ),
    "no backend": (
        lambda: xo.zeros(2, backend="nunpy"),
        xo.BackendNotFound,
        ("'nunpy'", "it has ", "did you mean 'numpy'?", "namespace"),
    ),
    "no dtype": (
        lambda: xo.astype(S, "float16"),
        xo.Unsupported,
        ("array_api_strict", "'float16'", "it has bool, int8"),
    ),
    "unknown dtype": (
        lambda: xo.zeros(2, dtype="float31"),
        xo.Unsupported,
        ("numpy has no dtype 'float31': it has bool, int8", "did you mean 'float32'?"),
    ),
    "code of a dtype": (
        lambda: xo.zeros(2, dtype="f4"),
        xo.Unsupported,
        ("'f4' is not the name of a dtype here. Instead: 'float32'",),
    ),
    "NumPy's name of a dtype": (lambda: xo.astype(S, "double"), xo.Unsupported, ("'double' is not", "'float64'")),
    "called dtype": (
        lambda: xo.float64(3),
        TypeError,
        ("xo.float64 is the name of a dtype, not a function. Instead: ",),
    ),
    "library as like": (lambda: xo.zeros(2, like="torch"), xo.BackendNotFound, ("Instead: backend='torch'.",)),
    "namespace as like": (lambda: xo.zeros(2, like=xps), xo.BackendNotFound, ("a module. Instead: backend= with it.",)),
    "list as like": (lambda: xo.zeros(2, like=[1.0]), xo.BackendNotFound, ("it is a list.",)),
    "einsum with lists": (
        lambda: xo.einsum(N, [0, 1], N, [2, 1]),
        TypeError,
        ("xo.einsum does not take lists of axes. Instead: xo.einsum('ab,cb', x1, x2)",),
    ),
    "einsum with a result": (lambda: xo.einsum(N, [0, ...], [..., 0]), TypeError, ("xo.einsum('a...->...a', x1)",)),
    "einsum without a string": (lambda: xo.einsum(N, [[0]]), TypeError, ("subscripts must be a string such as",)),
    "number as index": (lambda: xo.at(N)[1.0].get(), xo.Unsupported, ("Instead: int(index)",)),
    "floating index": (lambda: xo.at(N)[N].get(), xo.Unsupported, ('Instead: xo.astype(index, "int64")',)),
    "slice in a list": (lambda: xo.at(N)[[slice(2)]].get(), xo.Unsupported, ("Instead: a tuple instead",)),
    "at without index": (
        lambda: xo.at(N).set(1),
        AttributeError,
        ("no set. Instead: xo.at(x)[index].set; the index ...",),
    ),
    "copy of at": (lambda: xo.at(N, copy=None)[0], TypeError, ("Instead: xo.at(x)[index].set(value, copy=None)",)),
    "update with JAX's name": (lambda: xo.at(N)[0].mul(2), AttributeError, ("Instead: xo.at(x)[index].multiply",)),
    "unknown update": (lambda: xo.at(N)[0].foo(2), AttributeError, ("no foo: it has get, assign, set, add, subtract",)),
    "no device": (
        lambda: xo.zeros(2, device="gpu"),
        xo.Unsupported,
        ("numpy has no device 'gpu': it has cpu",),
    ),
    "exchange": (
        lambda: xo.convert(READ_ONLY, xps, copy=False),
        xo.ExchangeError,
        (
            "xo.convert(numpy array of shape (2,) and dtype float64, 'array_api_strict', copy=False)",
            "read-only memory",
            "Instead: copy=None",
        ),
    ),
    "update": (lambda: xo.at(READ_ONLY)[0].set(1, copy=False), xo.Unsupported, ("read-only", "Instead: copy=None")),
    "no producer": (
        lambda: xo.from_dlpack(3),
        xo.ExchangeError,
        ("xo.from_dlpack", "__dlpack__", "int", "xo.asarray(x)"),
    ),
    "no values": (
        lambda: xo.asarray({1: 2}),
        xo.BackendNotFound,
        ("xo.asarray", "dict", "a nested list or tuple of numbers"),
    ),
    "list of axes": (lambda: xo.mean(N, axis=[0, 1]), TypeError, ("xo.mean: axis is a list. Instead: axis=(0, 1)",)),
    "list of one axis": (lambda: xo.argmax(N, axis=[0]), TypeError, ("xo.argmax(numpy", "'list' object")),
    "no verb": (lambda: xo.explain("matmull", N), xo.Unsupported, ("xo.explain", "'matmull'", "did you mean 'matmul'")),
}


@pytest.mark.parametrize(("call", "error", "words"), CASES.values(), ids=CASES)
def test_messages(call, error, words):
    with pytest.raises(error) as caught:
        call()
    text = str(caught.value)
    for word in words:
        assert word in text
    assert "did you mean 'cpu'" not in text


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_messages_for_misspelt_dtypes_and_devices(library):
    """The message has the same form for every library: one sentence, which may suggest a name."""
    pytest.importorskip(library)
    with pytest.raises(xo.Unsupported) as error:
        xo.zeros(3, dtype="flaot32", backend=library)
    assert str(error.value).startswith(f"xo.zeros(3): {library} has no dtype 'flaot32': it has bool, int8, ")
    assert str(error.value).endswith("; did you mean 'float32'?")
    assert str(error.value).count("flaot32") == 1
    for device, meant in (("cpuu", "cpu"), ("zzz", "")):
        with pytest.raises(xo.Unsupported) as error:
            xo.zeros(3, device=device, backend=library)
        text = str(error.value)
        assert text.startswith(f"xo.zeros(3): {library} has no device '{device}': it has cpu")
        assert text.count(device) == 1
        assert (f"did you mean '{meant}" in text) == bool(meant)


class ArrayWithoutAttributes:
    """An array whose attributes all raise, like a tracer without a value."""

    def __array_namespace__(self, *, api_version=None):
        return xps

    def __getattr__(self, name):
        raise RuntimeError(f"no {name} yet")


def test_arrays_whose_attributes_raise_do_not_hide_the_error():
    with pytest.raises(xo.MixedBackends, match=r"x1: numpy float32 \(2, 3\) on cpu; x2: array_api_strict\. Convert"):
        xo.add(N, ArrayWithoutAttributes())


def test_tracers_are_described_without_a_device():
    jax = pytest.importorskip("jax")

    def mixed(x):
        with pytest.raises(xo.MixedBackends, match=r"x1: jax float32 \(3,\); x2: numpy float32 \(2, 3\) on cpu"):
            xo.add(x, N)
        return x

    jax.jit(mixed)(jax.numpy.ones(3, dtype="float32"))
