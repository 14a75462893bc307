"""Names, keywords, methods, creation, dtypes, classes and random numbers."""

import numpy as np
import pytest

from xarrayops.port import rewrite

X = np.arange(12.0).reshape(3, 4)
V = np.asarray([3.0, -1.0, 2.0, 0.5])
K = np.asarray([3, 0, 2, 2, 1])
EVERYWHERE = ("numpy", "torch", "jax")


def body(lines, start="import numpy as np"):
    return f"{start}\ndef f(x):\n    n, m = x.shape\n    return {lines}\n"


METHODS = [
    "x.sum(), x.sum(0), x.sum(axis=1, keepdims=True), x.mean(-1), x.prod()",
    "x.max(), x.max(axis=0), x.min(1), x.std(), x.std(axis=0, ddof=1), x.var(0)",
    "x.argmax(), x.argmin(axis=1), x.argsort(axis=1), x.cumsum(), x.cumprod(axis=1)",
    "x.any(), x.all(axis=0), (x > 3).any(), (x > 3).sum()",
    "x.reshape(4, 3), x.reshape((2, 6)), x.reshape(-1), x.ravel(), x.flatten()",
    "x.T, x.transpose(), x.transpose(1, 0), x.swapaxes(0, 1), x[None].squeeze(), x[:, 0].T",
    "x.astype(np.float32), x.astype(int), x.astype('f4'), x.astype(np.int64) / 2",
    "x.copy(), x.clip(1, 4), x.round(1), x.repeat(2), x.repeat(2, axis=1), x.take([0, 2])",
    "x.dot(x.T), x.diagonal(), x.trace(), x.nonzero()",
    "x.size, x.ndim, x.shape, x.real, x.imag, len(x)",
    "x[0].searchsorted(x[1]), x[0].compress([True, False, True, True]), x.tolist(), x[0, 0].item()",
    "np.sqrt(x).sum() + (x - x.mean()).std()",
    "x.conj(), (x + 1j).conj().real, (x * 1j).imag",
    "x[::-1], x[:, ::-1], x[1, ::-2] + 0, x[[0, 2]], x[:, [1, 1]]",
    "x.dtype == np.float64, x.dtype.kind, x.dtype.itemsize, x.dtype.name",
    "x.mean(axis=0).round(2).astype(np.float32)",
]


@pytest.mark.parametrize("lines", METHODS)
def test_methods_and_indices(lines, checked):
    checked(body(lines), X)


CREATION = [
    "np.zeros(4) + x, np.zeros((3, 4), dtype=np.float32), np.ones(n), np.empty(0), np.full((2, 2), 7.0)",
    "np.arange(4), np.arange(0.5, 4), np.arange(0, 8, 2, np.int32), np.eye(3), np.identity(2), np.tri(3)",
    "np.linspace(0, 1, 5), np.linspace(0, 1, m) * x, np.logspace(0, 2, 3), np.hanning(m) * x[0]",
    "np.array([1.0, 2, 3, 4]) * x, np.array([1, 2]), np.asarray([[True, False]]), np.array(range(3))",
    "np.array([i * 2 for i in range(4)]) + x[0], np.array(3.5), np.array([x[0, 0], x[0, 1]])",
    "np.zeros(x.shape), np.zeros_like(x), np.empty((n, 0)), np.ones(x.shape[1:], dtype=x.dtype)",
    "np.ndarray((n, 0), dtype=x.dtype), np.zeros(shape=(2, 2)), np.zeros([2, 3])",
    "np.indices((2, 3)), np.array((1, 2, 3)), np.fromfunction(lambda i, j: i + j, (2, 3), dtype=float)",
    "np.meshgrid(np.arange(3), np.arange(2)), np.concatenate([x[0], np.zeros(2)]), np.vstack([x, np.ones(4)])",
    "np.where(x > 3, x, np.zeros(4)), np.diag([1.0, 2.0]), np.stack([np.ones(4), x[0]])",
]


@pytest.mark.parametrize("lines", CREATION)
def test_new_arrays_are_in_the_library_of_the_arguments(lines, checked):
    checked(body(lines), X)


