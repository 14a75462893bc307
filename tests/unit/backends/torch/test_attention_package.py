"""The flash-attn package as a candidate, by stand-ins with the signatures and semantics of its versions 2, 3 and 4."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from xarrayops._core.backends import find
from xarrayops._ops.attention.arguments import request
from xarrayops.plugin import Attention, Call
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

torch = pytest.importorskip("torch", exc_type=ImportError)
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from xarrayops_backends.torch._attention import conditions, package  # noqa: E402

HALF = torch.float16
SEEN: list[Any] = []
GENERATION = conditions.generation


def defined(q: Any, k: Any, v: Any, scale: float, causal: bool, window: Any, softcap: float | None) -> tuple[Any, Any]:
    """FlashAttention's semantics for (B, L, H, D) arrays: bottom right, -1 or None: no limit, +inf for empty rows."""
    SEEN.append((q, k, v))
    left, right = (None if n is None or n < 0 else n for n in window)
    lq, lk = q.shape[1], k.shape[1]
    if causal:
        right = 0
    place = torch.arange(lq)[:, None] + lk - lq
    j = torch.arange(lk)
    visible = torch.ones(lq, lk, dtype=torch.bool)
    visible &= True if left is None else j >= place - left
    visible &= True if right is None else j <= place + right
    groups = q.shape[2] // k.shape[2]
    k, v = (x.double().repeat_interleave(groups, 2) for x in (k, v))
    scores = torch.einsum("bqhd,bkhd->bhqk", q.double(), k) * scale
    scores = softcap * torch.tanh(scores / softcap) if softcap else scores
    scores = torch.where(visible, scores, -math.inf)
    lse = torch.logsumexp(scores, 3)
    weights = torch.exp(scores - torch.where(lse == -math.inf, 0.0, lse)[..., None])
    return torch.einsum("bhqk,bkhd->bqhd", weights, v).to(q.dtype), torch.where(lse == -math.inf, math.inf, lse).float()


def two(
    q: Any, k: Any, v: Any, dropout_p: float = 0.0, softmax_scale: Any = None, causal: bool = False,
    window_size: Any = (-1, -1), softcap: float = 0.0, alibi_slopes: Any = None, deterministic: bool = False,
    return_attn_probs: bool = False,
) -> Any:  # fmt: skip
    out, lse = defined(q, k, v, softmax_scale, causal, window_size, softcap)
    return (out, lse, None) if return_attn_probs else out


def three(
    q: Any, k: Any, v: Any, softmax_scale: Any = None, causal: bool = False, qv: Any = None, q_descale: Any = None,
    k_descale: Any = None, v_descale: Any = None, window_size: Any = (-1, -1), attention_chunk: int = 0,
    softcap: float = 0.0, num_splits: int = 1, pack_gqa: Any = None, deterministic: bool = False, sm_margin: int = 0,
    return_attn_probs: bool = False,
) -> Any:  # fmt: skip
    out, lse = defined(q, k, v, softmax_scale, causal, window_size, softcap)
    return (out, lse) if return_attn_probs else out


def four(
    q: Any, k: Any, v: Any, softmax_scale: Any = None, causal: bool = False, window_size: Any = (None, None),
    learnable_sink: Any = None, softcap: float = 0.0, num_splits: int = 1, pack_gqa: Any = None,
    deterministic: bool = False, mask_mod: Any = None, return_lse: bool = False,
) -> Any:  # fmt: skip
    assert not any(n is not None and n < 0 for n in window_size), "no limit must be None"
    out, lse = defined(q, k, v, softmax_scale, causal, window_size, softcap)
    return out, (lse if return_lse else None)


STANDINS = {"2": two, "3": three, "4": four}


@pytest.fixture(params=STANDINS)
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """One version is installed, on a GPU that it supports."""
    name: str = request.param
    module = ModuleType(package.MODULES[name])
    vars(module).update(flash_attn_func=STANDINS[name], __path__=[])
    for each in package.MODULES.values():
        monkeypatch.setitem(sys.modules, each, None)
    if name == "4":
        monkeypatch.setitem(sys.modules, "flash_attn", ModuleType("flash_attn"))
    monkeypatch.setitem(sys.modules, package.MODULES[name], module)
    monkeypatch.setattr(conditions, "generation", lambda device: {"2": 8, "3": 9, "4": 10}[name])
    SEEN.clear()
    package.package.cache_clear()
    yield name
    package.package.cache_clear()


def arrays(lq: int = 20, lk: int = 31, heads: tuple[int, int] = (4, 2)) -> list[Any]:
    random = np.random.default_rng(lq + lk)
    shapes = (2, heads[0], lq, 8), (2, heads[1], lk, 8), (2, heads[1], lk, 8)
    return [torch.from_numpy(random.standard_normal(shape)).to(HALF) for shape in shapes]


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"causal": "bottom_right"},
    "from the top left": {"causal": "top_left"},
    "window": {"window": (5, 3, "bottom_right")},
    "window of the past": {"causal": "bottom_right", "window": (6, None)},
    "softcap": {"softcap": 2.0, "scale": 0.8},
    "all": {"softcap": 2.0, "causal": "bottom_right", "window": (9, 0)},
    "elsewhere": {"causal": 14, "window": (4, None)},
}


