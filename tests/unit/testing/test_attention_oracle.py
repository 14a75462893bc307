"""The oracle of attention compared with explicit matrices, SciPy and PyTorch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from xarrayops.testing._suite.operations.attention_cases import OPTIONS, PAIRS, pair, qkv, random_bias, random_mask
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

Q, K, V = qkv(5, 7, dtype="float64")
SQUARE = qkv(5, 5, dtype="float64")


def visible_keys(queries: int, keys: int, **options: Any) -> list[str]:
    """For each query, a string with an x for each visible key; equal scores give all visible keys a weight above 0."""
    q, k, v = np.zeros((1, 1, queries, 1)), np.zeros((1, 1, keys, 1)), np.eye(keys)[np.newaxis, np.newaxis]
    out, lse = attention_oracle(q, k, v, **options)
    count = np.sum(out[0, 0] > 0, axis=-1)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(lse[0, 0], np.log(count))
    np.testing.assert_allclose(out[0, 0].sum(axis=-1), count > 0)
    return ["".join("x" if weight > 0 else "." for weight in row) for row in out[0, 0]]


VISIBLE: dict[str, tuple[tuple[int, int], dict[str, Any], list[str]]] = {
    "not causal": ((2, 3), {"causal": False}, ["xxx", "xxx"]),
    "causal": ((3, 3), {"causal": True}, ["x..", "xx.", "xxx"]),
    "0 is an offset": ((2, 3), {"causal": 0}, ["x..", "xx."]),
    "top left, wide": ((2, 4), {"causal": "top_left"}, ["x...", "xx.."]),
    "top left, tall": ((4, 2), {"causal": "top_left"}, ["x.", "xx", "xx", "xx"]),
    "bottom right, wide": ((2, 4), {"causal": "bottom_right"}, ["xxx.", "xxxx"]),
    "bottom right, tall": ((4, 2), {"causal": "bottom_right"}, ["..", "..", "x.", "xx"]),
    "offset 1": ((3, 4), {"causal": 1}, ["xx..", "xxx.", "xxxx"]),
    "offset -1": ((3, 4), {"causal": -1}, ["....", "x...", "xx.."]),
    "window": ((4, 4), {"window": (1, 1)}, ["xx..", "xxx.", ".xxx", "..xx"]),
    "window to the left": ((4, 4), {"window": (2, 0)}, ["x...", "xx..", "xxx.", ".xxx"]),
    "window without left bound": ((3, 3), {"window": (None, 0)}, ["x..", "xx.", "xxx"]),
    "window without right bound": ((3, 3), {"window": (0, None)}, ["xxx", ".xx", "..x"]),
    "window, bottom right": ((2, 4), {"window": (1, 0, "bottom_right")}, [".xx.", "..xx"]),
    "window, top left": ((2, 4), {"window": (1, 0, "top_left")}, ["x...", "xx.."]),
    "window, bottom right, tall": ((4, 2), {"window": (0, 1, "bottom_right")}, ["..", "x.", "xx", ".x"]),
    "causal moves the window": ((2, 4), {"causal": "bottom_right", "window": (1, 9)}, [".xx.", "..xx"]),
    "an offset moves the window": ((3, 4), {"causal": 1, "window": (0, 0)}, [".x..", "..x.", "...x"]),
    "kv_lengths": ((2, 4), {"kv_lengths": [3]}, ["xxx.", "xxx."]),
    "q_lengths": ((3, 2), {"q_lengths": [1]}, ["xx", "..", ".."]),
    "no keys": ((2, 3), {"kv_lengths": [0]}, ["...", "..."]),
    "bottom right of the real keys": ((2, 4), {"causal": "bottom_right", "kv_lengths": [3]}, ["xx..", "xxx."]),
    "bottom right of the real queries": (
        (3, 4),
        {"causal": "bottom_right", "q_lengths": [2]},
        ["xxx.", "xxxx", "...."],
    ),
    "top left of the real keys": ((3, 3), {"causal": True, "kv_lengths": [2]}, ["x..", "xx.", "xx."]),
    "window of the real keys": (
        (3, 4),
        {"window": (0, 0, "bottom_right"), "q_lengths": [2], "kv_lengths": [3]},
        [".x..", "..x.", "...."],
    ),
    "mask and causal": ((2, 2), {"mask": np.asarray([[True, True], [False, True]]), "causal": True}, ["x.", ".x"]),
    "bias": ((2, 2), {"bias": np.asarray([[0, -np.inf], [-np.inf, -np.inf]])}, ["x.", ".."]),
}


@pytest.mark.parametrize("name", VISIBLE)
def test_visible_keys(name: str) -> None:
    (queries, keys), options, want = VISIBLE[name]
    assert visible_keys(queries, keys, **options) == want


def test_lengths_apply_to_each_batch_item() -> None:
    out, lse = attention_oracle(Q, K, V, q_lengths=[2, 5], kv_lengths=[7, 3], causal="bottom_right")
    alone = [
        attention_oracle(Q[:1, :, :2], K[:1], V[:1], causal=5),
        attention_oracle(Q[1:], K[1:, :, :3], V[1:, :, :3], causal=-2),
    ]
    np.testing.assert_array_equal(out[:1, :, :2], alone[0][0])
    np.testing.assert_array_equal(lse[1:], alone[1][1])
    assert not out[0, :, 2:].any()
    assert np.all(lse[0, :, 2:] == -np.inf)


def test_values_past_the_lengths_are_not_read() -> None:
    bad = [x.copy() for x in (Q, K, V)]
    for x in bad:
        x[:, :, 4:] = np.nan
    got = attention_oracle(*bad, q_lengths=[4, 4], kv_lengths=[4, 4])
    want = attention_oracle(Q[:, :, :4], K[:, :, :4], V[:, :, :4])
    np.testing.assert_array_equal(got[0][:, :, :4], want[0])
    np.testing.assert_array_equal(got[1][:, :, :4], want[1])


def test_two_keys() -> None:
    """Explicit results for scores 1 and 0, with the default scale 1/2; then with softcap and bias."""
    q, k, v = np.ones((1, 1, 4)), np.asarray([[[0.5] * 4, [0.0] * 4]]), np.asarray([[[1.0], [0.0]]])
    out, lse = attention_oracle(q, k, v, layout="HSD")
    assert out[0, 0, 0] == pytest.approx(math.e / (math.e + 1))
    assert lse[0, 0] == pytest.approx(math.log(math.e + 1))
    out, lse = attention_oracle(q, k, v, layout="HSD", softcap=0.5, bias=np.asarray([3.0, 0.0]))
    score = 0.5 * math.tanh(2) + 3
    assert out[0, 0, 0] == pytest.approx(1 / (1 + math.exp(-score)))
    assert lse[0, 0] == pytest.approx(math.log1p(math.exp(score)))


@pytest.mark.parametrize("layout", ["BHSD", "BSHD", "HSD", "SHD"])
def test_scipy(layout: str) -> None:
    """Results match SciPy's softmax and logsumexp for every layout, with the heads of keys and values repeated."""
    special = pytest.importorskip("scipy.special")
    mask, bias = random_mask(4, 5, 7) | np.eye(5, 7, dtype=bool), random_bias(4, 5, 7, dtype="float64")
    k, v = (np.stack([x[:, head] for head in (0, 0, 1, 1)], axis=1) for x in (K, V))
    scores = np.where(mask, 2 * np.tanh(0.3 * np.einsum("bhid,bhjd->bhij", Q, k) / 2) + bias, -np.inf)
    want = special.softmax(scores, axis=-1) @ v
    want_lse = special.logsumexp(scores, axis=-1)
    laid = [x if layout.endswith("HSD") else x.swapaxes(1, 2) for x in (Q, K, V, want)]
    *arrays, want = laid if layout.startswith("B") else [x[0] for x in laid]
    out, lse = attention_oracle(*arrays, layout=layout, mask=mask, bias=bias, softcap=2.0, scale=0.3)
    np.testing.assert_allclose(out, want, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(lse, want_lse if layout.startswith("B") else want_lse[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("arrays", "options", "theirs"),
    [
        ((Q, K, V), {}, {}),
        (SQUARE, {"causal": True}, {"is_causal": True}),
        ((Q, K, V), {"causal": "top_left"}, {"is_causal": True}),
        ((Q, K, V), {"mask": random_mask(2, 1, 5, 7)}, {"attn_mask": random_mask(2, 1, 5, 7)}),
        ((Q, K, V), {"mask": np.zeros((5, 7), dtype=bool)}, {"attn_mask": np.zeros((5, 7), dtype=bool)}),
        (
            (Q, K, V),
            {"bias": random_bias(4, 5, 7, dtype="float64")},
            {"attn_mask": random_bias(4, 5, 7, dtype="float64")},
        ),
        ((Q, K, V), {"scale": -0.3}, {"scale": -0.3}),
    ],
    ids=["plain", "causal", "top left", "mask", "all masked", "bias", "scale"],
)
def test_torch(arrays: Any, options: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Results match PyTorch's attention in double precision, with grouped heads."""
    torch = pytest.importorskip("torch", exc_type=ImportError)
    given = {name: torch.asarray(x) if isinstance(x, np.ndarray) else x for name, x in theirs.items()}
    attention = torch.nn.functional.scaled_dot_product_attention
    want = attention(*map(torch.asarray, arrays), enable_gqa=True, **given)
    np.testing.assert_allclose(attention_oracle(*arrays, **options)[0], want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_each_option_of_a_pair_changes_the_result(names: tuple[str, str]) -> None:
    """Without either option of a pair the result differs, so the suite detects a kernel that ignores one."""
    case = pair(names)
    options = {name: value for name, value in case.kwargs.items() if name != "return_lse"}
    want, _ = attention_oracle(*case.args, **options)
    for name in OPTIONS.keys() & set(names):
        fewer = {other: value for other, value in options.items() if other != name}
        try:
            without, _ = attention_oracle(*case.args, **fewer)
        except ValueError:  # the shape of the mask is invalid in the other layout
            assert name == "layout"
            continue
        assert np.max(np.abs(without - want)) > 1e-3, name
    if "grouped" in names:
        q, k, v = case.args
        heads = 1 if options.get("layout", "BHSD") == "BHSD" else 2
        tiled, _ = attention_oracle(q, *(np.concatenate([x, x], axis=heads) for x in (k, v)), **options)
        assert np.max(np.abs(tiled - want)) > 1e-3