IMPORTS = {
    "import numpy": ("import numpy", "numpy.sqrt(x) + numpy.zeros(4)"),
    "another name": ("import numpy as N", "N.sqrt(x) + N.zeros(4)"),
    "names": ("from numpy import sqrt, zeros as z", "sqrt(x) + z(4)"),
    "names in parentheses": ("from numpy import (\n    sqrt,  # root\n    ones,\n)", "sqrt(x) + ones(4)"),
    "names and methods": ("from numpy import sqrt", "sqrt(x).sum(axis=0)"),
    "a module": ("import numpy.linalg as la", "la.norm(x), la.norm(x, axis=1)"),
    "a module of numpy": ("import numpy as np\nfrom numpy import linalg", "linalg.norm(x)"),
    "names of a module": ("from numpy.linalg import norm, inv", "norm(x)"),
    "a star": ("from numpy import *", "sqrt(x) + zeros(4) + sum(x)"),
    "twice": ("import numpy as np\nimport numpy", "np.sqrt(x) + numpy.ones(4)"),
    "with others": ("import math, numpy as np, os", "np.sqrt(x) * math.pi"),
    "an alias": ("import numpy as np\nzeros = np.zeros\nroot = np.sqrt", "root(x) + np.zeros(4)"),
    "in a try": ("try:\n    import numpy as np\nexcept ImportError:\n    np = None", "np.sqrt(x)"),
    "after a docstring": (
        '"""A program."""\n\nfrom __future__ import annotations\n\n# numbers\nimport numpy as np',
        "np.sqrt(x)",
    ),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_imports(name, checked):
    start, lines = IMPORTS[name]
    checked(body(lines, start), X)


FUNCTIONS = {
    "names of long standing": "np.concatenate([x, x]), np.power(x, 2), np.absolute(-x), np.amax(x, 0)",
    "axes by position": "np.sum(x, 0), np.max(x, 1), np.flip(x, 0), np.roll(x, 1, 0), np.cumsum(x, 1)",
    "NumPy's keywords": "np.std(x, ddof=1), np.clip(x, a_min=1, a_max=3), np.round(x, decimals=1)",
    "linear algebra": "np.dot(x, x.T), np.inner(x, x), np.outer(x[0], x[1]), np.linalg.norm(x), x @ x.T",
    "sets and order": "np.unique(x), np.sort(x, axis=0)[::-1], np.argsort(-x[0]), np.searchsorted(x[0], 1.5)",
    "constants": "x * np.pi + np.e, np.inf, x[:, np.newaxis].shape",
    "grids": "np.mgrid[0:2, 0:3] + 0, np.r_[x[0], x[1]], np.c_[x[0], x[1]]",
    "ufunc methods": "np.add.reduce(x), np.add.outer(x[0], x[1]), np.multiply.accumulate(x, axis=1)",
    "scalars": "np.float64(2.5) * x, np.float32(1), int(np.sqrt(16)), float(np.mean(x)), np.int64(3)",
    "selection": "np.where(x > 3)[0], np.nonzero(x)[1], x[x > 3], np.argwhere(x > 9), np.take(x, [0, 1], axis=1)",
    "statistics": "np.median(x), np.percentile(x, 30), np.histogram(x, 3)[0], np.cov(x), np.bincount(np.array([1, 3]))",
    "classes of arrays": "isinstance(x, np.ndarray), type(x) is np.ndarray, isinstance(3, np.ndarray)",
    "kinds of dtypes": "np.issubdtype(x.dtype, np.floating), np.dtype(float) == x.dtype, np.finfo(x.dtype).eps",
    "transforms": "np.abs(np.fft.fft(x)), np.fft.fftfreq(4), np.fft.irfft(np.fft.rfft(x))",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, checked):
    checked(body(FUNCTIONS[name]), X)


RANDOM = [
    "np.random.rand(3, 4) + x",
    "np.random.normal(size=x.shape) * x, np.random.normal(0, 1, 4), np.random.normal()",
    "x[np.random.permutation(3)], np.random.randint(0, 5, 3), np.random.randint(5)",
    "np.random.default_rng(0).normal(size=4) + x, np.random.RandomState(1).rand(4) + x",
    "np.random.uniform(0, 1, size=(3, 4)) + x, np.random.choice(5, 3)",
]


@pytest.mark.parametrize("lines", RANDOM)
def test_random_numbers_stay_the_same(lines, checked):
    checked(body(lines), X)


def test_generators_in_variables(checked):
    checked(
        """
import numpy as np
rng = np.random.default_rng(4)
def f(x):
    local = np.random.RandomState(0)
    y = x + 0.0
    for _ in range(2):
        y = y + rng.normal(size=x.shape) * local.uniform(size=4)
    return y
""",
        X,
    )


def test_the_program_without_arrays(checked):
    """Without a reference array, new arrays follow `xarrayops.use`."""
    checked(
        """
import numpy as np
def f(lo, hi, n, steps):
    x = np.linspace(lo, hi, n)
    c = x + x[:, None] * 1j
    z = np.zeros(c.shape, dtype=np.complex128)
    count = np.zeros(c.shape, dtype=np.int64)
    noise = np.random.normal(size=n)
    for i in range(steps):
        inside = np.less(abs(z), 2.0)
        count[inside] = i
        z[inside] = z[inside] ** 2 + c[inside]
    count[count == steps - 1] = 0
    return z, count, noise + x
""",
        -1.5,
        0.5,
        8,
        5,
        todo="jax.jit does not take a selection by a mask. Instead: z = np.where(inside, z ** 2 + c, z)",
    )


NOTES = {
    "NumPy alone has it": ("np.frompyfunc(abs, 1, 1)(1.5) + 0 * x.sum()", "only NumPy has frompyfunc", EVERYWHERE),
    "memory": ("x.strides", "not every library has strides", ("numpy",)),
    "a flat iterator": ("x.flat[3]", "not every library has flat", ("numpy",)),
    "open grids": ("np.ogrid[0:3, 0:4][0] + x", "np.ogrid makes arrays of the default library", ("numpy", "jax")),
}


@pytest.mark.parametrize("name", NOTES)
def test_notes(name, checked):
    lines, problem, runs = NOTES[name]
    checked(body(lines), X, todo=problem, runs=runs)


def test_a_creation_without_proof(checked):
    """A function takes lists, too: nothing proves that its argument is an array."""
    checked(
        """
import numpy as np
def f(x, k):
    y = np.zeros(3)
    for i in k:
        y = y + np.power(i, 2) * x[0]
    return y
""",
        V,
        K,
        todo="x may be an array of another one. Instead: np.zeros(3, like=x)",
        runs=("numpy", "jax"),
    )


def test_lists_stay_lists(checked):
    source = """
import numpy as np
def f(x):
    names = ["b", "a"]
    names.sort()
    again = names.copy()
    counts = {"a": 1}
    counts["b"] = 2
    total = sum([1, 2]) + max(3, 4)
    return names, again, counts, total, np.sum(x)
"""
    checked(source, X, has="names.sort()\n    again = names.copy()")


def test_comments_and_formatting_stay(checked):
    source = '''
#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""Numbers: é, ü."""

import os  # paths
import numpy as np  # arrays


def f( x ):   # odd spaces
    """The doc."""
    é = np.sqrt( x )   # root of é


    # a comment
    return ( é.sum(axis = 0),
             x [0] )
'''
    checked(
        source,
        X,
        has=(
            "import xarrayops.numpy as np  # arrays",
            "def f( x ):   # odd spaces",
            "é = np.sqrt( x )   # root of é\n\n\n    # a comment\n",
            "    return ( np.sum(é, axis = 0),\n             x [0] )",
        ),
    )


def test_the_code_in_a_note_about_an_index_is_python(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n\ndef f(x: np.ndarray, i: np.ndarray):\n"
        "    assert i.dtype == np.uint8\n    return x[:, i, ::2]\n"
    )
    (problem,) = [each.problem for each in rewrite(program).todos if "PyTorch refuses" in each.problem]
    assert problem.endswith("Instead: xo.at(x)[:, i, ::2].get()")


RECEIVERS = {
    "(x * 2).sum(axis=1)": "np.sum(x * 2, axis=1)",
    "(x > 2).astype(float)": "np.astype(x > 2, float)",
    "(np.sin(x)).reshape(4, 3)": "np.reshape(np.sin(x), (4, 3))",
    "(-x).T": "np.transpose(-x)",
    "(x if n else -x).std(0)": "np.std(x if n else -x, 0)",
    "(  # all\n        x + 1\n    ).mean(0)": "np.mean((  # all\n        x + 1\n    ), 0)",
    "(y := x + 1).mean(0)": "np.mean((y := x + 1), 0)",
}


@pytest.mark.parametrize("written", RECEIVERS)
def test_an_operation_needs_no_parentheses_as_an_argument(written, checked, tmp_path):
    source = body(written)
    checked(source, X)
    (tmp_path / "program.py").write_text(source)
    assert RECEIVERS[written] in rewrite(tmp_path / "program.py").text


DRAWS = {
    "t = np.linspace(0, 1, n)\n    return t * rng.normal(size=n)": "np.asarray(rng.normal(size=n), like=t)",
    "return np.asarray(rng.normal(size=n))": "return np.asarray(rng.normal(size=n))",
    "t = rng.normal(size=n)\n    return rng.normal(size=n) + t": "return rng.normal(size=n) + t",
    "t = np.ones(n)\n    t = t * 2\n    return rng.normal(size=n)": "return rng.normal(size=n)",
    "t = np.zeros(n)\n    t += rng.normal(size=n)\n    return t": "t += np.asarray(rng.normal(size=n), like=t)",
    "t = np.zeros((3, n))\n    t[0] *= 1 - rng.random(n)\n    return t": "np.asarray(rng.random(n), like=t)",
    "t = 3.0\n    t += rng.normal(size=n)\n    return t": "t += rng.normal(size=n)",
    "t = load(n)\n    t -= rng.normal(size=n)\n    return t": "Instead: np.asarray(rng.normal(size=n), like=t)",
}


@pytest.mark.parametrize("lines", DRAWS)
def test_draws_move_to_an_array_that_exists(lines, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\ndef f(n: int):\n    rng = np.random.default_rng(0)\n    {lines}\n")
    text = rewrite(path).text
    assert DRAWS[lines] in text
    assert "np.empty(0)" not in text
