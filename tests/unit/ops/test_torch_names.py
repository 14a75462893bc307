"""PyTorch's names and keywords: the errors name what to write, and that runs and gives PyTorch's values."""

import ast
import inspect
import math
import re

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.numpy_names import torch_names

LIBRARIES = ("numpy", "torch", "jax", "dask")
RANDOM = ("bernoulli", "dropout", "rand", "rand_like", "randint", "randn", "randn_like", "randperm")
"""The names whose numbers differ: shapes and kinds of dtypes are compared."""
RNG = np.random.default_rng(3)
VALUES = {
    "x": RNG.normal(size=(3, 4)),
    "y": RNG.normal(size=(3, 4)),
    "v": np.asarray([0.3, -1.2, 0.9, 1.7]),
    "w": np.asarray([2.0, 0.5, -0.25, 1.0]),
    "s": np.asarray([0.5, 0.75, 2.0, 4.0]),
    "a": RNG.normal(size=(3, 3)) + 4 * np.eye(3),
    "b": RNG.normal(size=(3, 3)),
    "z": RNG.normal(size=(3, 4)) + 1j,
    "i": np.asarray([2, 0, 1]),
    "j": np.asarray([[0, 3], [1, 2], [2, 0]]),
    "mask": RNG.random((3, 4)) > 0.5,
    "images": RNG.normal(size=(2, 3, 4, 4)),
    "q": RNG.normal(size=(1, 2, 5, 8)),
}


def arrays(library):
    """The variables of the lines, as arrays of a library."""
    found = {name: xo.convert(x.copy(), library, copy=True) for name, x in VALUES.items()}
    return {**found, "h": np.arange(4.0), "f": xo.abs}


def leaves(result):
    return [leaf for member in result for leaf in leaves(member)] if isinstance(result, (tuple, list)) else [result]


def as_numpy(x):
    return np.asarray(xo.convert(xo.compute(x), "numpy")) if hasattr(x, "dtype") else np.asarray(x)


def ours(name, library):
    """The values of our line."""
    names = {"xo": xo, "math": math, **arrays(library)}
    return eval(torch_names.LINES[name][1], names)


@pytest.fixture(params=LIBRARIES)
def library(request):
    pytest.importorskip(request.param)
    if request.param != "jax":
        yield request.param
        return
    with pytest.importorskip("jax").enable_x64(True):
        yield request.param


def owner(name):
    """Where PyTorch has a name."""
    torch = pytest.importorskip("torch")
    return next((where for where in (torch, torch.nn.functional, torch.Tensor) if hasattr(where, name)), None)


def test_the_names_are_pytorchs_and_not_ours():
    names = [*torch_names.LINES, *torch_names.WITHOUT]
    assert not [name for name in names if owner(name) is None or name in dir(xo)]


def test_each_line_calls_its_name():
    for name, (theirs, *_) in torch_names.LINES.items():
        calls = [node.func for node in ast.walk(ast.parse(theirs, mode="eval")) if isinstance(node, ast.Call)]
        assert name in [call.attr for call in calls if isinstance(call, ast.Attribute)], theirs


def compare(name, library):
    """Our line and PyTorch's give the same values; for random numbers, the same shape."""
    torch = pytest.importorskip("torch")
    found = ours(name, library)
    if name == "compile":
        assert callable(found)
        return
    wanted = eval(torch_names.LINES[name][0], {"torch": torch, "F": torch.nn.functional, **arrays("torch")})
    found, wanted = leaves(found), leaves(wanted)
    for x, y in zip(map(as_numpy, found), map(as_numpy, wanted), strict=True):
        assert x.shape == y.shape
        if name not in RANDOM:
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)
    if name not in ("from_numpy", "is_complex", "is_floating_point", "numel"):
        assert all(xo.backend(x).name == library for x in found)


def test_our_lines_give_pytorchs_values(library):
    failed = []
    for name in torch_names.LINES:
        try:
            compare(name, library)
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("name", ["bernoulli", "dropout"])
def test_random_lines_draw_with_the_probability(name):
    x = np.ones((200, 200))
    kept = eval(torch_names.LINES[name][1], {"xo": xo, "x": x, "s": 8.1 * x}) != 0
    assert abs(kept.mean() - 0.9) < 0.01


def test_the_errors_show_the_lines():
    for name, (_, line, *_) in torch_names.LINES.items():
        with pytest.raises(AttributeError) as caught:
            getattr(xo, name)
        assert line in str(caught.value) or name == "transpose"  # which is NumPy's name, too


def test_other_names_keep_their_answers():
    with pytest.raises(AttributeError, match=r"Instead: xo\.concat$"):
        _ = xo.concatenate
    with pytest.raises(AttributeError, match="module 'xarrayops' has no attribute '__cat__'"):
        _ = xo.__cat__
    with pytest.raises(AttributeError, match="xo has no manual_seed: there is no global random state"):
        _ = xo.manual_seed


