"""Files that are wrong at other values and lengths, replaced operators, and the files that a call leaves."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops.export.exports import X, exported, needed, random
from xarrayops.errors import Unsupported


def _traced_wrongly(f: Any, *arguments: Any, path: Path, **options: Any) -> None:
    """torch.jit.trace keeps the branch of the examples, so the file is wrong, and must be refused."""
    with pytest.raises(Unsupported, match=r"the file (is wrong|fails) at"):
        exported(f, *arguments, target="torchscript", path=path, **options)
    assert not path.exists()


def _signed(x: Any, s: Any) -> Any:
    return x * 2 if float(s) > 0 else x * 3


def _infinite(x: Any) -> Any:
    return xo.where(x >= 0, x, 0.0) if float(x[0]) > 0 else xo.where(x >= 0, x, -np.inf)


def _integers(x: Any) -> Any:
    return xo.astype(x, "int64") * (1 if float(x[0]) == 1.0 else 100)


def _roots(x: Any) -> Any:
    return xo.sqrt(x[1:] - x[:-1]) if float(x[0]) < float(x[-1]) else xo.sqrt(x[:-1] - x[1:])


def _ill_conditioned(x: Any) -> Any:
    return xo.sum(x - xo.mean(x)), x * 2 if float(x[0]) > 0 else x * 3


def _small_elements(x: Any) -> Any:
    return xo.exp(x) if float(x[0]) > 5 else xo.where(xo.exp(x) < 500, -xo.exp(x), xo.exp(x))


@pytest.mark.parametrize(
    ("f", "arguments"),
    [
        (_signed, (X, np.ones((), "float32"))),
        (_infinite, (np.asarray([1.0, -2.0, 3.0, -4.0, 5.0, -6.0]),)),
        (_integers, (np.asarray([1.0, 2.0]),)),
        (_roots, (np.linspace(0.0, 1.0, 8),)),
        (_ill_conditioned, (np.abs(random.normal(size=1000)).astype("float32"),)),
        (_small_elements, (np.asarray([20.0, 0.0, 1.0, 2.0, 3.0, 4.0], "float32"),)),
    ],
)
def test_wrong_files_are_found(f: Any, arguments: Any, tmp_path: Path) -> None:
    """Each is right at the examples."""
    needed("torchscript")
    _traced_wrongly(f, *arguments, path=tmp_path / "f")


def test_lengths_that_decide_are_found(tmp_path: Path) -> None:
    """Up to some length, or in a relation."""
    needed("onnx")
    options: dict[str, Any] = {"target": "onnx", "path": tmp_path / "f"}
    with pytest.raises(Unsupported, match=r"it depends on the lengths, and serves only n = Dim.*max=19"):
        xo.export(lambda x: x * 2 if x.shape[0] < 20 else x * 3, X, dynamic={"x": {0: "n"}}, **options)

    def related(x: Any, y: Any) -> Any:
        return xo.sum(x) + xo.sum(y) if y.shape[0] == 2 * x.shape[0] else xo.sum(x) - xo.sum(y)

    dynamic = {"x": {0: "n"}, "y": {0: "m"}}
    with pytest.raises(Unsupported, match="it depends on the lengths"):
        xo.export(related, np.ones(4), np.ones(8), dynamic=dynamic, **options)
    options["target"] = "torchscript"
    with pytest.raises(Unsupported, match="the file is wrong at n = 11, m = 17"):
        exported(related, np.ones(4), np.ones(8), dynamic=dynamic, **options)


def test_a_window_serves_all_lengths(tmp_path: Path) -> None:
    needed("onnx")
    q = random.normal(size=(1, 2, 6, 8)).astype("float32")

    def f(q: Any, k: Any, v: Any) -> Any:
        return xo.attention(q, k, v, window=(20, 20))

    dynamic = {name: {2: "n"} for name in "qkv"}
    file = xo.export(f, q, q, q, target="onnx", path=tmp_path / "f.onnx", dynamic=dynamic)
    many = random.normal(size=(1, 2, 64, 8)).astype("float32")
    np.testing.assert_allclose(file(many, many, many), f(many, many, many), rtol=1e-4, atol=1e-5)


def test_replaced_operators(tmp_path: Path) -> None:
    needed("onnx")

    def file(f: Any, *examples: Any) -> Any:
        return xo.export(f, *examples, target="onnx", path=tmp_path / "f.onnx")

    zeros = np.asarray([-0.0, 1.0, 0.0, -1.0])
    sizes = np.asarray([2.0, 3.0, 4.0, 5.0])
    np.testing.assert_array_equal(file(xo.copysign, sizes, sizes)(sizes, zeros), np.copysign(sizes, zeros))
    np.testing.assert_array_equal(file(xo.signbit, sizes)(zeros), np.signbit(zeros))
    tiny = np.asarray([1e-30, 1e-30, 1e30, 1e30, 0.0, 5.0], "float32")
    product = file(lambda x: xo.cumulative_prod(x, axis=0), np.abs(X[:, 0]))(tiny)
    np.testing.assert_array_equal(product, np.cumprod(tiny))
    for rows, columns, k in ((3, 3, 5), (3, 3, -3), (3, 5, 1), (5, 3, -2)):
        w = np.ones((2, rows), "float32")
        eye = file(lambda x, n=rows, m=columns, k=k: x @ xo.eye(n, m, k=k, dtype="float32", like=x), w)
        np.testing.assert_array_equal(eye(w), w @ np.eye(rows, columns, k, dtype="float32"))
    assert file(xo.max, np.asarray(3.0))(np.asarray(4.0)) == 4.0
    swapped = file(lambda x: x * 2, X)(X.astype(">f4"))
    np.testing.assert_array_equal(swapped, X * 2)


def test_samples_are_read_as_the_examples(tmp_path: Path) -> None:
    needed("pt2")
    options: dict[str, Any] = {"target": "pt2", "path": tmp_path / "f.pt2"}
    with pytest.raises(ValueError, match=r"samples.0.: s is the constant 2.0 in the file, not 5.0"):
        xo.export(lambda x, s: x * s, X, 2.0, samples=[(X, 5.0)], **options)
    with pytest.raises(ValueError, match=r"samples.0.: the arguments are x, s, not 1 arguments"):
        xo.export(lambda x, s: x * s, X, 2.0, samples=[(X,)], **options)
    with pytest.raises(ValueError, match=r"samples.0.: x is float64"):
        xo.export(lambda x: x * 2, X, samples=[(X.astype("float64"),)], **options)
    one = np.ones(3)
    file = xo.export(
        lambda p: p["a"] - p["b"], {"a": one, "b": 2 * one}, samples=[({"b": 20 * one, "a": 10 * one},)], **options
    )
    assert "sample 0" in file.report.compared


def test_the_place_of_the_file(tmp_path: Path) -> None:
    """A link stays a link, and permissions stay."""
    needed("pt2")
    target, link = tmp_path / "real.pt2", tmp_path / "link.pt2"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    xo.export(lambda x: x * 2, X, target="pt2", path=link)
    assert link.is_symlink()
    assert target.stat().st_size > 10
    assert target.stat().st_mode & 0o777 == 0o600
    long = tmp_path / ("n" * 240 + ".pt2")
    xo.export(lambda x: x * 2, X, target="pt2", path=long)
    assert long.exists()


def test_calls_in_threads_leave_the_settings_of_the_process(tmp_path: Path) -> None:
    needed("pt2")
    import logging
    import sys
    from concurrent.futures import ThreadPoolExecutor

    def state() -> Any:
        return logging.root.manager.disable, list(warnings.filters), sys.stderr

    def exported(i: int) -> None:
        xo.export(lambda x: x * 2, X, target="pt2", path=tmp_path / f"{i}.pt2")

    file = xo.export(lambda x: x * 2, X, target="pt2", path=tmp_path / "f.pt2")
    before = state()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: file(X), range(200)))
        list(pool.map(exported, range(4)))
    assert state() == before


def test_indices_in_jax_without_64_bits(tmp_path: Path) -> None:
    needed("stablehlo")
    import jax
    import jax.numpy as jnp

    file = xo.export(lambda x: xo.argmax(x, axis=1), X, target="stablehlo", path=tmp_path / "f")
    with jax.enable_x64(False):
        assert file(jnp.asarray(X)).dtype == "int32"
    file = xo.export(lambda x, s: x * s, X, float("nan"), target="stablehlo", path=tmp_path / "f")
    assert np.isnan(file(X, float("nan"))).all()
