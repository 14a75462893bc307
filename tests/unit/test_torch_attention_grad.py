"""PyTorch's kernels of attention under gradients, the transforms of torch.func and torch.compile."""

from __future__ import annotations

from typing import Any

import pytest

import xarrayops as xo
from xarrayops.plugin import Attention
from xarrayops.registry import backend_by_name

torch = pytest.importorskip("torch", exc_type=ImportError)

KERNELS = {name: function for name, function, _ in backend_by_name("torch").kernels["attention"]}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"right": 0},
    "causal, negative scale": {"right": 0, "scale": -0.4},
    "offset": {"right": 0, "offset": 30},
    "window, with queries of no keys": {"left": 5, "right": 9, "offset": -20},
    "mask": {"mask": torch.rand(2, 1, 150, 180, generator=torch.Generator().manual_seed(0)) > 0.5},
    "mask of queries": {"mask": torch.arange(150).view(1, 1, -1, 1) > 20},
    "lengths": {"q_lengths": torch.tensor([150, 40]), "kv_lengths": torch.tensor([0, 170])},
}
CAPPED = {"softcap": {"softcap": 0.9}, "softcap, window": {"softcap": 0.9, "left": 5, "right": 9}}


def arrays(sizes: tuple[int, int] = (8, 8)) -> list[Any]:
    draw = torch.Generator().manual_seed(1)
    shapes = (2, 4, 150, sizes[0]), (2, 2, 180, sizes[0]), (2, 2, 180, sizes[1])
    return [torch.randn(shape, generator=draw, dtype=torch.float64) for shape in shapes]


def gradients(kernel: str, given: list[Any], bias: Any = None, *, with_lse: bool, **options: Any) -> list[Any]:
    leaves = [x.detach().clone().requires_grad_() for x in (*given, *([] if bias is None else [bias]))]
    scale = options.pop("scale", 0.3)
    call = Attention(*leaves[:3], scale, bias=None if bias is None else leaves[3], with_lse=with_lse, **options)
    out, lse = KERNELS[kernel](call)
    loss = (out * torch.linspace(-1, 1, out.shape[3], dtype=out.dtype)).sum()
    if with_lse:
        loss = loss + torch.where(lse.isfinite(), lse, 0.0).square().sum()
    return list(torch.autograd.grad(loss, leaves))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that there are many."""
    from xarrayops_backends.torch import _attention_blocks as blocks, _attention_cpu as cpu

    monkeypatch.setattr(blocks, "SCORES", 1 << 14)
    monkeypatch.setattr(cpu, "MASK", 1 << 13)


@pytest.mark.parametrize("kernel", ["sdpa-flash", "blocked"])
@pytest.mark.parametrize("name", [*OPTIONS, *CAPPED])
def test_gradients_of_many_blocks(name: str, kernel: str) -> None:
    """Those of the generic twin, which autograd follows step by step."""
    if kernel == "sdpa-flash" and name in CAPPED:
        return
    options = OPTIONS.get(name) or CAPPED.get(name) or {}
    for sizes in ((8, 8), (3, 5)):
        want = gradients("generic", arrays(sizes), with_lse=False, **options)
        got = gradients(kernel, arrays(sizes), with_lse=False, **options)
        torch.testing.assert_close(got, want)


@pytest.mark.parametrize("shape", [(2, 4, 150, 180), (1, 1, 150, 1), (2, 1, 1, 180), (1, 4, 1, 1)])
@pytest.mark.parametrize("name", ["plain", "offset", "lengths", *CAPPED])
def test_gradients_of_bias_and_logsumexp(name: str, shape: tuple[int, ...]) -> None:
    """The blocks give those that flash attention lacks."""
    options = OPTIONS.get(name) or CAPPED.get(name) or {}
    bias = torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    want = gradients("generic", arrays(), bias, with_lse=True, **options)
    torch.testing.assert_close(gradients("blocked", arrays(), bias, with_lse=True, **options), want)


def test_gradients_do_not_see_padding() -> None:
    """NaN beyond the lengths reaches no gradient."""
    q, k, v = arrays()
    q[1, :, 40:], k[1, :, 100:], v[1, :, 100:] = (torch.nan,) * 3
    options = {"q_lengths": torch.tensor([150, 40]), "kv_lengths": torch.tensor([180, 100]), "right": 0}
    for kernel in ("sdpa-flash", "blocked"):
        for gradient in gradients(kernel, [q, k, v], with_lse=False, **options):
            assert gradient.isfinite().all()


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # PyTorch's own, for its jvp
@pytest.mark.parametrize("options", [{}, {"softcap": 0.9}, {"causal": "bottom_right"}], ids=str)
def test_transforms(options: dict[str, Any]) -> None:
    """torch.func: grad, vmap, and jvp, which flash attention lacks."""
    q, k, v = arrays()

    def total(q: Any) -> Any:
        return xo.attention(q, k, v, **options).sin().sum()

    leaf = q.clone().requires_grad_()
    (want,) = torch.autograd.grad(total(leaf), leaf)
    torch.testing.assert_close(torch.func.grad(total)(q), want)
    tangent = torch.ones_like(q)
    torch.testing.assert_close(torch.func.jvp(total, (q,), (tangent,))[1], (want * tangent).sum())
    rows = torch.vmap(lambda q, k, v: xo.attention(q, k, v, layout="HSD", **options))(q, k, v)
    torch.testing.assert_close(rows, xo.attention(q, k, v, **options))


@pytest.mark.parametrize("options", [{}, {"softcap": 0.9}, {"causal": "bottom_right"}], ids=str)
def test_compiled_gradients(options: dict[str, Any]) -> None:
    """In one graph, forward and backward."""

    def total(q: Any, k: Any, v: Any) -> Any:
        return xo.attention(q, k, v, **options).sin().sum()

    leaves = [x.requires_grad_() for x in arrays()]
    want = torch.autograd.grad(total(*leaves), leaves)
    torch._dynamo.reset()
    compiled = torch.compile(total, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(torch.autograd.grad(compiled(*leaves), leaves), want)
