"""The family of errors: what each is besides, and that every message says what was asked, why not, and what to do."""

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo

N = np.ones((2, 3), dtype=np.float32)
S = xps.ones((2, 3))
READ_ONLY = np.ones(2)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("error", "besides"),
    [
        (xo.BackendNotFound, LookupError),
        (xo.MixedBackends, TypeError),
        (xo.Unsupported, NotImplementedError),
        (xo.ExchangeError, BufferError),
        (xo.LayoutError, ValueError),
        (xo.InvalidSparse, ValueError),
        (xo.InvalidBackend, Exception),
    ],
)
def test_the_family(error, besides):
    assert issubclass(error, xo.XArrayOpsError)
    assert issubclass(error, besides)


CASES = {
    "mixed": (
        lambda: xo.matmul(N, S),
        xo.MixedBackends,
        ("xo.matmul", "x1 is a numpy array on cpu", "x2 is a array_api_strict array", "xo.convert(x2, "),
    ),
    "mixed dtype": (
        lambda: xo.astype(N, xps.float32),
        xo.MixedBackends,
        ("array_api_strict.float32", "belongs to array_api_strict", "runs on numpy", '"float32"'),
    ),
    "list": (lambda: xo.exp([1.0]), xo.BackendNotFound, ("xo.exp", "argument x", "list", "xo.asarray(x)")),
    "none": (lambda: xo.exp(None), xo.BackendNotFound, ("xo.exp", "argument x", "None", "must be an array")),
    "no array": (lambda: xo.add(1, 2), xo.BackendNotFound, ("xo.add", "x1=1, x2=2", "needs an array")),
    "masked": (
        lambda: xo.exp(np.ma.array([1.0])),
        xo.Unsupported,
        ("xo.exp", "argument x", "MaskedArray", "mask", "Instead: x.filled(value)"),
    ),
    "no backend": (
        lambda: xo.zeros(2, backend="nunpy"),
        xo.BackendNotFound,
        ("'nunpy'", "known: ", "numpy", "namespace"),
    ),
    "no dtype": (
        lambda: xo.astype(S, "float16"),
        xo.Unsupported,
        ("array_api_strict", "'float16'", "it has bool, int8"),
    ),
    "unknown dtype": (
        lambda: xo.zeros(2, dtype="float31"),
        xo.Unsupported,
        ("numpy", "'float31'", "the names are bool"),
    ),
    "no device": (
        lambda: xo.zeros(2, device="gpu"),
        xo.Unsupported,
        ("numpy", "'gpu'", "it has: cpu", "live on the cpu"),
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
    "no values": (lambda: xo.asarray({1: 2}), xo.BackendNotFound, ("xo.asarray", "dict", "nested lists")),
    "no verb": (lambda: xo.explain("matmull", N), xo.Unsupported, ("xo.explain", "'matmull'", "did you mean 'matmul'")),
}


@pytest.mark.parametrize(("call", "error", "words"), CASES.values(), ids=CASES)
def test_messages(call, error, words):
    with pytest.raises(error) as caught:
        call()
    text = str(caught.value)
    for word in words:
        assert word in text
