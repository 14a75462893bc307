"""PyTorch's attention kernels with gradients, the transforms of torch.func and torch.compile."""

from __future__ import annotations

from typing import Any

import pytest

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops.plugin import Attention

torch = pytest.importorskip("torch", exc_type=ImportError)

KERNELS = {name: function for name, function, _ in find.named("torch").kernels("attention")}
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


def gradients(kernel: str, given: list[Any], bias: Any = None, *, return_lse: bool, **options: Any) -> list[Any]:
    leaves = [x.detach().clone().requires_grad_() for x in (*given, *([] if bias is None else [bias]))]
    scale = options.pop("scale", 0.3)
    call = Attention(*leaves[:3], scale, bias=None if bias is None else leaves[3], return_lse=return_lse, **options)
    out, lse = KERNELS[kernel](call)
    loss = (out * torch.linspace(-1, 1, out.shape[3], dtype=out.dtype)).sum()
    if return_lse:
        loss = loss + torch.where(lse.isfinite(), lse, 0.0).square().sum()
    return list(torch.autograd.grad(loss, leaves))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set small block sizes, so that there are many blocks."""
    from xarrayops_backends.torch._attention import blocks, cpu

    monkeypatch.setattr(blocks, "SCORES", 1 << 14)
    monkeypatch.setattr(cpu, "MASK", 1 << 13)


@pytest.mark.parametrize("kernel", ["sdpa-flash", "blocked"])
@pytest.mark.parametrize("name", [*OPTIONS, *CAPPED])
def test_gradients_of_many_blocks(name: str, kernel: str) -> None:
    """Compare with the generic implementation, which autograd differentiates step by step."""
    if kernel == "sdpa-flash" and name in CAPPED:
        return
    options = OPTIONS.get(name) or CAPPED.get(name) or {}
    for sizes in ((8, 8), (3, 5)):
        want = gradients("generic", arrays(sizes), return_lse=False, **options)
        got = gradients(kernel, arrays(sizes), return_lse=False, **options)
        torch.testing.assert_close(got, want)


@pytest.mark.parametrize("shape", [(2, 4, 150, 180), (1, 1, 150, 1), (2, 1, 1, 180), (1, 4, 1, 1)])
@pytest.mark.parametrize("name", ["plain", "offset", "lengths", *CAPPED])
def test_gradients_of_bias_and_logsumexp(name: str, shape: tuple[int, ...]) -> None:
    """Attention by blocks computes the gradients that flash attention lacks."""
    options = OPTIONS.get(name) or CAPPED.get(name) or {}
    bias = torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    want = gradients("generic", arrays(), bias, return_lse=True, **options)
    torch.testing.assert_close(gradients("blocked", arrays(), bias, return_lse=True, **options), want)


def test_gradients_do_not_see_padding() -> None:
    """NaN beyond the lengths does not reach a gradient."""
    q, k, v = arrays()
    q[1, :, 40:], k[1, :, 100:], v[1, :, 100:] = (torch.nan,) * 3
    options = {"q_lengths": torch.tensor([150, 40]), "kv_lengths": torch.tensor([180, 100]), "right": 0}
    for kernel in ("sdpa-flash", "blocked"):
        for gradient in gradients(kernel, [q, k, v], return_lse=False, **options):
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


def test_gradients_of_gradients() -> None:
    """Compare with the generic implementation; a second derivative is kept next to a first one that needs none."""
    q, k, v = (x[:1, :, :20].requires_grad_() for x in arrays())

    def second(kernel: str) -> Any:
        bias = (q * 2).sum(3, keepdim=True)  # depends on another argument
        out, lse = KERNELS[kernel](Attention(q, k, v, 0.3, softcap=2.0, right=3, bias=bias, return_lse=True))
        (gradient,) = torch.autograd.grad(out.sin().sum() + lse.square().sum(), q, create_graph=True)
        return torch.autograd.grad(gradient.square().sum() + out.sum(), (q, k, v))

    torch.testing.assert_close(second("blocked"), second("generic"))


def test_gradients_of_gradients_by_transforms() -> None:
    """torch.func.grad of itself, and every row of a Jacobian at once."""
    q, k, v = (x[:1, :, :6] for x in arrays())

    def total(q: Any, kernel: str) -> Any:
        return xo.attention(q, k, v, implementation=kernel).sin().sum()

    def second(kernel: str | None) -> Any:
        return torch.func.grad(lambda q: torch.func.grad(total)(q, kernel).square().sum())(q)

    torch.testing.assert_close(second(None), second("torch:generic"))
    with pytest.raises(xo.Unsupported, match="only grad, not nested"):
        second("torch:sdpa-flash")
    capped = lambda q: xo.attention(q, k, v, softcap=2.0)
    jacobian = torch.autograd.functional.jacobian
    torch.testing.assert_close(jacobian(capped, q, vectorize=True), jacobian(capped, q))
    leaf = q.clone().requires_grad_()
    out = capped(leaf)
    rows = torch.eye(out.numel(), dtype=out.dtype).reshape(-1, *out.shape)
    got = torch.vmap(lambda row: torch.autograd.grad(out, leaf, row)[0])(rows)
    torch.testing.assert_close(got.reshape(*out.shape, *q.shape), jacobian(capped, q))


@pytest.mark.parametrize("name", ["mask", "q_lengths", "offset"])
def test_changed_before_the_gradient(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An array that is modified in place between forward and backward raises an error."""
    from xarrayops_backends.torch._attention import conditions

    monkeypatch.setattr(conditions, "can_read_lengths", lambda a: False)  # otherwise they are read at once, not kept
    q, k, v = (x.requires_grad_() for x in arrays())
    ones = {"mask": (1, 1, 150, 180), "q_lengths": (2,), "offset": (2,)}
    option = torch.ones(ones[name], dtype=torch.bool if name == "mask" else torch.int64)
    out, _ = KERNELS["blocked"](Attention(q, k, v, 0.3, right=0, **{name: option}))
    option.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kernel", ["sdpa-flash", "blocked"])
