"""The analysis of values is right: compared with NumPy itself."""

import ast

import numpy as np
import pytest

from xarrayops.port.source.names import Names
from xarrayops.port.source.value import ARRAY, SCALAR, SEQUENCE
from xarrayops.port.source.values import Values

SETUP = """import numpy as np
v = np.zeros(4)
w = np.ones(4, dtype=np.float32)
i = np.arange(4)
m = np.ones((3, 4))
c = np.array([1j, 2.0])
b = np.array([True, False, True, False])
n = 3
t = (2, 3)
"""
EXPRESSIONS = """
v + 1; v + i; w * 2; w * 2.0; w + v; i / 2; i // 2; i * 0.5; i ** 2; b & b; ~b; -v; v > 1; v == i; w == w; n + 1; n / 2; n * 2.5
v[0]; v[1:3]; v[::2]; v[None]; v[:, None]; v[b]; v[i]; v[[0, 1]]; v[...]; m[0]; m[0, 0]; m[:, 0]; m[1:, ::2]; m[b[:3]]; m[n - 1]; m[0][1]; m[:, i]
np.sum(v); np.sum(m, axis=0); m.sum(1); m.sum(axis=(0, 1)); m.sum(); m.mean(axis=0); i.sum(); i.mean(); b.sum(); w.sum(); w.mean(); np.max(i); m.max(axis=0, keepdims=True); m.std(0); v.any(); np.all(b); b.all(); np.argmax(v); m.argmax(axis=1)
np.exp(v); np.sqrt(i); np.exp(w); np.abs(c); np.maximum(v, 0); np.maximum(i, 0.5); np.hypot(w, w); np.isnan(v); np.logical_not(v); np.arctan2(v, w); np.sqrt(2.0); np.sqrt(2)
np.zeros(3); np.zeros((2, 3)); np.zeros(t); np.zeros(m.shape); np.zeros((2, 3), dtype=int); np.zeros((2, 3), np.float32); np.zeros(3, "f4"); np.ones(3, bool); np.full(3, 1); np.full((2, 2), 1.0); np.eye(3); np.identity(3); np.empty((2, 2)); np.arange(3); np.arange(3.0); np.arange(0, 1, 0.1); np.linspace(0, 1, 5); np.zeros_like(w); np.ones_like(m, dtype=int); np.array([1, 2]); np.array([1.0, 2]); np.array([[1, 2], [3, 4]]); np.array(v); np.asarray(v); np.asarray([1, 2]); np.array([1, 2], dtype=np.float32); np.array(2.0); np.array([v, v])
m.T; m.reshape(4, 3); m.reshape(-1); m.reshape((2, 6)); np.reshape(m, (2, 6)); np.reshape(m, -1); m.ravel(); np.ravel(m); m.flatten(); m.copy(); m.astype(int); m.astype(np.float32); m.astype("int32"); np.transpose(m); m.transpose(1, 0); np.squeeze(m); np.expand_dims(v, 0); np.broadcast_to(v, (3, 4)); np.flip(v); np.roll(v, 1); np.clip(v, 0, 1); v.clip(0, 1); np.sort(v); np.argsort(v); np.cumsum(i); np.cumsum(w); np.moveaxis(m, 0, 1); m.real; c.real; c.imag; np.real(c); np.conj(c); m.swapaxes(0, 1); np.atleast_2d(v); np.diag(v)
m @ v; v @ v; m.T @ m; np.dot(m, v); np.dot(v, v); np.matmul(m, m.T); np.einsum("ij,j->i", m, v); np.outer(v, v); np.linalg.norm(v); np.linalg.inv(np.eye(3)); np.fft.fft(v); np.fft.fft(w)
np.concatenate([v, v]); np.concatenate((v, i)); np.stack([v, v]); np.stack([v, w]); np.hstack([v, v]); np.vstack([v, v]); np.where(b, v, 0); np.where(b, i, i); np.where(b, i, 0.5); np.where(b); np.nonzero(v); np.unique(v); np.tile(v, 2); np.repeat(v, 2); np.split(v, 2); np.meshgrid(v, v); np.searchsorted(v, v); np.bincount(i); np.median(v); np.take(v, i); np.isin(v, v); np.allclose(v, v); np.interp(v, v, v); np.pad(v, 1); np.triu(m); np.average(i)
len(v); float(v[0]); int(v[0]); v.shape; m.shape[0]; m.ndim; m.size; v.dtype; v.tolist(); v[0].item(); abs(v); abs(n); sum(v); max(v); min(1, 2); list(v); range(3); [v, v]; (v, 1); "text"; f"{v}"; 3.5; True; None; v is None; 1 in t; not v.any(); v if n else w; v if n else v; t[0]; [0] * 3; t + (1,); np.pi; np.newaxis; np.random.default_rng(0); np.random.rand(2, 3); np.errstate(); [x for x in v]; v.flat; v.view(); v.base; round(2.5); np.size(v); np.shape(v); np.ndim(v)
"""
CASES = [part.strip() for line in EXPRESSIONS.strip().splitlines() for part in line.split(";")]
VARIABLES = ("v", "w", "i", "m", "c", "b")


