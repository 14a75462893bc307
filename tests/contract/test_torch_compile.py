"""torch.compile: the first dispatch of a process in a compiled function, parameters, and inductor."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Any

import pytest

import xarrayops as xo

torch = pytest.importorskip("torch", exc_type=ImportError)

EXPRESSIONS = (
    "xo.sin(x)",
    "xo.add(x, x)",
    "xo.multiply(x, 2.0)",
    "xo.sum(x, axis=0, keepdims=True)",
    "xo.concat([x, x])",
    "xo.clip(x, 0.0, 0.5)",
    "xo.zeros((2, 3), like=x)",
    'xo.ones(3, backend="torch")',
    "xo.asarray([1.0, 2.0], like=x)",
    'xo.astype(x, "float64")',
    "xo.linalg.inv(x)",
    "xo.fft.fft(x)",
    'xo.einsum("ij,jk->ik", x, x)',
    "xo.at(x)[0].add(1.0, copy=True)",
    'xo.multiply(x, xo.finfo(xo.result_type(x, "float64", 1.0)).eps)',
    'xo.array_namespace(x, 1.0).add(x, xo.isdtype(x.dtype, "real floating"))',
    "xo.add(x, xo.iinfo(torch.int8).max) if xo.can_cast(torch.float16, x.dtype) else x",
    "xo.compute(x, x)[1]",
    'xo.pad(x, 1, "edge")',
    "xo.median(x, axis=0)",
    "xo.gradient(x, 0.5, axis=1)",
    "xo.array_namespace(x).linalg.norm(xo.array_namespace(x).cbrt(x))",
)


@pytest.mark.parametrize("kind", ["torch.eye(3)", "torch.nn.Parameter(torch.eye(3))"], ids=["tensor", "parameter"])
@pytest.mark.parametrize("first", ["xo.add(x, x)", 'xo.ones(3, backend="torch")'])
def test_the_first_dispatch_in_a_compiled_function(kind: str, first: str) -> None:
    """In a separate process: no function has been called with a tensor before it is compiled."""
    program = f"""
import torch, xarrayops as xo
x = {kind}
for expression in {(first, *EXPRESSIONS)!r}:
    function = eval("lambda x: " + expression)
    torch.compiler.reset()
    got = torch.compile(function, fullgraph=True, backend="eager")(x)
    want = function(x)
    assert got.dtype == want.dtype and torch.equal(got, want), expression
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def _normalise(x: Any) -> Any:
    centred = xo.subtract(x, xo.mean(x, axis=0, keepdims=True))
    return xo.divide(centred, xo.sqrt(xo.add(xo.var(x, axis=0), 1e-6)))


def _project(x: Any) -> Any:
    return xo.tanh(xo.matmul(x, xo.matrix_transpose(x)))


def _select(x: Any) -> Any:
    return xo.sum(xo.where(xo.greater(x, 0.0), x, 0.0), axis=-1)


@pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None, reason="inductor needs a C++ compiler"
)
@pytest.mark.parametrize("function", [_normalise, _project, _select])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_inductor(function: Any) -> None:
    torch.compiler.reset()
    x = torch.linspace(-1, 2, 24).reshape(4, 6)
    torch.testing.assert_close(torch.compile(function, fullgraph=True)(x), function(x))


def test_the_default_is_traced() -> None:
    """Within ``xo.use`` a compiled function may rely on the default."""
    with_backend = torch.compile(lambda: xo.ones(2, backend="torch"), fullgraph=True, backend="eager")
    with_default = torch.compile(lambda: xo.ones(2), fullgraph=True, backend="eager")
    torch.compiler.reset()
    for _ in range(2):  # the second time with a compiled graph
        with xo.use("torch"):
            assert torch.equal(with_backend(), torch.ones(2))
            assert torch.equal(with_default(), torch.ones(2))
        assert torch.equal(with_backend(), torch.ones(2))


def test_parameters_and_subclasses() -> None:
    """A Parameter is accepted as a tensor, also by an eager call after the compiled one."""
    torch.compiler.reset()
    weight = torch.nn.Parameter(torch.eye(3))
    x = torch.ones(3, 3)
    layer = torch.compile(lambda x: xo.add(xo.matmul(x, weight), weight), fullgraph=True, backend="eager")
    torch.testing.assert_close(layer(x), x + torch.eye(3))
    xo.sum(layer(x)).backward()
    assert weight.grad is not None