def test_autocast(kernel: str, compiled: bool) -> None:
    """Autocast changes nothing: the dtypes of the arguments decide the precision."""
    leaves = [x.float().requires_grad_() for x in arrays()]

    def attend(q: Any, k: Any, v: Any) -> Any:
        return xo.attention(q, k, v, causal="bottom_right", implementation=f"torch:{kernel}")

    want = attend(*leaves)
    gradients = torch.autograd.grad(want.sum(), leaves)
    torch._dynamo.reset()
    serve = torch.compile(attend, fullgraph=True, backend="aot_eager") if compiled else attend
    with torch.autocast("cpu", torch.bfloat16):
        out = serve(*leaves)
        torch.testing.assert_close(out, want)
        if not compiled:
            torch.testing.assert_close(torch.autograd.grad(out.sum(), leaves), gradients)
        with torch.no_grad():
            _, lse = xo.attention(*leaves, softcap=2.0, return_lse=True)
    assert lse.dtype == torch.float32


def test_gradient_of_a_narrow_bias() -> None:
    """Summed over many blocks in float32, and rounded once."""
    q, k, v = (x.bfloat16() for x in arrays())
    bias = torch.zeros(1, 1, 1, 180, dtype=torch.bfloat16)
    wide = gradients("blocked", [x.float() for x in (q, k, v)], bias.float(), return_lse=True)[3]
    narrow = gradients("blocked", [x.float() for x in (q, k, v)], bias, return_lse=True)[3]
    torch.testing.assert_close(narrow, wide.bfloat16(), rtol=0, atol=0)


@pytest.mark.parametrize("queries", [1, 7])
@pytest.mark.parametrize("options", [{}, {"causal": "bottom_right"}, {"softcap": 2.0}], ids=str)
def test_compiled_decoding(options: dict[str, Any], queries: int) -> None:
    """A growing cache is compiled twice: for the first size, and for any number of keys."""
    from torch._dynamo.testing import CompileCounter

    torch._dynamo.reset()
    counter = CompileCounter()
    attend = torch.compile(lambda q, k, v: xo.attention(q, k, v, **options), fullgraph=True, backend=counter)
    q, (k, v) = torch.randn(1, 4, queries, 8), torch.randn(2, 1, 2, 30, 8)
    for keys in range(9, 30):
        near = k[:, :, :keys].contiguous(), v[:, :, :keys].contiguous()
        torch.testing.assert_close(attend(q, *near), xo.attention(q, *near, **options))
    assert counter.frame_count == 2


@pytest.mark.parametrize("queries", [1, 5])
@pytest.mark.parametrize("options", [{}, {"softcap": 2.0}], ids=str)
def test_exported_with_any_number_of_keys(queries: int, options: dict[str, Any]) -> None:
    """Then the offset of the bottom right is symbolic."""

    class Attend(torch.nn.Module):  # type: ignore[misc]
        def forward(self, q: Any, k: Any, v: Any) -> Any:
            return xo.attention(q, k, v, causal="bottom_right", **options)

    q, (k, v) = torch.randn(1, 2, queries, 8), torch.randn(2, 1, 2, 40, 8)
    keys = torch.export.Dim("keys", min=6, max=60)
    few = k[:, :, :9].contiguous(), v[:, :, :9].contiguous()
    exported = torch.export.export(Attend(), (q, *few), dynamic_shapes=(None, {2: keys}, {2: keys}))
    torch.testing.assert_close(exported.module()(q, k, v), Attend()(q, k, v))