def followed(text):
    tree = ast.parse(text)
    return tree, Values(tree, Names(tree))


@pytest.mark.parametrize("expression", CASES)
def test_expressions(expression):
    """Every claim must be true; unknown properties are not claimed."""
    tree, values = followed(f"{SETUP}result = {expression}\n")
    claimed = values.of(tree.body[-1].value)
    variables = {}
    exec(SETUP, variables)
    actual = eval(expression, variables)
    is_array = isinstance(actual, np.ndarray | np.generic)
    if claimed.kind == ARRAY:
        assert is_array
        assert claimed.dtype in (None, actual.dtype.name)
        assert claimed.ndim in (None, actual.ndim)
    elif claimed.kind == SCALAR:
        assert isinstance(actual, bool | int | float | complex)
        assert claimed.dtype in (None, type(actual).__name__)
    elif claimed.kind == SEQUENCE:
        assert not is_array
        assert iter(actual) is not None
        assert claimed.items is None or len(claimed.items) == len(actual)
    elif claimed.kind == "other":
        assert not is_array
    arrays = actual if isinstance(actual, list | tuple) else [actual]
    shared = {
        name
        for name in VARIABLES
        for each in arrays
        if isinstance(each, np.ndarray) and np.shares_memory(each, variables[name])
    }
    assert shared <= claimed.views
    assert not (shared and claimed.fresh)


KNOWN = {
    ARRAY: "v + 1; m[0]; m.T; np.zeros(3); np.sum(v); m @ v; np.concatenate([v, v]); v[b]; abs(v)",
    SCALAR: "n; len(v); v.shape[0]; float(v[0]); n / 2",
}


@pytest.mark.parametrize(("kind", "expressions"), KNOWN.items())
def test_the_usual_expressions_are_known(kind, expressions):
    for expression in expressions.split("; "):
        tree, values = followed(f"{SETUP}result = {expression}\n")
        assert values.of(tree.body[-1].value).kind == kind, expression


def value_of(text, name="x"):
    """The value of the last use of a name as an expression statement."""
    tree, values = followed(text)
    uses = [
        n.value
        for n in ast.walk(tree)
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Name) and n.value.id == name
    ]
    return values.of(uses[-1])


