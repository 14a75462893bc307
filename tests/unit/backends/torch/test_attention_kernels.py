"""The arguments of PyTorch's attention kernels on CUDA; their definitions in double precision replace the kernels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops._ops.attention.arguments import request
from xarrayops.plugin import Attention, Call, NotServed, candidates
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

torch = pytest.importorskip("torch", exc_type=ImportError)
from torch._dynamo.exc import BackendCompilerFailed, FailOnRecompileLimitHit, Unsupported  # noqa: E402
from xarrayops_backends.torch._attention import blocks, cuda, flash  # noqa: E402
from xarrayops_backends.torch._attention.candidates import or_next, says_no_code  # noqa: E402

KERNELS = {name: (function, refusal) for name, function, refusal in find.named("torch").kernels("attention")}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget recorded failures between tests."""
    monkeypatch.setattr(candidates, "_failures", {})


def definition(a: Attention, visible: Any) -> tuple[Any, Any]:
    """Attention of (B, L, H, D) arrays in double precision; visible (B, Lq, Lk). Empty rows are as in flash."""
    groups = a.q.shape[2] // a.k.shape[2]
    k, v = (x.repeat_interleave(groups, 2) for x in (a.k, a.v))
    scores = torch.einsum("bqhd,bkhd->bhqk", a.q, k) * a.scale
    scores = torch.where(visible[:, None], scores, -math.inf)
    lse = torch.logsumexp(scores, 3)
    weights = torch.exp(scores - torch.where(lse == -math.inf, 0.0, lse)[..., None])
    out = torch.einsum("bhqk,bkhd->bqhd", weights, torch.where(visible.any(1)[:, :, None, None], v, 0.0))
    return out, torch.where(lse == -math.inf, math.inf, lse)


