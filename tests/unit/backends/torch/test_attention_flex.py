"""FlexAttention as a candidate for a softcap on CUDA, tested by PyTorch's CPU implementation of it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from xarrayops._core.backends import find
from xarrayops._ops.attention.arguments import request
from xarrayops.plugin import Attention, Call, NotServed, has_band
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

torch = pytest.importorskip("torch", exc_type=ImportError)
from torch.nn.attention.flex_attention import flex_attention  # noqa: E402
from xarrayops_backends.torch._attention import conditions, flex, package  # noqa: E402
from xarrayops_backends.torch._attention.candidates import or_next  # noqa: E402

BANDS: dict[str, dict[str, Any]] = {
    "none": {},
    "causal": {"causal": "top_left"},
    "bottom right": {"causal": "bottom_right"},
    "window": {"causal": "bottom_right", "window": (70, 0)},
    "narrow": {"window": (3, 2, "bottom_right")},
    "of both sides": {"window": (150, 40, "bottom_right")},
    "one side": {"window": (None, 9, 150)},
    "far back": {"window": (250, None, 30)},
}


def form(lq: int, lk: int, **options: Any) -> Attention:
    random = np.random.default_rng(lq)
    shapes = (1, 4, lq, 16), (1, 2, lk, 16), (1, 2, lk, 16)
    q, k, v = (torch.from_numpy(random.standard_normal(shape)) for shape in shapes)
    names = ("mask", "bias", "causal", "window", "scale", "softcap", "q_lengths", "kv_lengths")
    return request(q, k, v, "BHSD", *({"causal": False, **options}.get(name) for name in names), False)


@pytest.mark.filterwarnings("ignore")  # PyTorch's own, on running it without its compiler
@pytest.mark.parametrize("name", BANDS)
@pytest.mark.parametrize(("lq", "lk"), [(300, 333), (256, 256), (130, 400)])
def test_values(name: str, lq: int, lk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The softcap, the band and grouped heads; each block of the mask is correct, and none is the whole matrix."""
    options = {**BANDS[name], "softcap": 1.5, "scale": 0.6}
    a = form(lq, lk, **options)
    assert flex._sees_something(a)
    monkeypatch.setattr(flex, "compiled", lambda: flex_attention)
    out, lse = flex.attention(a)
    want, _ = attention_oracle(*(x.numpy() for x in (a.q, a.k, a.v)), **options)
    np.testing.assert_allclose(out, want, atol=1e-6)
    assert lse is None
    if has_band(a):
        mask = flex.block_mask(a)
        i, j = torch.arange(lq)[:, None], torch.arange(lk)
        seen = mask.mask_mod(0, 0, i, j)
        for row in range(-(-lq // 128)):
            for column in range(-(-lk // 128)):
                block = seen[row * 128 : row * 128 + 128, column * 128 : column * 128 + 128]
                partly = column in mask.kv_indices[0, 0, row, : mask.kv_num_blocks[0, 0, row]]
                fully = column in mask.full_kv_indices[0, 0, row, : mask.full_kv_num_blocks[0, 0, row]]
                assert (fully, partly) == (bool(block.all()), bool(block.any()) and not bool(block.all()))


def test_no_eager_matrix_of_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """If PyTorch's compiler reaches its recompile limit, another kernel serves the call."""

    def another(x: Any, **options: Any) -> Any:
        return x + len(options)

    monkeypatch.setattr("torch.nn.attention.flex_attention.flex_attention", another)
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    torch._dynamo.reset()
    program = flex.compiled.__wrapped__()
    with torch._dynamo.config.patch(recompile_limit=1):  # monkeypatch would remove the setting at its end
        program(torch.ones(3))
        with pytest.raises(NotServed):
            or_next(lambda a: program(a, scale=1.0))(torch.ones(3))


def test_queries_without_keys() -> None:
    """They are found from the limits alone."""
    for lq, lk, options in ((5, 9, {"causal": -1}), (9, 5, {"window": (2, None, 0)}), (5, 5, {"window": (1, 1)})):
        a = form(lq, lk, **options)
        lse = attention_oracle(*(x.numpy() for x in (a.q, a.k, a.v)), **options)[1]
        assert flex._sees_something(a) == bool(np.isfinite(lse).all())


def test_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A softcap of many scores without the flash-attn package, unless the compiler would have to recompile."""
    monkeypatch.setattr(package, "package", lambda major: "it is left out")
    monkeypatch.setattr(conditions, "generation", lambda device: 9)
    monkeypatch.setattr(torch.Tensor, "is_cuda", property(lambda x: True))
    kernels = {name: refusal for name, _, refusal in find.named("torch").kernels("attention")}
    q, k = torch.zeros(1, 8, 1024, 64, dtype=torch.float16), torch.zeros(1, 2, 1024, 64, dtype=torch.float16)
    a = Attention(q, k, k, 0.125, softcap=20.0)

    def chosen(**changes: Any) -> str:
        case = Call((a._replace(**changes),), {})
        return next(name for name, refusal in kernels.items() if refusal(case) is None)

    assert chosen() == chosen(left=100, right=0) == chosen(scale=-1.0) == "flex"
    assert chosen(softcap=None) != "flex"
    small = q[:, :, :256], k[:, :, :256]
    assert chosen(q=small[0], k=small[1], v=small[1]) == "blocked"
    assert chosen(return_lse=True) == chosen(mask=torch.ones(1, 1, 1, 1024, dtype=torch.bool)) == "blocked"
    assert chosen(right=0, offset=-3) == chosen(q=q.double(), k=k.double(), v=k.double()) == "blocked"
    assert chosen(q=q.clone().requires_grad_()) == "blocked"
    monkeypatch.setattr(conditions, "generation", lambda device: 7)
    assert chosen() == "blocked"