@pytest.mark.parametrize(
    ("body", "kind", "dtype"),
    [
        ("x = np.zeros(3)\nif c:\n    x = np.ones(3)\nx", ARRAY, "float64"),
        ("x = np.zeros(3)\nif c:\n    x = 3\nx", "unknown", None),
        ("x = np.zeros(3)\nif c:\n    x = 3\n    raise ValueError\nx", ARRAY, "float64"),
        ("x = np.zeros(3)\nif c:\n    x = np.zeros(3, int)\nx", ARRAY, None),
        ("x = 0\nfor k in range(3):\n    x\n    x = x + np.zeros(3)", "unknown", None),
        ("x = np.zeros(3)\nwhile c:\n    x = x * 2\nx", ARRAY, "float64"),
        ("x, y = np.zeros(3), 2\nx", ARRAY, "float64"),
        ("for k, x in enumerate(np.zeros((3, 3))):\n    x", ARRAY, "float64"),
        ("for x in range(3):\n    x", SCALAR, "int"),
        ("for x, y in zip(range(3), np.zeros(3)):\n    x", SCALAR, "int"),
        ("try:\n    x = np.zeros(3)\nexcept ValueError:\n    x = None\nx", "unknown", None),
        ("with np.errstate(all='ignore'):\n    x = np.zeros(3)\nx", ARRAY, "float64"),
        ("x = np.zeros(3)\nwhile c:\n    if x[0]:\n        x = 3\n        break\nx", "unknown", None),
        ("x = y = z = np.zeros(3)\nfor k in range(9):\n    x\n    x, y, z = y, z, 3", "unknown", None),
        ("try:\n    x = np.zeros(3)\nexcept ValueError:\n    x = 3\n    raise\nx", ARRAY, "float64"),
        ("x = 3\ntry:\n    x = c()\n    x = np.zeros(3)\nfinally:\n    x", "unknown", None),
        ("x = np.zeros(3)\nmatch c:\n    case [x]:\n        x", "unknown", None),
        ("y, *x = np.zeros((3, 3))\nx = x[0]\nx", ARRAY, "float64"),
        ("x = 2\nx += 0.5\nx", SCALAR, "float"),
        ("x = np.zeros(3, np.float32)\nx += 1\nx", ARRAY, "float32"),
        ("def f(a):\n    return np.zeros(3)\nx = f(2)\nx", ARRAY, "float64"),
        ("def f(a):\n    return np.zeros(3), 2\nx, y = f(2)\nx", ARRAY, "float64"),
        ("def f(a):\n    return f(a - 1) if a else np.zeros(3)\nx = f(2)\nx", "unknown", None),
        ("def f(x):\n    x\n    return x.shape", ARRAY, None),
        ("def f(x):\n    x\n    x[0, :] = 1", ARRAY, None),
        ("def f(x):\n    x\n    return np.exp(x)", "unknown", None),
        ("def f(x):\n    x\n    return np.linalg.norm(x)", ARRAY, None),
        ("def f(x: np.ndarray):\n    x", ARRAY, None),
        ("def f(x: float):\n    x", SCALAR, "float"),
        ("def f(x=3):\n    x", SCALAR, "int"),
        ("class A:\n    def g(self):\n        self.y = np.zeros(3)\n        x = self.y\n        x", ARRAY, "float64"),
    ],
)
def test_statements(body, kind, dtype):
    value = value_of(f"import numpy as np\n{body}\n")
    assert (value.kind, value.dtype) == (kind, dtype)


def test_a_parameter_used_with_two_integers_is_a_guess():
    value = value_of("def f(x):\n    x\n    return x[0, 1]\n")
    assert (value.kind, value.certain) == (ARRAY, False)


def test_what_a_function_returns_shares_the_memory_of_its_argument():
    tree, values = followed(
        "import numpy as np\ndef f(a):\n    return a[1:, None]\nu = np.zeros(3)\nx = f(u)\ny = f(u).copy()\n"
    )
    assert values.of(tree.body[-2].value).views == {"u"}
    assert values.of(tree.body[-1].value).fresh


def test_what_a_function_makes_is_new():
    tree, values = followed(
        "import numpy as np\ndef f(a):\n    b = np.zeros(3)\n    b[0] = a\n    return b\nx = f(2)\n"
    )
    assert values.of(tree.body[-1].value).fresh
