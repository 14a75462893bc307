"""A rewritten program does on NumPy what it did before, whatever its values are."""

import numpy as np
import pytest

from xarrayops.port import rewrite

PROGRAMS = {
    "None": "def f(): return np.array([[None] * 3]).T, np.full(2, None), np.array([None, 1]) == None",
    "text": "def f(x=np.arange(3)): return np.sort(np.array(['b', 'a'])), np.where(x > 0, 'pos', 'neg')",
    "dates": "def f(): return np.diff(np.array(['2020-01-01', '2020-03-01'], dtype='datetime64[D]'))",
    "records": """
def f():
    r = np.zeros(2, dtype=[('a', 'i4'), ('b', 'f8')])
    r['a'] = 3
    r[0] = (1, 2.5)
    return r
""",
    "objects": """
from decimal import Decimal
def f():
    x = np.array([Decimal(1), Decimal(2)])
    x[0] = Decimal(3)
    x *= Decimal(2)
    x[1:] += Decimal(1)
    return x, x.sum(), np.dot(x, x)
""",
    "ragged lists": "def f(): return np.array([[1, 2], [3]], dtype=object)",
    "masked arrays": """
def f():
    m = np.ma.array([1.0, 2, 3], mask=[0, 1, 0])
    m[0] = 9
    return np.mean(m), np.sqrt(m)
""",
    "casts of whole arrays": """
def f():
    out = np.empty((2, 3), dtype=np.uint8)
    out[...] = np.sqrt(np.arange(6.0).reshape(2, 3)) * 3
    out[0, 0] += 1.5
    out[1:] -= np.uint8(1)
    return out
""",
    "casts": """
def f():
    k = np.zeros(4, int)
    k[0] = 2.7
    k[1:3] = np.array([1.5, 2.5])
    k[[0, 3]] = [7.9, 8.9]
    m = np.zeros(3, bool)
    m[0] = 1
    m[1] = 0.0
    s = np.zeros(3, np.float32)
    s[:] = np.arange(3) / 3
    c = np.array([1, 2, 3])
    c[c > 1] = 0.5
    return k, m, s, c
""",
    "fill": """
def f():
    x = np.arange(3)
    x.fill(2.9)
    y = np.array(['a', 'b'])
    y.fill('c')
    return x, y
""",
    "flatten of what is no array": """
class Axes(list):
    def flatten(self): return list(self)
def f():
    axes = np.array([[object, int], [str, bool]])
    return [each for each in axes.flatten()], [each for each in Axes([1]).flatten()]
""",
    "__array__": """
class A:
    def __array__(self, dtype=None, copy=None): return np.arange(3.0)
def f(): return np.asarray(A()), np.zeros_like(A()), np.sqrt(A()), np.where(A() > np.ones(3), 1, 0) if False else 0
""",
    "dtype of a ufunc": "def f(): return np.abs(np.array([1j, 2]), dtype=np.float64), np.add(1, 2, dtype=np.float32)",
    "annotations": """
from typing import Any, Optional, Union
import numpy.typing as npt
def g(x: np.ndarray | None, y: Union[np.float64, int] = 1, z: Optional[np.dtype] = None) -> np.float64 | np.ndarray: ...
def h(x: npt.NDArray[np.float64]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]: ...
def k(x: np.floating[Any], y: np.int64 | np.int32 | None, z: None | np.float32): ...
def f():
    x = np.float64(1)
    kinds = np.ndarray | float, (np.floating, int), int | np.integer, np.float64 | np.int32, np.generic | None
    union = np.int8 | np.int16 | np.int32
    names = np.uint8.__name__, np.int16 in union.__args__, npt.NDArray[union] is not None
    return [isinstance(x, kind) for kind in kinds], names
""",
    "range as an index": """
def f():
    x = np.zeros(4)
    x[range(2)] = 3
    x[range(2), ] += 1
    return x, x[range(1, 3)]
""",
    "a star": """
from numpy import *
def f(): return sqrt(zeros(3)), maximum(1, 2), sum(ones(3)), pi
""",
    "containers": """
def f():
    r = {"a": np.zeros(3)}
    r["a"][0] = 1
    r["b"] = 2
    s = [np.zeros(2)]
    s[0][1] = 3
    t = [1, 2]
    t[0] = np.ones(1)
    return r, s, t
""",
    "attributes": """
class Box:
    def __init__(self, n):
        self.x, self.n = np.zeros(n), n
    def step(self):
        self.x[0] = self.n
        self.x += 1
        self.y = self.x
        self.y[1] = 7
def f():
    b = Box(3)
    b.step()
    return b.x, b.y
""",
    "numbers in attributes": """
class Loss:
    def __init__(self, x):
        self.total, self.mean = 0.0, np.mean(x)
    def step(self, x):
        self.mean += np.sum(x)
        self.total += x.max()
        best = x.min()
        best -= 2 * np.pi
        return best
def f():
    loss = Loss(np.ones(3))
    return loss.step(np.arange(3.0)), loss.mean, loss.total
""",
    "containers of scipy": """
from scipy import sparse
def g(s, x): return s.dot(x), s.T.sum(axis=0), s.copy().dot(x)
def f(): return g(sparse.csr_array(np.eye(3)), np.arange(3.0))
""",
    "sets": "def g(s, t): return np.zeros(len(s)), len(s - t)\ndef f(): return g({1, 2}, {1})",
    "operators in wider dtypes": """
def f():
    y = np.full(1, 1 / 3, dtype=np.float32)
    y[:] *= np.array([1 / 3])
    z = np.zeros(2, np.uint8)
    z[:] = np.int64(300)
    return y, z
""",
    "sequences": """
from collections import deque
def f():
    x = np.zeros((2, 3))
    x[0] = range(3)
    x[1, 1:] = deque([4, 5])
    y = np.zeros(3, int)
    y[:] = (1.5, 2.5, True)
    x[1, 0] = "1.5"
    x[0, 0] = None
    return x, y, np.where(x > 3, x, None), np.where(x > 3, None, None)
""",
    "tuple targets": """
def f():
    a = np.arange(4.0)
    a[0], a[1] = a[1], a[0]
    (b, a[2]), c = (1, 2), 3
    a[1:], d = a[:-1].copy(), 5
    x = y = np.zeros(2)
    x[0] = 1
    return a, b, c, d, x, y
""",
    "swaps of slices": """
def f():
    a = np.arange(6).reshape(2, 3)
    a[[0, 1]] = a[[1, 0]]
    a[:, 0], a[:, 1] = a[:, 1], a[:, 0].copy()
    return a
""",
    "a lambda and a default": """
def g(x: np.ndarray, w=np.ones(3), h=lambda n: np.zeros(n)):
    hidden = [np.full(2, 0.5) * x for x in (1.0, 2.0)]
    return x + w, h(2), hidden, (lambda x: np.ones(2) * x)(3)
def f(): return g(np.arange(3.0))
""",
    "a method of self": """
class State:
    shape = (3,)
    def zeros(self, n): return np.zeros(n) + self.shape[0]
def f(): return State().zeros(2)
""",
    "annotations that are wrong": """
def g(x: np.ndarray, n: int = 3): return np.linspace(0, 1, n) * np.sum(x) + np.zeros(n)
def f(): return g([1, 2, 3]), g(4), g((1.0,))
""",
    "None as an argument": """
def g(x, w: np.ndarray = None): return np.zeros(3) if w is None else w * x
def f(): return g(1), g(2, np.ones(3))
""",
    "a generator": """
def f():
    rng = np.random.default_rng(0)
    x = rng.random((4, 3))
    x[0] = rng.integers(0, 9, 3)
    return x.std(axis=0), x.max()
""",
    "errors": """
def f():
    found = []
    for call in (lambda: np.isfinite(np.array([None])), lambda: np.array([[1], [2, 3]]), lambda: np.zeros(2)[5]):
        try:
            call()
        except (TypeError, ValueError, IndexError) as error:
            found.append(type(error).__name__)
    with np.errstate(divide="raise"):
        try:
            np.ones(2) / 0
        except FloatingPointError as error:
            found.append(type(error).__name__)
    return found
""",
    "a data frame": """
import pandas as pd
def g(df: pd.DataFrame, x: pd.Series):
    y = np.sqrt(x)
    y[y > 1.5] = 0
    df["z"] = np.log1p(df["a"])
    df.loc[df["a"] > 1, "z"] = -1
    df["w"] = df["a"].where(df["a"] > 1, 5.0)
    return y, df, np.where(x > 1, x, 0), np.maximum(x, 2), x.to_numpy().mean(), x.std(), x.T.std()
def f(): return g(pd.DataFrame({"a": [1.0, 2.0]}), pd.Series([1.0, 4.0, 9.0]))
""",
}


def _result(source, path):
    found = {}
    exec(compile(source, str(path), "exec"), found)
    return found["f"]()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_result_is_the_same(name, tmp_path):
    if "pandas" in PROGRAMS[name]:
        pytest.importorskip("pandas")
    source = f"import numpy as np\n{PROGRAMS[name]}\n"
    path = tmp_path / "program.py"
    path.write_text(source)
    text = rewrite(path).text
    wanted, found = _result(source, path), _result(text, path)
    assert repr(found) == repr(wanted), text


@pytest.mark.parametrize("style", ["numpy", "xo"])
def test_numbers_of_every_style(style, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\n{PROGRAMS['casts']}\n")
    assert repr(_result(rewrite(path, style=style).text, path)) == repr(_result(path.read_text(), path))
    assert np.array_equal(_result(path.read_text(), path)[0], [7, 1, 2, 8])
