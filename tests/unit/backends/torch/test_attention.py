"""PyTorch's attention kernels: which one serves a call, and that each is correct and keeps its memory bound."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops.plugin import Attention, Call
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

torch = pytest.importorskip("torch", exc_type=ImportError)
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

KERNELS = {name: (function, refusal) for name, function, refusal in find.named("torch").kernels("attention")}


def qkv(
    lq: int = 5, lk: int = 7, *, batch: int = 2, heads: tuple[int, int] = (4, 2), sizes: tuple[int, int] = (8, 8)
) -> tuple[Any, Any, Any]:
    draw = torch.Generator().manual_seed(lq + lk)
    (hq, hkv), (d, dv) = heads, sizes
    shapes = (batch, hq, lq, d), (batch, hkv, lk, d), (batch, hkv, lk, dv)
    q, k, v = (torch.randn(shape, generator=draw, dtype=torch.float64) for shape in shapes)
    return q, k, v


def check(q: Any, k: Any, v: Any, tolerance: float = 1e-12, implementation: str | None = None, **options: Any) -> None:
    host = {name: np.asarray(x) if isinstance(x, torch.Tensor) else x for name, x in options.items()}
    want, want_lse = attention_oracle(*(x.double().numpy() for x in (q, k, v)), **host)
    out, lse = xo.attention(q, k, v, **options, return_lse=True, implementation=implementation)
    assert out.dtype == q.dtype
    np.testing.assert_allclose(out.double().numpy(), want, rtol=0, atol=tolerance)
    np.testing.assert_allclose(lse.double().numpy(), want_lse, rtol=0, atol=tolerance)


def flags(*shape: int) -> Any:
    return torch.rand(shape, generator=torch.Generator().manual_seed(3)) > 0.4


LENGTHS = {"q_lengths": torch.tensor([700, 0, 333]), "kv_lengths": torch.tensor([900, 900, 0])}
LONG: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"causal": "top_left"},
    "causal, negative scale": {"causal": "top_left", "scale": -0.3},
    "causal, no scale": {"causal": "top_left", "scale": 0},
    "bottom right": {"causal": "bottom_right"},
    "queries without keys": {"causal": -30},
    "window of both sides": {"window": (70, 40), "causal": 5},
    "window of the past": {"window": (100, None), "causal": "bottom_right"},
    "no visible keys": {"window": (3, 3), "causal": 5000},
    "mask of keys": {"mask": flags(3, 1, 1, 900)},
    "mask of rows": {"mask": flags(700, 1), "causal": "bottom_right"},
    "mask of heads": {"mask": flags(1, 4, 700, 900)},
    "bias": {"bias": torch.where(flags(4, 700, 1), 0.3, -math.inf), "mask": flags(900)},
    "lengths": LENGTHS,
    "lengths and all else": {**LENGTHS, "causal": "bottom_right", "window": (200, 0), "mask": flags(3, 1, 700, 900)},
    "softcap": {"softcap": 1.5, "causal": "bottom_right"},
}


@pytest.mark.parametrize("kernel", ["sdpa-flash", "blocked"])
@pytest.mark.parametrize("name", LONG)
def test_values_of_many_blocks(name: str, kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths that need many blocks, in each kernel that runs on the CPU."""
    from xarrayops_backends.torch._attention import blocks, cpu

    monkeypatch.setattr(blocks, "SCORES", 1 << 16)
    monkeypatch.setattr(cpu, "MASK", 1 << 16)
    options = LONG[name]
    if kernel == "sdpa-flash" and "softcap" in options:
        with pytest.raises(xo.Unsupported, match="softcap"):
            xo.attention(*qkv(700, 900, batch=3), **options, implementation="torch:sdpa-flash")
        return
    for sizes in ((8, 8), (8, 5), (3, 8)):
        check(*qkv(700, 900, batch=3, sizes=sizes), **options, implementation=f"torch:{kernel}")


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 4e-6), ("float16", 4e-3), ("bfloat16", 3e-2)])
@pytest.mark.parametrize("kernel", ["sdpa-flash", "blocked"])
def test_values_of_other_dtypes(dtype: str, tolerance: float, kernel: str) -> None:
    """Each of them is tested with masks."""
    arrays = [x.to(getattr(torch, dtype)) for x in qkv(33, 70)]
    for options in (
        {},
        {"causal": "bottom_right"},
        {"mask": flags(2, 1, 1, 70)},
        {"kv_lengths": torch.tensor([70, 9])},
    ):
        check(*arrays, tolerance, f"torch:{kernel}", **options)


