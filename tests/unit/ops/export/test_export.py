"""Exports: every format from every library, what is compared, and what stays on disk."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops.export.exports import NEEDS, W, X, exported, needed, random
from xarrayops.errors import Unsupported


def _standardised(x: Any, w: Any) -> Any:
    centred = xo.subtract(x, xo.mean(x, axis=0))
    return {"values": xo.matmul(centred, w), "sizes": [xo.sum(x), xo.max(x, axis=1)]}


@pytest.mark.parametrize("target", NEEDS)
def test_a_nested_result_in_arrays_of_each_library(library: Any, target: str, tmp_path: Path) -> None:
    needed(target)
    x, w = library.array(X), library.array(W)
    path = tmp_path / f"f.{target}"
    file = exported(_standardised, x, w, target=target, path=path, dynamic={"x": {0: "n"}})
    assert list(file.report.compared) == ["the examples", "other values", "opposite signs", "n = 3", "n = 13", "n = 59"]
    assert [each.name for each in tmp_path.iterdir()] == [path.name], "no other file is left"
    more = np.vstack([X, X[:3] + 1])
    got = file(library.array(more), w)
    wide = more.astype("float64")
    np.testing.assert_allclose(library.host(got["values"]), (wide - wide.mean(0)) @ W, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(library.host(got["sizes"][0]), wide.sum(), rtol=1e-5)
    np.testing.assert_allclose(library.host(got["sizes"][1]), more.max(1))


@pytest.mark.parametrize("target", NEEDS)
@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "uint8", "bool", "complex128"])
def test_dtypes_are_kept_or_refused(target: str, dtype: str, tmp_path: Path) -> None:
    needed(target)
    x = (np.arange(12).reshape(4, 3) % 3).astype(dtype)
    if (target, dtype) == ("onnx", "complex128"):
        with pytest.raises(Unsupported, match="ONNX Runtime has no complex numbers"):
            xo.export(lambda x: xo.concat([x, x], axis=1), x, target="onnx", path=tmp_path / "f")
        return
    file = exported(lambda x: xo.concat([x, x], axis=1), x, target=target, path=tmp_path / "f")
    got = file(x)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.concatenate([x, x], axis=1))


@pytest.mark.parametrize("target", NEEDS)
def test_odd_arrays(target: str, tmp_path: Path) -> None:
    """0-d, empty, reversed, and the same array twice; other arguments are constants."""
    needed(target)
    x, empty = X[::-1, ::-2], np.zeros((0, 2), dtype="float32")

    def f(x: Any, y: Any, zero: Any, nothing: Any, *, factor: float = 2.0) -> Any:
        return xo.subtract(x, xo.multiply(y, factor)), xo.add(zero, 1.0), xo.concat([x, nothing])

    file = exported(f, x, x, np.float32(3.0) * np.ones((), "float32"), empty, target=target, path=tmp_path / "f")
    got = file(x, x + 1, np.asarray(1.0, "float32"), empty)
    np.testing.assert_allclose(got[0], x - 2 * (x + 1), rtol=1e-6)
    assert got[1].shape == ()
    assert got[1] == 2
    np.testing.assert_array_equal(got[2], x)


def test_arguments_are_named_in_the_file(tmp_path: Path) -> None:
    needed("onnx")

    class Point(NamedTuple):
        x: Any
        y: Any

    def f(params: Any, point: Any, scale: float) -> Any:
        return {"out": xo.add(xo.matmul(point.x, params["w"]), point.y) * scale}

    given = {"w": W}, Point(X, np.ones(3, "float32"))
    file = xo.export(f, *given, 2.0, target="onnx", path=tmp_path / "f.onnx", dynamic={"point_x": {0: "rows"}})
    assert file.report.inputs == ("params_w", "point_x", "point_y")
    assert file.report.outputs == ("out",)
    onnx = pytest.importorskip("onnx")
    (x,) = (each for each in onnx.load(str(file.path)).graph.input if each.name == "point_x")
    assert x.type.tensor_type.shape.dim[0].dim_param == "rows"
    with pytest.raises(ValueError, match=r"point_x is float32 of shape \(6, 3\), and the file is for float32"):
        file({"w": W}, Point(X[:, :3], np.ones(3, "float32")), 2.0)


def test_names_that_no_parameter_can_have(tmp_path: Path) -> None:
    needed("pt2")

    def f(weights: Any, **others: Any) -> Any:
        return weights["self"] + weights["class"] + weights["a b"] + weights["a.b"] + weights["1"]

    given = {name: np.full(2, i) for i, name in enumerate(("self", "class", "a b", "a.b", "1"))}
    file = xo.export(f, given, target="pt2", path=tmp_path / "f.pt2")
    assert file.report.inputs == ("weights_self", "weights_class", "weights_a_b", "weights_a_b_2", "weights_1")
    np.testing.assert_array_equal(file(given), [10, 10])


@pytest.mark.parametrize("target", NEEDS)
def test_dictionaries_are_read_by_key_and_constants_compared(target: str, tmp_path: Path) -> None:
    needed(target)

    def f(x: Any, p: Any, k: float) -> Any:
        return xo.divide(xo.subtract(x, p["mean"]), p["std"]) * k

    mean, std = np.full(4, 1.0, "float32"), np.full(4, 2.0, "float32")
    file = exported(f, X, {"mean": mean, "std": std}, 3.0, target=target, path=tmp_path / "f")
    np.testing.assert_allclose(file(X, {"std": std, "mean": mean}, 3.0), (X - 1) / 2 * 3, rtol=1e-5)
    with pytest.raises(ValueError, match="the structure of p differs from the example: a dict of 'mu', 'std'"):
        file(X, {"mu": mean, "std": std}, 3.0)
    with pytest.raises(ValueError, match=r"k is the constant 3.0 in the file, not 5.0"):
        file(X, {"mean": mean, "std": std}, 5.0)
    with pytest.raises(ValueError, match=r"p has float instead of an array"):
        file(X, {"mean": mean, "std": 2.0}, 3.0)


def test_calls_that_do_not_fit(tmp_path: Path) -> None:
    needed("pt2")
    dynamic = {"x": {0: "n"}, "y": {0: "n"}}
    file = xo.export(lambda x, y: x + y, X, X, target="pt2", path=tmp_path / "f.pt2", dynamic=dynamic)
    with pytest.raises(ValueError, match=r"y is float32 of shape \(5, 4\), and the file is for .* of shape \(n, 4\)"):
        file(X, X[:5])
    with pytest.raises(ValueError, match=r"x is float64"):
        file(X.astype("float64"), X)
    with pytest.raises(ValueError, match=r"the arguments are x, y, not 1 arguments"):
        file(X)


@pytest.mark.parametrize(
    ("dynamic", "message"),
    [
        ({"z": {0: "n"}}, "dynamic names 'z', and the arrays are x, w"),
        ({"x": {2: "n"}}, r"dynamic has axis 2 of x, whose shape is \(6, 4\)"),
        ({"x": {0: "n m"}}, "must be an identifier"),
        ({"x": {0: "n", 1: "n"}}, "axes named 'n' have lengths 6 and 4"),
    ],
)
def test_wrong_dynamic_axes(dynamic: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        xo.export(lambda x, w: x @ w, X, W, target="pt2", path=tmp_path / "f", dynamic=dynamic)


def test_an_axis_of_length_one_cannot_be_dynamic(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="an example of length 2 or more"):
        xo.export(lambda x: x, X[:1], target="pt2", path=tmp_path / "f", dynamic={"x": {0: "n"}})


def test_wrong_options(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="target must be one of"):
        xo.export(lambda x: x, X, target="tflite", path=tmp_path / "f")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match="does not exist"):
        xo.export(lambda x: x, X, target="pt2", path=tmp_path / "none" / "f")
    with pytest.raises(IsADirectoryError):
        xo.export(lambda x: x, X, target="pt2", path=tmp_path)
    with pytest.raises(ValueError, match="the examples have no array"):
        xo.export(lambda x: x, 1.0, target="pt2", path=tmp_path / "f")
    with pytest.raises(Unsupported, match="it returns no array"):
        xo.export(lambda x: 1.0, X, target="pt2", path=tmp_path / "f")


def test_functions_that_write_or_are_random(tmp_path: Path) -> None:
    def writes(x: Any) -> Any:
        x[0] = 0
        return x

    before = X.copy()
    with pytest.raises(Unsupported, match="it writes to x"):
        xo.export(writes, X, target="pt2", path=tmp_path / "f")
    np.testing.assert_array_equal(X, before)
    with pytest.raises(Unsupported, match="two calls with the same arguments differ"):
        xo.export(lambda x: x + random.random(), X, target="pt2", path=tmp_path / "f")
    assert not list(tmp_path.iterdir())


def test_a_branch_on_values_is_refused_and_the_old_file_stays(tmp_path: Path) -> None:
    needed("pt2")
    path = tmp_path / "f.pt2"
    path.write_text("old")
    with pytest.raises(Unsupported, match=r"that agrees:\n  torch.export: .*line \d+: .*\nInstead: ") as found:
        xo.export(lambda x: x * 2 if x.sum() > 0 else x, X, target="pt2", path=path)
    assert found.value.__cause__ is not None
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_samples_are_compared(tmp_path: Path) -> None:
    """Only other values reveal a branch that torch.jit.trace records."""
    needed("torchscript")

    def f(x: Any) -> Any:
        return x * 2 if float(x[0, 0]) > -100 else x * 3

    given = {"target": "torchscript", "path": tmp_path / "f"}
    exported(f, X, **given)
    low = np.full_like(X, -200)
    with pytest.raises(Unsupported, match="the file is wrong at sample 0: result 0: -400"):
        exported(f, X, **given, samples=[(low,)])


def test_lengths_that_only_the_user_can_give(tmp_path: Path) -> None:
    """A function that does not accept mixed or repeated arguments needs samples."""
    needed("pt2")

    def f(x: Any) -> Any:
        if isinstance(x, np.ndarray) and not np.all(np.diff(x) == 1):
            raise ValueError("x must be consecutive numbers")
        return xo.cumulative_sum(x)

    def numbers(n: int) -> Any:
        return np.arange(n, dtype="float32")

    given: dict[str, Any] = {"target": "pt2", "path": tmp_path / "f.pt2", "dynamic": {"x": {0: "n"}}}
    with pytest.raises(Unsupported, match=r"no arguments could be made for n = 17. Instead: samples="):
        xo.export(f, numbers(8), **given)
    file = xo.export(f, numbers(8), **given, samples=[(numbers(5),), (numbers(30),)])
    assert list(file.report.compared) == ["the examples", "sample 0", "sample 1", "n = 4"]


def test_positive_definite_matrices_keep_their_structure(tmp_path: Path) -> None:
    needed("pt2")
    a = (X.T @ X + np.eye(4)).astype("float32")
    dynamic = {"x": {0: "n", 1: "n"}}
    file = xo.export(xo.linalg.cholesky, a, target="pt2", path=tmp_path / "f.pt2", dynamic=dynamic)
    assert {"n = 2", "n = 11"} <= file.report.compared.keys()


def test_short_axes_are_a_note(tmp_path: Path) -> None:
    needed("pt2")
    x = np.arange(8.0)
    file = xo.export(lambda x: x[1:] - x[:-1], x, target="pt2", path=tmp_path / "f", dynamic={"x": {0: "n"}})
    assert any(note.startswith("it is correct only for n > 2: ") for note in file.report.notes), file.report
    with pytest.raises(xo.errors.XArrayOpsError, match="the file does not run with these arguments"):
        file(np.arange(2.0))


def test_attention_is_one_operator(tmp_path: Path) -> None:
    needed("onnx")
    q, k, v = (random.normal(size=(2, heads, 8, 16)).astype("float32") for heads in (4, 2, 2))
    dynamic = {name: {0: "batch", 2: "length"} for name in "qkv"}
    file = xo.export(
        lambda q, k, v: xo.attention(q, k, v, causal="top_left"),
        *(q, k, v),
        target="onnx",
        path=tmp_path / "f.onnx",
        dynamic=dynamic,
    )
    assert file.report.details == {"opset": 23, "nodes": 1, "operators": {"Attention": 1}}


@pytest.mark.parametrize("options", [{"window": (2, 0)}, {"causal": "bottom_right"}, {"bias": True}, {"mask": True}])
def test_other_attention_has_one_operator_beside_others(options: dict[str, Any], tmp_path: Path) -> None:
    """A query that sees no key gives 0."""
    needed("onnx")
    q, k, v = (random.normal(size=(2, heads, 6, 8)).astype("float32") for heads in (4, 2, 2))
    mask = random.random((6, 6)) < 0.5
    mask[2] = False
    extra = {"mask": (mask,), "bias": (np.where(mask, 0.5, -np.inf).astype("float32"),)}
    (name,) = options
    given = extra.get(name, ())

    def f(q: Any, k: Any, v: Any, *more: Any) -> Any:
        return xo.attention(q, k, v, **({name: more[0]} if more else options))

    file = xo.export(f, q, k, v, *given, target="onnx", path=tmp_path / "f.onnx")
    assert file.report.details["operators"]["Attention"] == 1  # type: ignore[index]
    got = file(q, k, v, *given)
    np.testing.assert_allclose(got, f(q, k, v, *given), rtol=1e-4, atol=1e-5)
    if given:
        assert not got[:, :, 2].any()


def test_explain_names_what_stands_in_the_way() -> None:
    needed("onnx")
    found = xo.explain("export", xo.sin, X, target="onnx")
    assert found.chosen == "torch.onnx"
    found = xo.explain("export", lambda x: xo.linalg.svd(x)[1], X, target="onnx")
    assert found.chosen is None or found.chosen == "jax2onnx"
    assert found.candidates[0].reason == "torch.onnx has no translation of aten._linalg_svd.default"
    found = xo.explain("export", xo.sin, X, target="tensorrt")
    assert "not installed" in found.candidates[0].reason or "no CUDA device" in found.candidates[0].reason


def test_a_deprecated_format_warns(tmp_path: Path) -> None:
    needed("torchscript")
    with pytest.warns(FutureWarning, match="TorchScript is deprecated"):
        xo.export(lambda x: x * 2, X, target="torchscript", path=tmp_path / "f.pt")


def test_the_report_is_text_and_data(tmp_path: Path) -> None:
    needed("onnx")
    path = tmp_path / "f.onnx"
    report = xo.export(lambda x: xo.max(x, axis=0), X, target="onnx", path=path, dynamic={"x": {0: "n"}}).report
    text = str(report)
    assert text.startswith(f"{path}: onnx by torch.onnx, {path.stat().st_size} bytes\n  contains: opset 23, 1 node")
    assert report.as_dict()["path"] == str(path)
    assert "arguments: x; results: result" in text


def test_no_settings_stay_changed(tmp_path: Path) -> None:
    needed("stablehlo")
    needed("pt2")
    import logging

    import jax
    import torch

    before = jax.config.jax_enable_x64, torch.is_grad_enabled(), logging.root.manager.disable, list(warnings.filters)
    for target in ("stablehlo", "pt2"):
        xo.export(lambda x: x * 2, X.astype("float64"), target=target, path=tmp_path / "f")  # type: ignore[arg-type]
        with pytest.raises(Unsupported):
            xo.export(lambda x: x if x.sum() > 0 else -x, X, target=target, path=tmp_path / "f")  # type: ignore[arg-type]
    after = jax.config.jax_enable_x64, torch.is_grad_enabled(), logging.root.manager.disable, list(warnings.filters)
    assert after == before


@pytest.mark.parametrize("target", NEEDS)
def test_an_operation_of_the_user_is_its_reference(target: str, tmp_path: Path) -> None:
    """Its kernels would not exist where the file is loaded."""
    needed(target)

    @xo.operation(f"export_test::scaled_{target}")
    def scaled(x: Any, *, factor: float = 2.0) -> Any:
        return xo.multiply(x, factor)

    for library in ("numpy", "torch", "jax"):

        @scaled.kernel(f"{library}:marked")
        def _(x: Any, *, factor: float = 2.0) -> Any:
            return xo.multiply(x, factor)

    @scaled.gradient
    def _(g: Any, x: Any, *, factor: float = 2.0) -> Any:
        return xo.multiply(g, factor)

    file = exported(lambda x: scaled(x, factor=3.0), X, target=target, path=tmp_path / "f")
    np.testing.assert_allclose(file(X + 1), (X + 1) * 3, rtol=1e-6)
    assert b"export_test" not in file.path.read_bytes(), "no operator of ours is in the file"


@pytest.mark.parametrize("target", ["pt2", "onnx"])
def test_lengths_from_some_number_on(target: str, tmp_path: Path) -> None:
    """A difference of neighbours needs two elements, and PyTorch treats a result of length one as a constant."""
    needed(target)
    x = np.arange(8.0) ** 2
    file = exported(lambda x: x[1:] - x[:-1], x, target=target, path=tmp_path / "f", dynamic={"x": {0: "n"}})
    np.testing.assert_array_equal(file(np.arange(5.0) ** 2), [1, 3, 5, 7])


def test_a_length_that_decides_a_branch(tmp_path: Path) -> None:
    needed("pt2")

    def f(x: Any) -> Any:
        return x * 2 if x.shape[0] == 6 else x

    with pytest.raises(Unsupported, match=r"torch\.export: it depends on the lengths, and serves only n = 6"):
        xo.export(f, X, target="pt2", path=tmp_path / "f", dynamic={"x": {0: "n"}})