CALLS = {
    "xo.sum(x, dim=0)": "torch.sum(x, dim=0)",
    "xo.sum(x, dim=(0, 1), keepdim=True)": "torch.sum(x, dim=(0, 1), keepdim=True)",
    "xo.mean(x, dim=1, keepdim=True)": "torch.mean(x, dim=1, keepdim=True)",
    "xo.std(x, dim=0)": "torch.std(x, dim=0)",
    "xo.std(x, dim=0, unbiased=False)": "torch.std(x, dim=0, unbiased=False)",
    "xo.var(x, unbiased=True)": "torch.var(x, unbiased=True)",
    "xo.max(x, dim=1)": "torch.max(x, dim=1).values",
    "xo.argmax(x, dim=1)": "torch.argmax(x, dim=1)",
    "xo.any(mask, dim=0)": "torch.any(mask, dim=0)",
    "xo.softmax(x, dim=-1)": "torch.softmax(x, dim=-1)",
    "xo.logsumexp(x, dim=0, keepdim=True)": "torch.logsumexp(x, dim=0, keepdim=True)",
    "xo.sort(x, dim=0, descending=True)": "torch.sort(x, dim=0, descending=True).values",
    "xo.topk(x, 2, dim=0)": "torch.topk(x, 2, dim=0)",
    "xo.quantile(x, 0.5, dim=0)": "torch.quantile(x, 0.5, dim=0)",
    "xo.flip(x, dims=(0,))": "torch.flip(x, dims=(0,))",
    "xo.roll(x, 1, dims=0)": "torch.roll(x, 1, dims=0)",
    "xo.squeeze(x[:1], dim=0)": "torch.squeeze(x[:1], dim=0)",
    "xo.take(x, i, dim=0)": "torch.index_select(x, 0, i)",
    "xo.take_along_axis(x, j, dim=1)": "torch.take_along_dim(x, j, dim=1)",
    "xo.repeat(x, 2, dim=0)": "torch.repeat_interleave(x, 2, dim=0)",
    "xo.unique(x, dim=0)": "torch.unique(x, dim=0)",
    "xo.unstack(x, dim=1)": "torch.unbind(x, dim=1)",
    "xo.cumulative_sum(x, dim=1)": "torch.cumsum(x, dim=1)",
    "xo.diff(x, dim=0)": "torch.diff(x, dim=0)",
    "xo.linalg.vector_norm(x, dim=0, keepdim=True)": "torch.linalg.vector_norm(x, dim=0, keepdim=True)",
    "xo.fft.fft(x, dim=0)": "torch.fft.fft(x, dim=0)",
    "xo.fft.fftn(x, dim=(0, 1))": "torch.fft.fftn(x, dim=(0, 1))",
    "xo.nanmean(x, dim=0)": "torch.nanmean(x, dim=0)",
}
"""Calls with PyTorch's keywords, and what they mean there."""


def corrected(call, names):
    """The call with the keywords that its error names, and the remark."""
    with pytest.raises(TypeError) as caught:
        eval(call, names)
    found = re.fullmatch(r"xo\.[\w.]+ has no (.*)\. Instead: ([\w= ,]*=)(?:; (.*))?", str(caught.value))
    assert found, str(caught.value)
    theirs, ours = (re.findall(r"(\w+)=", listed) for listed in found.groups()[:2])
    for name, option in zip(theirs, ours, strict=True):
        call = re.sub(rf"\b{name}=", f"{option}=", call)
    return call, found[3] or ""


def test_the_corrected_calls_give_pytorchs_values(library):
    torch = pytest.importorskip("torch")
    for call, theirs in CALLS.items():
        names = {"xo": xo, **arrays(library)}
        text, remark = corrected(call, names)
        assert not re.search(r"\b(dim|dims|keepdim|unbiased)=", text)
        if remark == "PyTorch's default is correction=1, and ours is 0":
            text = f"{text[:-1]}, correction=1)"
        found = eval(text, names)
        wanted = eval(theirs, {"torch": torch, **arrays("torch")})
        for x, y in zip(leaves(found), leaves(wanted), strict=True):
            np.testing.assert_allclose(as_numpy(x), as_numpy(y), rtol=1e-6, atol=1e-6, err_msg=call)


def test_keywords_of_sequences_are_named():
    x = VALUES["x"]
    with pytest.raises(TypeError, match=r"xo\.concat has no dim=\. Instead: axis=$"):
        xo.concat([x, x], dim=1)
    with pytest.raises(TypeError, match=r"xo\.tensordot has no dims=\. Instead: axes=$"):
        xo.tensordot(x, x.T, dims=1)


def test_remarks():
    x = VALUES["x"]
    with pytest.raises(TypeError, match=r"Instead: axis=; PyTorch's default is correction=1, and ours is 0$"):
        xo.var(x, dim=0)
    with pytest.raises(TypeError, match=r"Instead: axis=; it returns the values, and xo\.argmin the indices$"):
        xo.min(x, dim=0)
    with pytest.raises(TypeError, match=r"xo\.sum has no dim= and out=\. Instead: axis="):
        xo.sum(x, dim=0, out=x)


def test_every_function_with_an_axis_answers_dim():
    """Found by the signatures, without a list."""
    silent = []
    for prefix, module in (("", xo), ("linalg.", xo.linalg), ("fft.", xo.fft)):
        for name in dir(module):
            function = getattr(module, name)
            if not inspect.isfunction(function) or name in ("calibrate", "quantize", "sliding_window_view"):
                continue
            shown = inspect.signature(function).parameters
            whole = inspect.signature(function, follow_wrapped=False).parameters
            optional = [n for n in ("axis", "axes") if n in shown and shown[n].kind is shown[n].KEYWORD_ONLY]
            if (optional and "dim" not in whole) or ("keepdims" in shown and "keepdim" not in whole):
                silent.append(prefix + name)
    assert not silent