DECODE: dict[str, dict[str, Any]] = {
    "plain": {},
    "bottom right": {"causal": "bottom_right"},
    "window": {"causal": "bottom_right", "window": (8, 0)},
    "lengths": {"kv_lengths": torch.tensor([50, 7]), "causal": "bottom_right"},
    "mask": {"mask": flags(2, 1, 1, 50)},
    "mask of heads": {"mask": flags(2, 4, 1, 50)},
    "before all keys": {"causal": -1},
}


@pytest.mark.parametrize("name", DECODE)
@pytest.mark.parametrize("threads", [1, 64])
def test_one_query(name: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decoding step: heads that share keys are treated as queries if enough work remains for every thread."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    check(*qkv(1, 50), **DECODE[name], implementation="torch:sdpa-flash")


def test_logsumexp_without_keys_is_writable() -> None:
    """Every row has its own logsumexp."""
    _, lse = KERNELS["blocked"][0](Attention(*qkv(5, 0), 0.3, return_lse=True))
    assert (lse.add_(1) == -math.inf).all()


@pytest.mark.parametrize("options", [{}, {"softcap": 2.0}], ids=str)
def test_no_rows_with_lengths(options: dict[str, Any]) -> None:
    """A batch of size 0 has 0 lengths."""
    q, k, v = (x[:0] for x in qkv())
    none = torch.zeros(0, dtype=torch.int64)
    out, lse = xo.attention(q, k, v, q_lengths=none, kv_lengths=none, return_lse=True, **options)
    assert (tuple(out.shape), tuple(lse.shape)) == ((0, 4, 5, 8), (0, 4, 5))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")  # PyTorch's own
def test_traced_lengths_are_not_constants() -> None:
    """torch.jit.trace keeps the lengths as arguments, not as constants."""
    q, k, v = qkv()

    def attend(lengths: Any) -> Any:
        return KERNELS["blocked"][0](Attention(q, k, v, 0.3, kv_lengths=lengths))[0]

    traced = torch.jit.trace(attend, torch.tensor([3, 4]))
    other = torch.tensor([7, 1])
    torch.testing.assert_close(traced(other), attend(other))


@pytest.mark.parametrize("options", [{"causal": "top_left"}, {"causal": "top_left", "window": (9, 0)}], ids=str)
def test_compiled_for_all_shapes(options: dict[str, Any]) -> None:
    """One graph, in which the head size, the scale and the lengths are symbolic."""
    torch._dynamo.reset()
    attend = torch.compile(partial(xo.attention, **options), backend="aot_eager", dynamic=True, fullgraph=True)
    for sizes in ((8, 8), (12, 12)):
        q, k, v = qkv(5, 7, sizes=sizes)
        want, _ = attention_oracle(*(x.numpy() for x in (q, k, v)), **options)
        np.testing.assert_allclose(attend(q, k, v), want, atol=1e-12)


def call(device: str = "cpu", dtype: Any = torch.float32, like: Any = (5, 7), **options: Any) -> Call:
    sizes = options.pop("sizes", (64, 64))
    q, k, v = (torch.empty(x.shape, dtype=dtype, device=device) for x in qkv(*like, sizes=sizes))
    return Call((Attention(q, k, v, 0.125, **options),), {})


def chosen(call: Call) -> str:
    return next(name for name, (_, refuses) in KERNELS.items() if refuses(call) is None)


def test_choice_on_the_cpu() -> None:
    """Flash attention is chosen if it supports the call."""
    grad = {"return_lse": True}
    assert chosen(call()) == chosen(call(right=0, left=3, mask=flags(5, 7)[None, None])) == "sdpa-flash"
    assert chosen(call(kv_lengths=torch.tensor([3, 4]))) == chosen(call(**grad)) == "sdpa-flash"
    assert chosen(call(softcap=2.0)) == chosen(call(like=(5, 0))) == chosen(call(sizes=(64, 0))) == "blocked"
    followed = call(**grad)
    followed.args[0].q.requires_grad_()
    assert chosen(followed) == "blocked"
    with torch.no_grad():
        assert chosen(followed) == "sdpa-flash"
    assert chosen(call(bias=torch.zeros(1, 1, 5, 7, requires_grad=True))) == "blocked"
    with FakeTensorMode():
        assert chosen(call(kv_lengths=torch.tensor([3, 4]))) == "blocked"


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("options", [{}, {"softcap": 3.0, "causal": "bottom_right"}], ids=str)
def test_fake_tensors(device: str, options: dict[str, Any]) -> None:
    """Fake tensors give shape, dtype and device without values, also on a machine without a GPU."""
    with FakeTensorMode():
        q, k, v = (torch.empty(x.shape, device=device) for x in qkv(sizes=(8, 6)))
        lengths = torch.empty(2, dtype=torch.int64, device=device)
        out, lse = xo.attention(q, k, v, **options, kv_lengths=lengths, return_lse=True)
    assert (tuple(out.shape), out.dtype, out.device.type) == ((2, 4, 5, 6), torch.float32, device)
    assert (tuple(lse.shape), lse.dtype) == ((2, 4, 5), torch.float32)


class Largest(TorchDispatchMode):  # type: ignore[misc]
    """Records the number of items of the largest result of any operation."""

    items = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        results = func(*args, **(kwargs or {}))
        for x in results if isinstance(results, (tuple, list)) else [results]:
            if isinstance(x, torch.Tensor):
                self.items = max(self.items, x.untyped_storage().nbytes() // x.itemsize)
        return results


@pytest.mark.parametrize("name", [name for name in LONG if "mask of heads" not in name])
def test_no_matrix_of_scores(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No result, forward or backward, is as large as a quarter of the scores of one head."""
    from xarrayops_backends.torch._attention import blocks, cpu

    monkeypatch.setattr(blocks, "SCORES", 1 << 16)
    monkeypatch.setattr(cpu, "MASK", 1 << 16)
    options = {key: x for key, x in LONG[name].items() if key not in ("mask", "q_lengths", "kv_lengths")}
    q, k, v = (x.requires_grad_() for x in qkv(1200, 1200, batch=1, heads=(1, 1)))
    if "bias" in options:
        options["bias"] = torch.zeros(1, 1, 1200, 1)
    with Largest() as largest:
        xo.attention(q, k, v, **options).sum().backward()
    assert q.grad is not None
    assert largest.items <= 1200 * 1200 // 4


@pytest.mark.parametrize("name", ["k", "v", "mask", "bias"])
def test_tensors_of_several_devices(name):
    """PyTorch's own kernel would read memory out of bounds."""
    arrays = {"q": torch.ones(1, 2, 4, 8), "k": torch.ones(1, 2, 4, 8), "v": torch.ones(1, 2, 4, 8)}
    arrays |= {"mask": torch.ones(4, 4, dtype=torch.bool), "bias": torch.ones(4, 4)}
    arrays[name] = arrays[name].to("meta")
    q, k, v = (arrays.pop(each) for each in "qkv")
    with pytest.raises(ValueError, match=rf"{name} is on meta, and q on cpu\. Instead: xo\.to_device"):
        xo.attention(q, k, v, **arrays)
