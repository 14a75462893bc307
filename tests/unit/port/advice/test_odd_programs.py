"""In odd programs, too, all code in findings and notes is Python, and none of it treats other objects as arrays."""

import ast

import pytest

from xarrayops.port import rewrite
from xarrayops.port.checking import findings
from xarrayops.port.source import Program

PROSE = (
    *(
        "xo.at on the array that ",
        "a variable of the loop, and xo.at(",
        "np.where ",
        "np.where, ",
        "write the change into ",
    ),
    *("a new array", "the result of ", "xo.at for the elements of ", "a mask and ", "keep it as an array "),
    *(
        "slices or index arrays ",
        "functions of NumPy ",
        "a call with --call",
        "an import of each name",
        "np.real of the results",
        "a check of that file",
        "numbers for names and dates; ",
        "np.frombuffer and ",
    ),
    *("masked arrays are not supported", "rng = xo.random.default_rng(0, like=x), then "),
)
"""The beginnings of the texts that ask for a decision; each has a program in by_hand.py."""
ODD = (
    "def f(x: np.ndarray):\n    if (y := x.copy()).sum() > 0: y[0] = 1\n    return y",
    "def f(x: np.ndarray):\n    return [v.std() for v in x], {k: v.max(axis=0) for k, v in enumerate(x)}",
    "def f(*, x: np.ndarray, n=3):\n    y = np.zeros(n)\n    y[:] = x\n    return y",
    "def f(x: np.ndarray):\n    def g(v):\n        x[0] = v\n        return x.std()\n    return g(2), (lambda z: z.std() + x.std())(x)",
    "class A:\n    C = np.ones(3)\n    def __init__(self, x: np.ndarray):\n        self.x = x\n        self.x[0] = 1\n        self.x += 1\n    @property\n    def y(self):\n        return self.C * self.x\n    @staticmethod\n    def z(x: np.ndarray):\n        A.C[0] = x[0]\n        return np.zeros(3) + x",
    "T = np.zeros(3)\ndef f(x: np.ndarray):\n    global T\n    T = T + x\n    T[0] = 1\n    return T",
    "def f(x: np.ndarray, path):\n    with open(path) as h:\n        x[0] = 1\n    match x.shape:\n        case (n,): x[n - 1] = 2\n    s = f'{x.std():.3f} {x[0]!r}'\n    del x[0]\n    return s",
    "def f(x: np.ndarray):\n    x[0] = yield x\n    x[1] = x[2] = x[3] = 0\n    x[0], (x[1], *x[2:]) = 1, (2, 3, 4)\n    for x[0] in range(3): pass\n    x[0]: int\n    [x[0], x[1]] = 1, 2",
    "import pandas as pd\ndef f(df: pd.DataFrame):\n    df['a'] = np.sqrt(df['b'])\n    df['a'][0] = 3\n    df.loc[0, 'a'] = 2\n    df.a.values[0] = 3\n    df['c'].values[df['c'] > 0] = 0\n    return df.a.std()",
    "def f(d: dict[str, np.ndarray]):\n    for k, v in d.items():\n        d[k] = v * 2\n        v[0] = 1\n        d[k][0] = 3\n        d['a'][1:] += v.sum()\n    return d",
    "def f(x: np.ndarray):\n    m = np.ma.array(x, mask=x > 0)\n    m[0] = np.ma.masked\n    return m.filled(0)",
    "def f(x: np.ndarray):\n    x[x > 0][0] = 1\n    np.diag(x)[0] = 1\n    x.diagonal()[0] = 3\n    x.reshape(-1)[0] = 3\n    x.swapaxes(0, 1)[0] = 3\n    g(x)[0] = 3\n    (x if x.ndim else x)[0] = 3\n    x[0:2, ..., None] = 3",
    "def f(x: np.ndarray):\n    x.real += 1\n    x.T += 1\n    x.flat += 1\n    x.real[0] = 2\n    x.imag = 3\n    x.dtype = np.int32\n    x.strides = (8,)\n    x.shape = x.shape = (3,)\n    x.T.flat[0] = 1",
    "def f(x: np.ndarray, *args, **kw):\n    return x.sum(*args, **kw) + x.reshape(*args).std(**kw) + np.zeros(*args, **kw) + x.transpose(*args) + x.take(*args)",
    "def f(x: np.ndarray):\n    return x.sort(), x.fill(0), np.add.at(x, 0, 1), np.copyto(x, 0), np.multiply(x, 2, out=x[1:]), x.sum(out=x[0:1]), np.cumsum(x, out=x)",
    "def f(x: np.ndarray):\n    np.put_along_axis(x, x.argsort(), 0, 0)\n    np.place(x, x > 0, [1, 2])\n    np.bitwise_or.at(x, 0, 1)\n    x.resize((3,))\n    x.setflags(write=False)\n    x.itemset(0, 3)\n    x.byteswap(True)\n    np.random.shuffle(x)\n    np.fill_diagonal(x, 0, wrap=True)\n    np.divmod(x, 2, out=(x, x))",
    "def f(x: np.ndarray):\n    return x == [1, 2] if 0 < x.sum() < [1] else x != (1, 2), x in [1], [1] < x < [2]",
    "def f(x: np.ndarray):\n    return sum(v for v in x), sum(x * 2 if x.ndim else x), max(x, key=abs), sorted(x, reverse=True), max(x, default=0), tuple(x), [*x], set(x), list(reversed(x))",
    "def f(x: np.ndarray):\n    return (x\n        .std(  # first\n            axis=0,  # one\n        )\n    ) + np.linspace(0, 1,\n        num=3,  # n\n        )",
    "def f(x: np.ndarray):\n    return x.dtype.kind, x.dtype == 'O', x.dtype == 'foo', x.dtype in ('f4', 'f8'), x.dtype is float, type(x) in (np.ndarray, list), np.ndarray is type(x)",
    "def f(x: np.ndarray):\n    return np.arange(*x.shape), np.arange(0, 1, *x.shape, int), np.ndarray(shape=(3,), dtype=int, buffer=x.data), np.sqrt(x, where=(x > 0)), np.quantile(x, .5, interpolation='lower', axis=0)",
    "def f(x: np.ndarray, i: np.ndarray):\n    return x[i, i], x[np.ix_([0], [1])], x[[0, 1], 1:], x[::-1, [0]], x[..., ::-1], x[i > 0, 0], x[(i > 0) & (i < 3)], x[i[0], i[1]], x[lambda: 0]",
    "def f(x: np.ndarray):\n    for i in range(3):\n        x = xo.at(x)[i].set(1)\n        y = float(x[i]) if x[i] > 0 else x[i].item()\n        while x.any() and not y: x = x - 1\n        assert x[0] > 0\n    return x",
    "def f(x: np.ndarray):\n    x += [1, 2]\n    x @= np.eye(3)\n    x //= 2; x %= 3; x <<= 1; x |= 2\n    y = x[1:]\n    y -= 1\n    z = x\n    z *= 2\n    return x",
    "def f(x: np.ndarray):\n    m = x > 0\n    x[m] = x[m] @ x\n    x[m] = x[m].clip(0, 1)\n    x[m], y = x[m], 2\n    x[m] = x[~m][: m.sum()]\n    x[m] **= x[m]\n    x[m, 0] = x[m, 0] * 2\n    x[m] = np.hypot(x[m], x[m] + 1)\n    x.T[m] = -x.T[m]\n    x[m][0] = x[m][0]",
)  # fmt: skip