@pytest.mark.parametrize("return_lse", [False, True])
@pytest.mark.parametrize("name", OPTIONS)
def test_values(version: str, name: str, return_lse: bool) -> None:
    """Every option, in the arguments of the version."""
    q, k, v = arrays()
    options = OPTIONS[name]
    names = ("mask", "bias", "causal", "window", "scale", "softcap", "q_lengths", "kv_lengths")
    a = request(q, k, v, "BHSD", *({"causal": False, **options}.get(n) for n in names), return_lse)
    out, lse = package.attention(a)
    want, want_lse = attention_oracle(*(x.double().numpy() for x in (q, k, v)), **options)
    np.testing.assert_allclose(out.double().numpy(), want, atol=2e-3)
    if return_lse:
        np.testing.assert_allclose(lse, want_lse, atol=1e-5)
    else:
        assert lse is None


def test_packed_projections_are_not_copied(version: str) -> None:
    """Queries, keys and values in one array are not copied."""
    packed = torch.zeros(2, 20, 3, 4, 8, dtype=HALF)
    q, k, v = (packed[:, :, n].transpose(1, 2) for n in range(3))
    package.attention(Attention(q, k, v, 0.3, right=0))
    assert [x.data_ptr() for x in SEEN[0]] == [packed[:, :, n].data_ptr() for n in range(3)]
    assert [x.stride() for x in SEEN[0]] == [packed[:, :, 0].stride()] * 3


def call(**options: Any) -> Call:
    made = {"dtype": options.pop("dtype", HALF), "device": options.pop("device", "cuda")}
    queries = options.pop("queries", 64)
    q = torch.empty(2, 8, queries, 64, **made)
    k, v = (torch.empty(2, 8, 64, 64, **made) for _ in "kv")
    return Call((Attention(q, k, v, 0.125, **options),), {})


def test_choice(version: str) -> None:
    """It supports a softcap and windows; other options are refused."""
    kernels = {name: refusal for name, _, refusal in find.named("torch").kernels("attention")}

    def chosen(case: Call) -> str:
        return next(name for name, refusal in kernels.items() if refusal(case) is None)

    with FakeTensorMode():
        assert chosen(call(softcap=3.0, left=5, right=0)) == chosen(call(softcap=3.0)) == "flash-attn"
        assert chosen(call(left=5, right=0, return_lse=True)) == "flash-attn"
        assert chosen(call(queries=1)) == "sdpa-flash"
        lengths = torch.empty(2, dtype=torch.int32, device="cuda")
        assert chosen(call(kv_lengths=lengths)) == "sdpa-flash"
        assert chosen(call(dtype=torch.float32, softcap=2.0)) == "blocked"
        assert "masks" in (kernels["flash-attn"](call(mask=torch.empty(1, 1, 64, 64, device="cuda") > 0)) or "")
        assert kernels["flash-attn"](call(device="cpu")) == "it serves CUDA"
        followed = call(softcap=3.0, left=5, right=0)
        followed.args[0].q.requires_grad_()
        assert chosen(followed) == ("blocked" if version == "4" else "flash-attn")


def test_refusal_if_the_package_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the package is missing or its import fails, its kernel refuses and gives the reason."""
    for each in package.MODULES.values():
        monkeypatch.setitem(sys.modules, each, None)
    monkeypatch.setattr(conditions, "generation", lambda device: 9)
    package.package.cache_clear()
    try:
        with FakeTensorMode():
            reason = package.refusal(call(softcap=1.0))
        assert reason is not None
        assert all(module in reason for module in package.MODULES.values())
        monkeypatch.setattr(conditions, "generation", lambda device: 12)
        with FakeTensorMode():
            assert "compute capability 12" in (package.refusal(call(softcap=1.0)) or "")
    finally:
        package.package.cache_clear()


@pytest.mark.parametrize("version", ["2"], indirect=True)
def test_on_amd_version_2_serves(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """gfx942 reports 9.4, but versions 3 and 4 are NVIDIA's: they are not imported."""
    for each in ("3", "4"):
        module = ModuleType(package.MODULES[each])
        vars(module).update(flash_attn_func=STANDINS[each])
        monkeypatch.setitem(sys.modules, package.MODULES[each], module)
    monkeypatch.setattr(conditions, "generation", GENERATION)
    monkeypatch.setattr(torch.version, "hip", "7.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 4))
    found = package.package(conditions.generation(torch.device("cuda")))
    assert isinstance(found, package.Package)
    assert found.version == "2"