def as_flash(
    q: Any, k: Any, v: Any, begins_q: Any, begins_k: Any, max_q: int, max_k: int, dropout: float, causal: bool,
    debug: bool, *, scale: float, window_size_left: int = -1, window_size_right: int = -1, seqused_k: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The treatment of limits, positions and lengths in flash_api.cpp."""
    left = -1 if window_size_left >= max_k else window_size_left
    right = -1 if window_size_right >= max_k else window_size_right
    right = 0 if causal and max_q > 1 else right
    if left < 0 <= right:
        left = max_k
    elif right < 0 <= left:
        right = max_k
    if begins_q is None:
        assert seqused_k is None, "the dense kernel drops it"
        lengths = torch.full((q.shape[0],), max_k)
    else:
        assert begins_q.dtype == begins_k.dtype == seqused_k.dtype == torch.int32
        assert k.shape[0] == v.shape[0]
        spans = [(int(b), int(b) + max_k) for b in begins_k[:-1]]
        k, v = (torch.stack([x[begin : begin + max_k] for begin, _ in spans]) for x in (k, v))
        q, lengths = q.view(-1, max_q, *q.shape[1:]), seqused_k
    i, j = torch.arange(max_q)[:, None], torch.arange(max_k)
    place = i + lengths[:, None, None] - max_q
    visible = (j < lengths[:, None, None]) & (i >= 0)
    if left >= 0:
        visible = visible & (j >= place - left) & (j <= place + right)
    out, lse = definition(Attention(q, torch.nan_to_num(k), v, scale), visible)
    if begins_q is not None:
        out, lse = out.flatten(0, 1), lse.transpose(0, 1).flatten(1)
    return out, lse, None, None, None


@pytest.fixture
def defined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the kernel by its definition."""
    monkeypatch.setattr(torch.ops.aten, "_flash_attention_forward", as_flash)


def random_arrays(seed: int, lq: int, lk: int, heads: tuple[int, int] = (4, 2)) -> list[Any]:
    draw = torch.Generator().manual_seed(seed)
    shapes = (2, heads[0], lq, 8), (2, heads[1], lk, 8), (2, heads[1], lk, 8)
    return [torch.randn(shape, generator=draw, dtype=torch.float64) for shape in shapes]


def bands() -> Iterator[tuple[int, int, dict[str, Any]]]:
    random = np.random.default_rng(7)
    for _ in range(300):
        lq, lk = (int(n) for n in random.integers(1, 9, 2))
        left, right = (None if random.random() < 0.3 else int(random.integers(0, 10)) for _ in range(2))
        yield lq, lk, {"causal": int(random.integers(-9, 10)), "window": (left, right)}
        yield lq, lk, {"window": (left, right, int(random.integers(-9, 10)))}
        yield lq, lk, {"causal": "bottom_right", "window": (left, None)}
        yield lq, lk, {"causal": "top_left"}
        yield lq, lk, {"window": (left, right, "bottom_right"), "kv_lengths": random.integers(0, lk + 1, 2).tolist()}
        yield lq, lk, {"causal": "bottom_right", "kv_lengths": random.integers(0, lk + 1, 2).tolist()}


def form(q: Any, k: Any, v: Any, **options: Any) -> Attention:
    """The call in the form that kernels get."""
    names = ("mask", "bias", "causal", "window", "scale", "softcap", "q_lengths", "kv_lengths")
    given = {"causal": False, **options}
    return request(q, k, v, "BHSD", *(given.get(name) for name in names), True)


def test_bands_and_lengths_in_the_arguments_of_flash(defined: None) -> None:
    """Offsets, windows and lengths. Calls that the kernel cannot express are refused, and most can be expressed."""
    served, kinds = 0, set()
    for n, (lq, lk, options) in enumerate(bands()):
        q, k, v = random_arrays(n, lq, lk)
        a = form(q, k, v, **options)
        limits = flash.band(a)
        if isinstance(limits, str):
            kinds.add(limits)
            continue
        served += 1
        out, lse = flash.flash(a)
        want, want_lse = attention_oracle(*(x.numpy() for x in (q, k, v)), **options)
        np.testing.assert_allclose(out, want, atol=1e-12, err_msg=f"{lq} {lk} {options}")
        np.testing.assert_allclose(lse, want_lse, atol=1e-12, err_msg=f"{lq} {lk} {options}")
    assert served > 1200
    assert len(kinds) == 2, kinds


LAYOUTS = {
    "BHSD": lambda x: x.contiguous(),
    "BSHD": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "a part of a longer cache": lambda x: torch.cat([x, torch.full_like(x, math.nan)], 2)[:, :, : x.shape[2]],
    "a part of a longer cache, BSHD": lambda x: (
        torch.cat([x, torch.full_like(x, math.nan)], 2).transpose(1, 2).contiguous().transpose(1, 2)[:, :, : x.shape[2]]
    ),
}


@pytest.mark.parametrize("queries", [1, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_decoding_copies_no_keys(layout: str, queries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel gets the keys and values without a copy or a repeat, whatever is beyond their lengths."""
    q, k, v = random_arrays(3, queries, 40, (8, 2))
    for x in (k, v):
        x[0, :, 17:] = math.nan
    k, v = LAYOUTS[layout](k), LAYOUTS[layout](v)
    seen = []

    def look(*args: Any, **options: Any) -> Any:
        seen.extend(args[1:3])
        return as_flash(*args, **options)

    monkeypatch.setattr(torch.ops.aten, "_flash_attention_forward", look)
    options: dict[str, Any] = {"kv_lengths": [17, 40], "causal": "bottom_right"}
    out, lse = flash.flash(form(q, k, v, **options))
    assert [x.data_ptr() for x in seen] == [k.data_ptr(), v.data_ptr()]
    assert [x.shape[1] for x in seen] == [2, 2]
    want, want_lse = attention_oracle(*(np.nan_to_num(x.numpy()) for x in (q, k, v)), **options)
    np.testing.assert_allclose(out, want, atol=1e-12)
    np.testing.assert_allclose(lse, want_lse, atol=1e-12)


def test_sequences_at_unequal_distances() -> None:
    """Keys and values of different layouts do not have one distance between sequences."""
    _, k, v = random_arrays(3, 1, 40)
    q = k[:, :, :1]
    assert flash.sequences(Attention(q, k, v, 1.0)) == 80
    assert flash.sequences(Attention(q, k, LAYOUTS["BSHD"](v), 1.0)) is None
    assert flash.sequences(Attention(q, k, v.flip(2).expand(2, 2, 40, 8), 1.0)) == 80
    assert flash.sequences(Attention(q, k[:1], v[:1], 1.0)) == 40
    assert flash.sequences(Attention(q, k[:, :, :1].expand(2, 2, 40, 8), v, 1.0)) is None


@pytest.mark.parametrize("options", [{}, {"right": 0}, {"left": 2, "right": 0}], ids=str)
@pytest.mark.parametrize("kernel", ["sdpa-cudnn", "sdpa-efficient"])
@pytest.mark.parametrize("queries", [1, 5])
def test_masks_for_cuda(kernel: str, options: dict[str, Any], queries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The preparation of a call for the public function, which serves it on the CPU here."""
    monkeypatch.setattr(cuda, "sdpa_kernel", lambda backend: nullcontext())
    q, k, v = random_arrays(5, queries, 7)
    draw = torch.Generator().manual_seed(3)
    for more in (
        {},
        {"mask": torch.rand((2, 1, queries, 7), generator=draw) > 0.4},
        {"bias": torch.where(torch.rand((1, 4, queries, 1), generator=draw) > 0.4, 0.5, -math.inf)},
        {"kv_lengths": torch.tensor([0, 4]), "q_lengths": torch.tensor([1, queries])},
        {"kv_lengths": torch.tensor([3, 6]), "offset": torch.tensor([2, 5])},
    ):
        bad_k, bad_v = k.clone(), v.clone()
        if "kv_lengths" in more:
            bad_k[1, :, 6:], bad_v[1, :, 6:] = math.nan, math.nan
        given = Attention(q, bad_k, bad_v, 0.2, **more, **options)
        out, lse = KERNELS[kernel][0](given)
        want, _ = KERNELS["generic"][0](given)
        torch.testing.assert_close(out, want)
        assert lse is None


@pytest.mark.parametrize("kernel", [cuda.cudnn, cuda.efficient])
def test_masks_have_a_contiguous_last_axis(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if one value serves all keys: the kernels refuse a last axis with stride 0."""
    seen = []

    def look(q: Any, k: Any, v: Any, added: Any, **options: Any) -> Any:
        seen.append((tuple(added.shape), added.stride(3)))
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, added, **options)

    monkeypatch.setattr(cuda, "sdpa_kernel", lambda backend: nullcontext())
    monkeypatch.setattr(cuda, "scaled_dot_product_attention", look)
    q, k, v = random_arrays(1, 5, 7)
    mask = (torch.arange(5) % 2 == 0)[None, None, :, None]
    bias = torch.linspace(-1, 1, 4, dtype=q.dtype)[None, :, None, None]
    for more, extents in (
        ({"mask": mask}, (1, 1, 5)),
        ({"bias": bias}, (1, 4, 1)),
        ({"mask": mask[:, :, :1]}, (1,) * 3),
    ):
        out, _ = kernel(Attention(q, k, v, 0.3, **more))
        host = {name: x.numpy() for name, x in more.items()}
        want, _ = attention_oracle(*(x.numpy() for x in (q, k, v)), scale=0.3, **host)
        np.testing.assert_allclose(out, want, atol=1e-12)
        assert seen.pop() == ((*extents, 7), 1)


def test_grouped_heads_are_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """cuDNN supports them, and one query of several heads is equivalent to several queries of one head."""
    seen = []

    def look(q: Any, k: Any, v: Any, *args: Any, **options: Any) -> Any:
        seen.append((tuple(q.shape), tuple(k.shape), options["enable_gqa"]))
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, *args, **options)

    monkeypatch.setattr(cuda, "sdpa_kernel", lambda backend: nullcontext())
    monkeypatch.setattr(cuda, "scaled_dot_product_attention", look)
    for queries in (1, 5):
        cuda.cudnn(Attention(*random_arrays(1, queries, 7), 0.3))
        cuda.efficient(Attention(*random_arrays(1, queries, 7), 0.3))
    keys, repeated = (2, 2, 7, 8), (2, 4, 7, 8)
    assert seen == [
        ((2, 4, 1, 8), keys, True),
        ((2, 2, 2, 8), keys, False),
        ((2, 4, 5, 8), keys, True),
        ((2, 4, 5, 8), repeated, False),
    ]


PLANLESS = RuntimeError("cuDNN Frontend error: [cudnn_frontend] Error: No execution plans support the graph.")


def test_a_kernel_without_a_plan_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next kernel serves this call and each later call of the same form; explain gives the reason."""
    tried: list[str] = []

    def planless(a: Attention, /) -> Any:
        tried.append("cudnn")
        raise PLANLESS

    def fine(a: Attention, /) -> Any:
        tried.append("blocked")
        return a.q, None

    torch_ = find.named("torch")
    kernels = [("sdpa-cudnn", or_next(planless), candidates.always), ("blocked", fine, candidates.always)]
    monkeypatch.setattr(torch_, "kernels", lambda verb: kernels)
    serve = candidates.first_able("attention", kernels)
    q, k, v = random_arrays(0, 5, 7)
    for _ in range(3):
        serve(Attention(q, k, v, 0.5))
    assert tried == ["cudnn", "blocked", "blocked", "blocked"]
    serve(Attention(q[:, :, :3], k, v, 0.5))
    assert tried[4:] == ["cudnn", "blocked"], "another form may have a plan"
    first, second = xo.explain("attention", q, k, v, scale=0.5).candidates
    assert not xo.explain("attention", q, k, v, scale=0.75).candidates[0].reason
    serve(form(q, k, v, scale=0.5)._replace(return_lse=False))
    first = xo.explain("attention", q, k, v, scale=0.5).candidates[0]
    assert (first.ok, second.ok) == (False, True)
    assert "failed when it ran: cuDNN Frontend error" in first.reason


def test_failures_do_not_stop_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recorded failure for a form and layout is not looked up for symbolic sizes."""
    kernel = next(k for k in find.named("torch").kernels("attention") if k[0] == "sdpa-flash")
    q, k, v = random_arrays(1, 5, 7)
    arguments = form(q, k, v)
    candidates.remember(kernel, Call((arguments,), {}), NotServed("no code"))
    assert "no code" in str(candidates.refusal(kernel, Call((arguments,), {})))
    other = arguments._replace(q=q.mT.contiguous().mT)
    assert candidates.refusal(kernel, Call((other,), {})) is None, "another layout"
    torch._dynamo.reset()
    attend = torch.compile(xo.attention, backend="eager", dynamic=True, fullgraph=True)
    torch.testing.assert_close(attend(q, k, v), xo.attention(q, k, v))


@pytest.mark.parametrize(
    ("error", "goes_on"),
    [
        (PLANLESS, True),
        (RuntimeError("No available kernel. Aborting execution."), True),
        (RuntimeError("FA4 flash_attention forward unsupported: FA4 requires compute capability 9.0 or 10.0"), True),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), False),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (RuntimeError("cuDNN Frontend error: CUDNN_STATUS_EXECUTION_FAILED"), False),
        (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), False),
        (RuntimeError("something else"), False),
        (FailOnRecompileLimitHit("recompile_limit reached with fullgraph=True"), True),
        (Unsupported("no graph of this"), True),
        (BackendCompilerFailed("inductor", RuntimeError("no valid triton configs"), None), True),
        (BackendCompilerFailed("inductor", RuntimeError("CUDA out of memory"), None), False),
        (BackendCompilerFailed("inductor", RuntimeError("CUDA error: unspecified launch failure"), None), False),
    ],
    ids=str,
)
def test_only_a_missing_implementation_falls_back(error: Exception, goes_on: bool) -> None:
    """An error for lack of memory, or of a broken device, is never hidden by another kernel."""
    assert says_no_code(error) is goes_on

    def fail(a: Attention, /) -> Any:
        raise error

    kernels = [("fails", or_next(fail), candidates.always), ("serves", lambda a: "served", candidates.always)]
    serve = candidates.first_able("attention", kernels)
    arguments = Attention(*random_arrays(0, 2, 2), 1.0)
    if goes_on:
        assert serve(arguments) == "served"
    else:
        with pytest.raises(type(error)) as caught:
            serve(arguments)
        assert caught.value is error


BLOCKED: dict[str, dict[str, Any]] = {
    "plain": {},
    "softcap": {"softcap": 3.0, "causal": "bottom_right"},
    "window": {"window": (30, 5, "bottom_right"), "scale": -0.2},
    "bias": {"bias": torch.linspace(-2, 2, 90)[None, None, None]},
    "lengths": {"kv_lengths": [40, 90], "q_lengths": [70, 1], "causal": 9},
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", BLOCKED)
def test_blocks_in_half_precision(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operands keep their dtype, sums are in single precision; computed by an equivalent product on the CPU."""
    operands = []

    def product(x: Any, y: Any) -> Any:
        operands.append(y.dtype)
        return torch.bmm(x.to(y.dtype).double(), y.double()).float()

    monkeypatch.setattr(blocks, "_keeps_halves", lambda a: True)
    monkeypatch.setattr(blocks, "product", product)
    monkeypatch.setattr(blocks, "SCORES", 1 << 12)
    q, k, v = (x.to(dtype) for x in random_arrays(2, 70, 90))
    options = BLOCKED[name]
    out, lse = xo.attention(q, k, v, **options, return_lse=True, implementation="torch:blocked")
    host = {n: x.numpy() if isinstance(x, torch.Tensor) else x for n, x in options.items()}
    want, want_lse = attention_oracle(*(x.double().numpy() for x in (q, k, v)), **host)
    np.testing.assert_allclose(out.double().numpy(), want, atol=4 * torch.finfo(dtype).eps)
    np.testing.assert_allclose(lse, want_lse, atol=1e-5)
    assert set(operands) == {dtype}
