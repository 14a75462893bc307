"""The functions of the docs are right for constant, empty and NaN columns, on every library.

Each row has a function and what it should give, written separately with NumPy in float64. ``tests/unit/examples`` has
the same for the examples.
"""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import xarrayops as xo
import xarrayops.numpy
from xarrayops import compat

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ("numpy", "torch", "jax", "dask")
RANDOM = np.random.default_rng(5)
CONSTANTS = RANDOM.uniform(-3, 3, 30)
NAN = RANDOM.normal(size=(40, 5))
NAN[3, 1] = NAN[:, 4] = np.nan
KINDS = {
    "constant": np.concatenate([np.tile(CONSTANTS, (40, 1)), RANDOM.normal(size=(40, 2))], axis=1),
    "empty": np.zeros((0, 5)),
    "NaN": NAN,
}
"""Matrices of samples and columns, to be rounded to float32, which every library has."""
WEIGHTS = RANDOM.normal(size=(32, 2)).astype("float32")


def function_of(page: str, name: str, number: int = 0) -> Any:
    """A function that a page defines, without decorators; ``number`` counts definitions of that name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for block in re.findall(r"^```python[^\n]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        code = "".join(e.source for e in doctest.DocTestParser().get_examples(block)) if ">>> " in block else block
        found += [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef) and node.name == name]
    definition = found[number]
    definition.decorator_list = []
    namespace = {
        "xo": xo,
        "np": xarrayops.numpy if "port-pipeline" in page else np,
        "array_namespace": compat.array_namespace,
    }
    exec(compile(ast.Module([definition], []), page, "exec"), namespace)
    return namespace[name]


def by_column(x: Any, of_column: Callable[[Any], Any]) -> Any:
    return np.stack([of_column(x[:, i]) for i in range(x.shape[1])], axis=1)


def standardised(x: Any) -> Any:
    return by_column(x, lambda c: np.zeros(len(c)) if len(set(c)) < 2 else (c - c.mean()) / c.std())


def by_row(x: Any, of_row: Callable[[Any], Any]) -> Any:
    return np.stack([of_row(row) for row in x]) if len(x) else x


def softmax(row: Any) -> Any:
    return np.exp(row - row.max()) / np.exp(row - row.max()).sum()


def mean(x: Any) -> Any:
    return x.mean(axis=0) if len(x) else np.full(x.shape[1:], np.nan)


def relaxed(grid: Any) -> Any:
    grid = grid.copy()
    for _ in range(20):
        grid[1:-1, 1:-1] = (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]) / 4
    return grid


def one_hot(labels: Any) -> Any:
    return np.asarray([[float(label == k) for k in range(4)] for label in labels]).reshape(len(labels), 4)


def overlap_added(frames: Any) -> Any:
    signal = np.zeros((frames.shape[0], 8))
    for i in range(frames.shape[1]):
        signal[:, 2 * i : 2 * i + 4] += frames[:, i]
    return signal


def clipped(x: Any) -> Any:
    return np.concatenate([np.minimum(x[:2], 0.5), x[2:]])


def labels(x: Any) -> Any:
    """A column of labels: equal ones, none, or one that is missing."""
    return np.where(np.isnan(x[:, 1]), np.nan, np.round(np.abs(x[:, 0])) % 4)


def filled(x: Any) -> Any:
    """Without NaN, with which the eigendecomposition raises or gives NaN."""
    return np.where(np.isnan(x), 0, x)


def variances(x: Any) -> Any:
    """The two largest variances along a direction, by singular values."""
    return np.linalg.svd(x - mean(x), compute_uv=False)[:2] ** 2 / (len(x) - 1) if len(x) else np.zeros(2)


GUIDES = "docs/guides/"
FIRST_COLUMN = lambda x: x[:, 1]


class Row(NamedTuple):
    """A function of a page: how it is called, the expected result, and how the data are prepared."""

    page: str
    name: str
    expected: Callable[[Any], Any]
    call: Callable[[Any, Any], Any] = lambda f, x: f(x)
    data: Callable[[Any], Any] = lambda x: x
    number: int = 0


ROWS = [
    Row("README.md", "standardise", standardised),
    Row("docs/index.md", "standardise", standardised),
    Row(GUIDES + "library-authors.md", "standardise", standardised),
    Row(GUIDES + "backend-agnostic.md", "softmax", lambda x: by_row(x, softmax)),
    Row(GUIDES + "backend-agnostic.md", "softmax", lambda x: by_row(x, softmax), number=1),
    Row(GUIDES + "backend-agnostic.md", "one_hot", one_hot, lambda f, x: f(x, 4), labels),
    Row(GUIDES + "backend-agnostic.md", "clip_rows", clipped, lambda f, x: f(x, rows_of(x), 0.5)),
    Row(GUIDES + "benchmark.md", "gram", lambda x: x.T @ x),
    Row(GUIDES + "compile.md", "softmax", lambda x: by_row(x, softmax)),
    Row(GUIDES + "compile.md", "squashed", lambda x: np.tanh(x - mean(x)), data=FIRST_COLUMN),
    Row(GUIDES + "compile.md", "relaxed", relaxed),
    Row(
        GUIDES + "export.md",
        "layer",
        lambda x: np.tanh((x - mean(x)) @ WEIGHTS[: x.shape[1]]),
        lambda f, x: f(x, xo.asarray(WEIGHTS[: x.shape[1]], like=x)),
    ),
    Row(GUIDES + "export.md", "spacing", np.diff, data=FIRST_COLUMN),
    Row(GUIDES + "numpy-functions.md", "fit", np.sqrt, lambda f, x: f(x, 1e-6), np.abs),
    Row(GUIDES + "numpy-functions.md", "fit", np.sqrt, lambda f, x: f(x, 1e-6), lambda x: 0 * x),
    Row(
        GUIDES + "operations.md",
        "rms_norm",
        lambda x: x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6),
        lambda f, x: f(x, xo.ones_like(x[0, ...]) if x.shape[0] else xo.ones(x.shape[1], like=x)),
    ),
    Row(GUIDES + "operations.md", "straight_through", np.round),
    Row(
        GUIDES + "port-pipeline.md",
        "added",
        overlap_added,
        lambda f, x: f(x, 2, 8),
        lambda x: x[:36, :4].reshape(-1, 3, 4),
    ),
    Row(GUIDES + "sharding.md", "principal_components", variances, lambda f, x: f(x, 2)[0], filled),
    Row(
        GUIDES + "transformations.md",
        "loss",
        lambda x: ((x @ WEIGHTS[: x.shape[1], 0] + 0.5) ** 2).sum(),
        lambda f, x: f({"w": xo.asarray(WEIGHTS[: x.shape[1], 0], like=x), "b": 0.5}, x, 0.0),
    ),
    Row(GUIDES + "verify.md", "port", lambda x: (x - mean(x)) / np.sqrt(1 + ((x - mean(x)) ** 2).sum(axis=0))),
    Row(
        "docs/recipes/operation.md", "softmin", lambda x: by_row(-x, softmax), lambda f, x: f(xo.array_namespace(x), x)
    ),
    Row("docs/recipes/workload.md", "mean_of_squares", lambda x: mean(x**2)),
]
NO_ROW = {
    "fit",  # has rows
    *("test_standardise", "test_fill", "fill"),  # tests, and a function that they call
    *("variant", "dot", "dot_refusal", "seconds", "_", "native_rms_norm"),  # mechanisms, and kernels of operations
    *("original", "normalised", "total", "smooth", "smoothed", "_relax", "levels"),  # programs of NumPy, to be ported
    *("singular_values", "weights", "row_sums"),  # tests below
    *("noisy", "mixup", "step"),  # random numbers; a part of `relaxed`
    *("bootstrap_interval", "median", "peak_of_trend"),  # random numbers, their statistic; SciPy computes it
}
"""The functions of the docs that have no row, and why."""


NO_ELEMENTS = pytest.mark.filterwarnings("ignore:(std|var)\\(\\)", "ignore::RuntimeWarning")
"""Libraries warn of the mean of no elements, and of NaN."""


def rows_of(x: Any) -> Any:
    """The first two rows, or fewer."""
    return xo.asarray(np.arange(min(2, x.shape[0]), dtype="int32"), like=x)


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param)
    return request.param


def as_numpy(x: Any) -> Any:
    return np.asarray(xo.convert(xo.compute(x), "numpy"))


def require(found: Any, expected: Any, tolerance: float = 2e-5) -> None:
    found = as_numpy(found)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_every_function_of_the_docs_has_a_row():
    defined = set()
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        if "_build" not in page.parts:
            defined |= set(re.findall(r"^(?:>>> |\.\.\. )?def (\w+)\(", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert not defined - {row.name for row in ROWS} - NO_ROW


@pytest.mark.parametrize("kind", KINDS)
@NO_ELEMENTS
def test_functions_of_the_docs(kind, library):
    failed = []
    for row in ROWS:
        x = row.data(KINDS[kind]).astype("float32")
        try:
            found = row.call(function_of(row.page, row.name, row.number), xo.convert(x.copy(), library))
            require(found, row.expected(x.astype("float64")))
        except Exception as error:
            failed.append(f"{row.page} {row.name}: {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8"])
def test_all_constant_columns_become_zero(dtype, library):
    """With ``deviation > 0`` most of them became 1 or -1, by rounding."""
    constants = RANDOM.normal(size=1000) * 10.0 ** RANDOM.uniform(-5, 5, 1000)
    constants = constants.astype("float32" if library == "jax" and dtype == "float64" else dtype, casting="unsafe")
    x = xo.convert(np.tile(constants, (50, 1)), library)
    for page in ("README.md", "docs/index.md"):
        assert not as_numpy(function_of(page, "standardise")(x)).any()


def test_singular_values(library):
    function = function_of(GUIDES + "backend-agnostic.md", "singular_values")
    for kind in ("constant", "empty"):
        x = KINDS[kind].astype("float32")
        require(function(xo.convert(x, library)), np.sqrt(np.maximum(np.linalg.eigvalsh(x @ x.T)[::-1], 0))[:32], 1e-2)
    with pytest.raises(np.linalg.LinAlgError):
        function(xo.convert(KINDS["NaN"].astype("float32"), library))


def tf_idf(counts: Any) -> Any:
    found = np.zeros(counts.shape)
    for i, j in zip(*np.nonzero(counts), strict=True):
        found[i, j] = counts[i, j] * (np.log((1 + len(counts)) / (1 + np.count_nonzero(counts[:, j]))) + 1)
    for row in found:
        if row.any():
            row[row != 0] /= np.sqrt((row**2).sum())
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_functions(kind, library):
    pytest.importorskip("scipy")
    if library == "dask":
        pytest.skip("dask has no sparse containers")
    x = np.round(np.abs(KINDS[kind])).astype("float32")
    x[:2] = 0  # documents without words
    s = xo.sparse.from_dense(xo.convert(x, library))
    found = function_of(GUIDES + "sparse.md", "weights")(s)
    require(xo.sparse.to_dense(found), tf_idf(x.astype("float64")))
    few = x[2:4, :3]
    found = function_of(GUIDES + "sparse.md", "row_sums")(xo.convert(few, library))
    require(found, few.sum(axis=1))