def is_code(text):
    try:
        return bool(ast.parse(text).body)
    except SyntaxError:
        return False


@pytest.mark.parametrize("source", ODD)
def test_code_is_python(source, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\nimport xarrayops as xo\n{source}\n")
    texts = [each.instead for each in findings(Program.read(path)) if each.kind != "foreign call"]
    texts += [each.problem.split("Instead: ")[1] for each in rewrite(path).todos if "Instead: " in each.problem]
    for text in texts:
        assert text
        assert is_code(text) or text.startswith(PROSE), text


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("def f(days, lat: float):\n    m = np.zeros((3, len(days)))\n    return m * lat + days[0]", "like=lat"),
        ("def f(x: np.ndarray, n):\n    return x + np.hanning(n) + np.fft.fftfreq(n) + np.geomspace(1, 2, n)", "like=n"),
        ("def f(params, n):\n    mean = params['mean']\n    y = np.zeros(n)\n    return y + mean", "like=params"),
        ("def f(x: np.ndarray, dtype: str | np.dtype):\n    return np.zeros(3, dtype=dtype) + x", "like=dtype"),
        ("def f(x: np.ndarray, w: np.ndarray | None = None):\n    return np.zeros(3) + x", "like=w"),
        ("def f(d, x: np.ndarray):\n    d['a'] = x\n    d[f'{x}'] = x\n    d['a'] += x\n    d.loc[x, 'b'] = 1", "xo.at(d"),
        ("def f(a: np.ndarray):\n    b = a.copy()\n    b[b < 0] = 0\n    return b", "what else uses it"),
        ("def f(x: np.ndarray):\n    return x.dtype.kind == 'u'", "real floating"),
        ("import pandas as pd\ndef f(df):\n    df.a.values[0] = 3", "values ="),
        ("def f(x: np.ndarray):\n    x[x > 0][0] = 1", "assign"),
        ("def f(x: np.ndarray):\n    m = np.ma.array(x)\n    m[0] = np.ma.masked\n    return m", "xo.at(m)"),
        ("def f(x: np.ndarray):\n    g = np.fft.rfft if x.ndim else np.fft.fft\n    b = np.sin(x)\n    y = g(b)\n    b[0] = 1\n    return y, b", "gets it"),
        ("def f(x: np.ndarray, dtype):\n    y = np.sqrt(x).astype(dtype, copy=False)\n    y *= 2\n    return y", "memory of dtype"),
    ],
)  # fmt: skip
def test_other_objects_are_no_arrays(source, wrong, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\n{source}\n")
    texts = [f"{each.what} {each.instead}" for each in findings(Program.read(path))]
    texts += [each.problem for each in rewrite(path).todos]
    assert not [each for each in texts if wrong in each]


@pytest.mark.parametrize(
    "test",
    [
        *("np.iscomplexobj(p)", "np.isrealobj(p)", "p.ndim > 1", "np.ndim(p)", "np.issubdtype(p.dtype, np.floating)"),
        *("np.isscalar(p)", "p.shape[0] > 2", "p.dtype == np.float32", "isinstance(p, np.ndarray)", "len(p)"),
        *("np.isdtype(p.dtype, 'bool')", "np.can_cast(p.dtype, np.int64)", "np.iterable(p)", "np.size(p) and True"),
        *("np.may_share_memory(p, p)", "np.shape(p)[0] > 2 or not np.ndim(p)"),
    ],
)
def test_the_kind_of_an_array_is_no_value(test, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        f"import numpy as np\ndef f(parts: list[np.ndarray], p: np.ndarray):\n    for q in parts:\n        if {test}:\n"
        f"            return q\n    while not ({test}):\n        pass\n"
    )
    assert not findings(Program.read(path))


def test_a_value_is_one(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\ndef f(p: np.ndarray):\n    while np.any(p):\n        p = p - 1\n")
    assert [each.kind for each in findings(Program.read(path))] == ["scalar"]


@pytest.mark.parametrize(
    "source",
    [
        "import numpy.typing as npt\ndef f(x: npt.NDArray[np.float64]) -> npt.ArrayLike:\n    return x",
        "from numpy.typing import NDArray\ndef f(x: NDArray) -> 'np.matrix':\n    y: np.matrix = x\n    return y",
        "def f(x: np.ndarray | None = None, y: list[np.ndarray] = ()):\n    return x",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from numpy import matrix\n    M = np.matrix",
        "from __future__ import annotations\ndef f(x: np.matrix, *y: np.record) -> np.ma.MaskedArray:\n    return x",
    ],
)
def test_annotations_need_nothing(source, tmp_path):
    path = tmp_path / "program.py"
    future = source.startswith("from __future__")
    path.write_text(f"{source}\nimport numpy as np\n" if future else f"import numpy as np\n{source}\n")
    assert not findings(Program.read(path))
    assert not rewrite(path).todos


def test_an_annotation_that_is_evaluated_needs_the_name(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\ndef f(x: np.typing.NDArray, m: np.matrix):\n    return x\n")
    assert [each.kind for each in findings(Program.read(path))] == ["name", "name"]
