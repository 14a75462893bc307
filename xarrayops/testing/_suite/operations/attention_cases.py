# Long: one table of cases.
"""The cases of attention: every option alone, every pair of options, and inputs that expose near-correct kernels.

The calls of a row that find most errors come first, because some variants make only the first calls. Shapes recur so
that compilers compile less often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from xarrayops.testing._suite.operations.attention_oracle import attention_oracle
from xarrayops.testing._suite.samples import Host, sample
from xarrayops.testing._suite.table import Case, Row, call, row

ANCHORS: tuple[Any, ...] = ("top_left", "bottom_right", 0, 2, -2)
LARGE = 1e30
"""A finite value so large that it is visible in every result that it reaches."""


def qkv(
    lq: int = 5,
    lk: int = 7,
    *,
    batch: int = 2,
    heads: tuple[int, int] = (4, 2),
    sizes: tuple[int, int] = (4, 3),
    dtype: str = "float32",
    layout: str = "BHSD",
) -> tuple[Host, Host, Host]:
    """Queries, keys and values, for ``heads=(Hq, Hkv)`` and ``sizes=(D, Dv)``, the head sizes of keys and values."""
    (hq, hkv), (d, dv) = heads, sizes
    q = sample(dtype, (batch, hq, lq, d), low=-2, high=2)
    k = sample(dtype, (batch, hkv, lk, d), low=-2, high=2, seed=1)
    v = sample(dtype, (batch, hkv, lk, dv), low=-1, high=3, seed=2)
    q, k, v = (x if layout.endswith("HSD") else x.swapaxes(1, 2) for x in (q, k, v))
    return (q, k, v) if layout.startswith("B") else (q[0], k[0], v[0])


def expected(*arrays: Host, return_lse: bool = False, **options: Any) -> Any:
    """The expected results of `xo.attention` for a call of the table."""
    results = attention_oracle(*arrays, **options)
    return results if return_lse else results[0]


def attend(arrays: tuple[Host, Host, Host], **options: Any) -> Case:
    """A call that also returns the logsumexp."""
    return call(*arrays, **options, return_lse=True)


def random_mask(*shape: int) -> Host:
    """A random mask; two thirds of its values are true."""
    return sample("float32", shape, low=-2, high=4, seed=3) > 0


def random_bias(*shape: int, dtype: str = "float32") -> Host:
    """A random bias."""
    return sample(dtype, shape, seed=4)


def with_values(x: Host, index: Any, value: Any) -> Host:
    """A copy of x with ``x[index] = value``."""
    x = x.copy()
    x[index] = value
    return x


def lse_dtype(q: Any, *others: Any) -> str:
    """The dtype of the logsumexp: float64 for float64 queries, else float32."""
    return "float64" if q == "float64" else "float32"


def rows_with_lse(label: str, *calls: Case, ulps: float = 64) -> Row:
    """A row whose calls also return the logsumexp."""
    dtype = ("first", lse_dtype)
    return row("attention", expected, *calls, label=label, dtype=dtype, normwise=True, ulps=ulps)


def _shapes() -> Iterator[Case]:
    yield attend(qkv())
    yield attend(qkv(layout="BSHD"), layout="BSHD")
    yield attend(qkv(layout="SHD"), layout="SHD", mask=random_mask(4, 5, 7), bias=random_bias(7))
    yield attend(qkv(dtype="float64"))
    yield attend(qkv(7, 5, layout="HSD"), layout="HSD")
    yield attend(qkv(heads=(3, 1), sizes=(7, 5)), layout="BHSD")
    yield attend(qkv(heads=(3, 3), sizes=(1, 9)))
    yield attend(qkv(4, 4, sizes=(4, 4), layout="BSHD", dtype="float64"), layout="BSHD", causal=True)
    yield attend(qkv(1, 1, batch=1, heads=(1, 1)), causal=True)
    yield attend(qkv(1, 7), causal="bottom_right")
    for lq, lk, batch in ((0, 7, 2), (5, 0, 2), (0, 0, 2), (5, 7, 0)):
        yield attend(qkv(lq, lk, batch=batch), causal="bottom_right")
    yield attend(qkv(5, 0, layout="SHD"), layout="SHD", mask=random_mask(5, 0))


def _causal() -> Iterator[Case]:
    for causal in ("bottom_right", "top_left", 0, 2, -2, -5, 7, False):
        yield attend(qkv(5, 7), causal=causal)
        yield attend(qkv(7, 5), causal=causal)
    for causal in (True, "top_left", "bottom_right", 0, 1, -1, False):
        yield attend(qkv(5, 5), causal=causal)


def _window() -> Iterator[Case]:
    yield attend(qkv(5, 7), window=(1, 2, "bottom_right"))
    yield attend(qkv(7, 5), window=(2, 0), causal="bottom_right")
    for window in ((1, 2), (0, 0), (None, 1), (1, None), (None, None), (9, 9)):
        yield attend(qkv(5, 5), window=window)
    yield attend(qkv(5, 5), window=(1, 2), causal=True)
    for anchor in ANCHORS:
        yield attend(qkv(5, 7), window=(2, 1), causal=anchor)
        yield attend(qkv(7, 5), window=(1, None), causal=anchor)
    for anchor in ANCHORS:
        yield attend(qkv(7, 5), window=(1, 2, anchor))
        yield attend(qkv(5, 7), window=(None, 0, anchor))
    yield attend(qkv(5, 7), window=(2, 1, "bottom_right"), causal="bottom_right")


def _lengths() -> Iterator[Case]:
    q_lengths, kv_lengths = np.asarray([5, 3]), np.asarray([4, 7])
    yield attend(qkv(), q_lengths=q_lengths, kv_lengths=kv_lengths, causal="bottom_right")
    yield attend(qkv(), q_lengths=[3, 5], kv_lengths=(0, 7))
    for causal in ("bottom_right", "top_left", 2, -2):
        yield attend(qkv(), kv_lengths=kv_lengths, causal=causal)
        yield attend(qkv(7, 5), q_lengths=[2, 7], kv_lengths=np.asarray([5, 3], dtype="int32"), causal=causal)
    for anchor in ("bottom_right", "top_left"):
        yield attend(qkv(), q_lengths=q_lengths, kv_lengths=kv_lengths, window=(1, 1, anchor))
        yield attend(qkv(layout="BSHD"), layout="BSHD", kv_lengths=[3, 6], window=(2, 0), causal=anchor)
    yield attend(qkv(5, 5), q_lengths=[3, 5], kv_lengths=[4, 1], causal=True, window=(1, 0))
    yield attend(qkv(), q_lengths=[0, 5], kv_lengths=[7, 0])
    yield attend(qkv(), q_lengths=q_lengths)


def _masks() -> Iterator[Case]:
    fully_masked_row = with_values(random_mask(2, 4, 5, 7), np.s_[:, 1, 2], False)
    yield attend(qkv(), mask=fully_masked_row)
    yield attend(qkv(layout="BSHD"), layout="BSHD", mask=random_mask(2, 4, 5, 7), bias=random_bias(4, 5, 7))
    yield attend(qkv(), bias=with_values(random_bias(5, 7), np.s_[1], -np.inf))
    for shape in ((2, 1, 1, 7), (1, 1, 1, 7), (1, 4, 1, 1), (5, 7), (7,), (2, 1, 5, 1), (4, 1, 7)):
        yield attend(qkv(), mask=random_mask(*shape))
        yield attend(qkv(), bias=random_bias(*shape))
    yield attend(qkv(), bias=with_values(random_bias(2, 4, 5, 7), np.s_[..., ::2], -np.inf), mask=random_mask(7))
    yield attend(qkv(), mask=np.zeros((1, 1, 1, 1), dtype="bool"))
    yield attend(qkv(dtype="float64"), bias=random_bias(4, 5, 7, dtype="float64"), mask=random_mask(4, 1, 1))


def _combined() -> Iterator[Case]:
    full: dict[str, Any] = {"mask": random_mask(2, 4, 5, 7), "bias": random_bias(4, 5, 7), "softcap": 1.5, "scale": 0.8}
    lengths: dict[str, Any] = {"q_lengths": np.asarray([4, 5]), "kv_lengths": [7, 5]}
    yield attend(qkv(), **full, **lengths, causal="bottom_right", window=(4, 0))
    yield attend(qkv(layout="BSHD"), **full, **lengths, causal=1, window=(3, 1), layout="BSHD")
    yield attend(qkv(), **full, window=(3, 1, "bottom_right"))


def _scores() -> Iterator[Case]:
    yield attend(qkv(), softcap=0.7, bias=random_bias(4, 5, 7))
    yield attend(qkv(), scale=-1.5)
    for scale in (0.0, 0, 1.0, 3, 1e-6):
        yield attend(qkv(), scale=scale)
    yield attend(qkv(), softcap=30, scale=2.0, causal="bottom_right")


def _large_scores() -> Iterator[Case]:
    """Scores of up to ±10,000, whose exp overflows even in double precision."""
    yield attend(qkv(), scale=1e3)
    yield attend(qkv(), scale=1e3, mask=random_mask(2, 4, 5, 7), causal="bottom_right")
    yield attend(qkv(), scale=-1e3, softcap=50.0, bias=random_bias(4, 5, 7))
    yield attend(qkv(), bias=-1e4 + random_bias(2, 4, 5, 7))
    yield attend(qkv(dtype="float64"), scale=1e3, kv_lengths=[3, 7])


def _hidden() -> Iterator[Case]:
    """Values that must not reach the result: any value past the lengths, and finite values at hidden positions."""
    (q, k, v), past = qkv(), (1, slice(None), slice(4, None))
    for garbage in (np.nan, np.inf, -np.inf, LARGE):
        bad = with_values(q, past, garbage), with_values(k, past, garbage), with_values(v, past, garbage)
        yield attend(bad, q_lengths=[5, 4], kv_lengths=np.asarray([7, 4]))
        yield attend((q, *bad[1:]), kv_lengths=[7, 4], causal="bottom_right", mask=random_mask(2, 1, 5, 7))
    last = np.s_[:, :, 5:]
    for poison in (LARGE, -LARGE):
        bad = q, with_values(k, last, poison), with_values(v, last, poison)
        for options in (
            {"mask": np.arange(7) < 5},
            {"causal": "top_left"},
            {"window": (4, 0, "top_left")},
            {"bias": np.where(np.arange(7) < 5, 0, -np.inf).astype("float32"), "softcap": 5.0},
        ):
            yield attend(bad, **options)
    yield attend((q, with_values(k, np.s_[:], LARGE), v), mask=np.zeros((5, 1), dtype="bool"))
    early = q, with_values(k, np.s_[:, :, :2], LARGE), with_values(v, np.s_[:, :, :2], LARGE)
    yield attend(early, window=(0, None, "bottom_right"))


def _blocks() -> Iterator[Case]:
    """Lengths that no block size divides, fully hidden blocks, and maxima that rise and fall from block to block."""
    one: dict[str, Any] = {"batch": 1, "heads": (2, 1), "sizes": (2, 2)}
    q, k, v = qkv(5, 1031, **one)
    yield attend((q, k, v), causal="bottom_right", mask=np.arange(1031) >= 600)
    yield attend(qkv(600, 1031, **one), kv_lengths=[777], causal="bottom_right", window=(130, 70))
    yield attend(qkv(192, 192, **one), causal=True, bias=random_bias(2, 1, 192))
    slope = np.linspace(0.1, 4, 1031, dtype="float32")[:, np.newaxis]
    yield attend((q, k * slope, v))
    yield attend((q, k * slope[::-1], v), mask=random_mask(5, 1031))
    yield attend((q, k, v), mask=np.arange(1031) < 3)


class Fused(NamedTuple):
    """A call whose sizes the fused kernels of accelerators support."""

    queries: int
    keys: int
    heads: tuple[int, int] = (4, 4)
    size: int = 64
    options: dict[str, Any] = {}  # noqa: RUF012 - never modified
    view: str = "whole"
    toy: bool = False
    """Whether the call is also fast on a CPU."""

    def arrays(self) -> tuple[Host, Host, Host]:
        """The arrays from which `FUSED_VIEWS` takes queries, keys and values, for a batch of one."""
        wide = self.size + (2 if self.view == "a slice of each head" else 0)
        step = 2 if self.view == "every second position" else 1
        (hq, hkv), lq, lk = self.heads, self.queries * step, self.keys * step
        shapes = (hq, lq, wide), (hkv, lk, wide), (hkv, lk, wide)
        q, k, v = (sample("float32", shape, low=-1, high=1, seed=seed)[np.newaxis] for seed, shape in enumerate(shapes))
        return (q.swapaxes(1, 2), k.swapaxes(1, 2), v.swapaxes(1, 2)) if self.view == "BSHD" else (q, k, v)


FUSED_VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "BSHD": lambda x: x,
    "a slice of each head": lambda x: x[:, :, :, 1:-1],
    "every second position": lambda x: x[:, :, ::2, :],
}
"""How queries, keys and values are taken from an array: whole, with unaligned rows, or with strided rows."""
LENGTHS = (1, 127, 128, 384)
FUSED: dict[str, Fused] = {
    **{f"length {n}": Fused(n, n, options={"causal": True}, toy=n == 1) for n in LENGTHS},
    **{f"length {n}, head size 128": Fused(n, n, size=128) for n in LENGTHS},
    "grouped": Fused(128, 128, (8, 2), options={"causal": True}),
    "more keys": Fused(127, 384, (8, 2), options={"causal": "bottom_right"}),
    "more keys, top left": Fused(128, 384, options={"causal": "top_left"}),
    "fewer keys": Fused(384, 127, options={"causal": "bottom_right"}),
    "window": Fused(384, 384, options={"window": (64, 0)}),
    "window with two bounds": Fused(127, 384, (8, 2), 128, {"window": (31, 7, "bottom_right")}),
    "window and softcap": Fused(128, 128, options={"window": (64, 0), "softcap": 5.0}),
    "long, softcap": Fused(1000, 1000, (8, 8), options={"softcap": 5.0}),
    "long, window and softcap": Fused(
        1000, 1000, (8, 2), 128, {"softcap": 5.0, "causal": "top_left", "window": (64, 0)}
    ),
    "decoding": Fused(1, 384, (8, 2), 128, {"causal": "bottom_right"}),
    "decoding, lengths": Fused(1, 384, (8, 2), 128, {"causal": "bottom_right", "kv_lengths": [127]}, toy=True),
    "several steps, lengths": Fused(4, 128, (8, 2), options={"causal": "bottom_right", "kv_lengths": [77]}),
    "no keys": Fused(1, 128, options={"kv_lengths": [0]}),
    "mask": Fused(127, 128, (8, 2), options={"mask": random_mask(1, 1, 127, 128)}),
    "mask for each head": Fused(128, 128, options={"mask": random_mask(1, 4, 128, 128), "causal": True}),
    "bias": Fused(64, 192, options={"bias": random_bias(4, 64, 192)}),
    "BSHD": Fused(128, 128, (8, 2), options={"causal": True, "layout": "BSHD"}, view="BSHD"),
    "misaligned": Fused(127, 128, options={"causal": "bottom_right"}, view="a slice of each head", toy=True),
    "misaligned decoding": Fused(1, 128, (8, 2), options={"kv_lengths": [77]}, view="a slice of each head"),
    "strided": Fused(64, 128, options={"causal": "bottom_right"}, view="every second position"),
}
"""Calls in half precision, by name."""

OPTIONS: dict[str, Any] = {
    "mask": random_mask(2, 4, 4, 4),
    "bias": random_bias(4, 4, 4),
    "causal": "bottom_right",
    "window": (2, 1),
    "scale": -0.7,
    "softcap": 0.8,
    "q_lengths": [3, 4],
    "kv_lengths": np.asarray([4, 2]),
    "layout": "BSHD",
}
"""A value for each option. It changes the result, alone and with any other option."""
PAIRS = list(combinations((*OPTIONS, "grouped"), 2))
"""All pairs of options; "grouped" means grouped heads."""


def pair(names: tuple[str, ...]) -> Case:
    """A call with these options. Hq == Lq == Lk, so that no shape reveals a swapped axis."""
    layout = OPTIONS["layout"] if "layout" in names else "BHSD"
    arrays = qkv(4, 4, heads=(4, 2 if "grouped" in names else 4), layout=layout)
    return attend(arrays, **{name: value for name, value in OPTIONS.items() if name in names})


def _without_lse() -> Iterator[Case]:
    yield call(*qkv())
    yield call(*qkv(layout="BSHD", dtype="float64"), layout="BSHD", return_lse=False)
    yield call(*qkv(layout="HSD"), layout="HSD", causal="bottom_right")


ROWS = [
    row("attention", expected, *_without_lse(), label="without lse", dtype="first", normwise=True, ulps=64),
    rows_with_lse("shapes", *_shapes()),
    rows_with_lse("causal", *_causal()),
    rows_with_lse("window", *_window()),
    rows_with_lse("lengths", *_lengths()),
    rows_with_lse("masks", *_masks()),
    rows_with_lse("combined", *_combined()),
    rows_with_lse("scores", *_scores()),
    rows_with_lse("large scores", *_large_scores(), ulps=60_000),
    rows_with_lse("hidden", *_hidden()),
    rows_with_lse("pairs", *map(pair, PAIRS)),
]
LONG = [rows_with_lse("blocks", *_blocks())]
