"""The host kernel of attention, compared with the definition in double precision, on every code path."""

import math
import threading
import tracemalloc

import numpy as np
import pytest
import threadpoolctl

from xarrayops._host import attention as kernel
from xarrayops.plugin import Attention, Call
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

pytestmark = pytest.mark.filterwarnings("error")

TOLERANCE = {"float64": 1e-12, "float32": 3e-6, "float16": 3e-3, "bfloat16": 2e-2}


@pytest.fixture(params=["default", "maximum always subtracted", "base e"])
def path(request, monkeypatch):
    if request.param == "maximum always subtracted":
        monkeypatch.setattr(kernel, "SMALL", -1.0)
    elif request.param == "base e":
        monkeypatch.setattr(kernel, "_exponential", lambda: (np.exp, 1.0))


@pytest.fixture
def small_blocks(monkeypatch):
    """Small limits, so that problems of any size have several blocks, combined heads and rows, and threads."""
    limits = {"ROWS": 16, "FEW_ROWS": 8, "SCORES": 300, "TASK": 40_000, "CALM": 0, "SPREAD_MULTIPLICATIONS": 0}
    for name, value in limits.items():
        monkeypatch.setattr(kernel, name, value)
    monkeypatch.setenv("XARRAYOPS_THREADS", "2")


def draw(rng, *shape, dtype="float32"):
    return rng.standard_normal(shape).astype(dtype)


def expected(a, **keywords):
    wide = {name: None if x is None else x.astype("float64") for name, x in (("q", a.q), ("k", a.k), ("v", a.v))}
    bias = None if a.bias is None else a.bias.astype("float64")
    return attention_oracle(
        *wide.values(),
        scale=a.scale,
        mask=a.mask,
        bias=bias,
        softcap=a.softcap,
        q_lengths=a.q_lengths,
        kv_lengths=a.kv_lengths,
        **keywords,
    )


def check(a, tolerance=None, **keywords):
    """Compare the kernel with the oracle; the keywords give the causal option and the window for the oracle."""
    out, lse = kernel.attention(a)
    right_out, right_lse = expected(a, **keywords)
    tolerance = tolerance or TOLERANCE[a.q.dtype.name]
    assert out.dtype == a.q.dtype.newbyteorder("=")
    assert lse.dtype == ("float64" if a.q.dtype.name == "float64" else "float32")
    np.testing.assert_allclose(out.astype("float64"), right_out, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(lse, right_lse, rtol=tolerance, atol=tolerance)


def problem(rng, batch=2, shared=2, group=2, queries=40, keys=50, size=8, out=8, dtype="float32", **options):
    q = draw(rng, batch, shared * group, queries, size, dtype=dtype)
    k, v = draw(rng, batch, shared, keys, size, dtype=dtype), draw(rng, batch, shared, keys, out, dtype=dtype)
    return Attention(q, k, v, size**-0.5, **options)


def any_problem(rng, dtype):
    """A random call, and its causal option and window as keywords of the oracle."""
    batch, shared, group = rng.integers(1, 4, 3)
    queries, keys, size, out = (int(rng.choice([1, 2, 3, 7, 20, 41, 90])) for _ in range(4))
    a = problem(rng, batch, shared, group, queries, keys, size, out, dtype)
    heads = shared * group
    options, keywords = {}, {}

    def some():
        extents = (batch, heads, queries, keys)
        return [n if rng.random() < 0.6 else 1 for n in extents]

    if rng.random() < 0.4:
        options["mask"] = rng.random(some()) < 0.7
    if rng.random() < 0.4:
        options["bias"] = draw(rng, *some(), dtype=dtype) * rng.choice([1, 30])
        if rng.random() < 0.5:
            options["bias"][rng.random(options["bias"].shape) < 0.3] = -math.inf
    if rng.random() < 0.3:
        options["softcap"] = float(rng.choice([0.5, 20.0]))
    if rng.random() < 0.4:
        options["q_lengths"] = rng.integers(0, queries + 1, batch)
    if rng.random() < 0.4:
        options["kv_lengths"] = rng.integers(0, keys + 1, batch)
    if rng.random() < 0.6:
        q_lengths = options.get("q_lengths", np.full(batch, queries))
        kv_lengths = options.get("kv_lengths", np.full(batch, keys))
        anchor = rng.choice(["top_left", "bottom_right", "number"])
        number = int(rng.integers(-queries, keys + 1))
        keywords["causal"] = number if anchor == "number" else str(anchor)
        offset = {"top_left": 0, "bottom_right": kv_lengths - q_lengths, "number": number}[anchor]
        if anchor == "bottom_right" and len({*offset.tolist()}) == 1 and rng.random() < 0.5:
            offset = int(offset[0])
        options |= {"right": 0, "offset": offset}
        if rng.random() < 0.5:
            left = int(rng.integers(0, keys + 1))
            keywords["window"], options["left"] = (left, None), left
    elif rng.random() < 0.5:
        left, right = (None if rng.random() < 0.3 else int(rng.integers(0, keys + 1)) for _ in range(2))
        keywords["window"] = (left, right)
        options |= {"left": left, "right": right}
    scale = a.scale * rng.choice([1.0, 40.0])
    return a._replace(scale=float(scale), **options), keywords


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(60))
def test_random_problems_in_small_blocks(path, small_blocks, dtype, seed):
    a, keywords = any_problem(np.random.default_rng(seed), dtype)
    check(a, 1e-10 if dtype == "float64" else 5e-5, **keywords)  # scores near 100 have an error of 1e-5


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("count", ["1", "2", "5"])
def test_every_dtype_in_blocks_of_default_size(monkeypatch, dtype, count):
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    monkeypatch.setenv("XARRAYOPS_THREADS", count)
    rng = np.random.default_rng(3)
    a = problem(rng, 1, 2, 2, 700, 1300, 32, 48, dtype)
    check(a)
    check(a._replace(right=0, offset=600), causal="bottom_right")
    check(a._replace(left=100, right=20), window=(100, 20))
    check(a._replace(bias=draw(rng, 1, 4, 1, 1300, dtype=dtype), softcap=5.0))


def test_small_scores_followed_by_large_ones(small_blocks):
    """Sums without a subtracted maximum are rescaled when the maximum of a later block is subtracted."""
    rng = np.random.default_rng(5)
    a = problem(rng, keys=200)
    growing = np.linspace(0.1, 60, 200, dtype="float32")[None, None, :, None]
    check(a._replace(k=a.k * growing), 1e-4)
    mask = np.ones((1, 1, 40, 200), bool)
    mask[:, :, ::3, :100] = False  # no key is visible while the base is 0; later keys have very low scores
    bias = np.where(np.arange(200) < 150, 0, -300).astype("float32")[None, None, None]
    mask[:, :, ::3, 100:150] = False
    check(a._replace(mask=mask, bias=bias), 1e-4)


@pytest.mark.parametrize("level", [-1e30, -1e9, -1e4, -200.0, 80.0, 3e4])
def test_rows_with_all_scores_far_from_zero(level):
    rng = np.random.default_rng(6)
    bias = np.full((1, 1, 40, 1), level, "float32")
    bias[:, :, ::2] = 0
    a = problem(rng, bias=bias)
    out, lse = kernel.attention(a)
    right, right_lse = expected(a)
    odd = slice(1, None, 2)
    lost = max(3e-6, abs(level) * 1e-7)  # the rounding error of the scores
    np.testing.assert_allclose(out[:, :, ::2], right[:, :, ::2], rtol=3e-6, atol=3e-6)
    np.testing.assert_allclose(lse, right_lse, rtol=1e-6, atol=1e-6)
    if lost < 0.1:
        np.testing.assert_allclose(out[:, :, odd], right[:, :, odd], rtol=lost, atol=lost)
    assert np.isfinite(out).all()
    assert (abs(out) <= abs(a.v).max() * 1.001).all()


@pytest.mark.parametrize("values", [1e20, 1e-26])
@pytest.mark.parametrize("level", [-60.0, -22.0, 22.0, 60.0])
def test_very_large_and_very_small_values(values, level):
    """Weights without a subtracted maximum neither overflow with large values nor underflow with small ones."""
    rng = np.random.default_rng(7)
    a = problem(rng, keys=3000, bias=np.full((1, 1, 1, 1), level, "float32"))
    a = a._replace(v=a.v * np.float32(values), q=a.q * np.float32(0.01))
    out, _ = kernel.attention(a)
    right, _ = expected(a)
    np.testing.assert_allclose(out / values, right / values, rtol=1e-4, atol=1e-6)


def test_queries_without_visible_keys(path, small_blocks):
    rng = np.random.default_rng(8)
    mask = rng.random((2, 1, 40, 50)) < 0.5
    mask[:, :, 5:30] = False
    a = problem(rng, mask=mask)
    out, lse = kernel.attention(a)
    assert not out[:, :, 5:30].any()
    assert (lse[:, :, 5:30] == -math.inf).all()
    check(a)
    check(a._replace(mask=None, bias=np.where(mask, 0, -math.inf).astype("float32")))
    check(a._replace(right=0, offset=-20), causal=-20)
    check(a._replace(mask=None, left=3, right=3, offset=100), causal=100, window=(3, 3), tolerance=1e-9)


@pytest.mark.parametrize("empty", ["batch", "shared", "group", "queries", "keys", "size", "out"])
def test_empty_extents(empty):
    extents = {"batch": 2, "shared": 2, "group": 2, "queries": 3, "keys": 4, "size": 5, "out": 6, empty: 0}
    rng = np.random.default_rng(9)
    a = problem(rng, **extents | {"size": 1})
    a = a._replace(q=a.q[..., :0], k=a.k[..., :0]) if empty == "size" else a
    out, lse = kernel.attention(a)
    batch, heads = extents["batch"], extents["shared"] * extents["group"]
    assert out.shape == (batch, heads, extents["queries"], extents["out"])
    assert lse.shape == (batch, heads, extents["queries"])
    if empty == "keys":
        assert not out.any()
        assert (lse == -math.inf).all()
    if empty == "size":
        np.testing.assert_allclose(out, np.repeat(a.v.mean(2, keepdims=True), 2, 1).repeat(3, 2), rtol=1e-6)


def in_memory(x, kind):
    """A copy of x in memory of this kind."""
    if kind == "reversed":
        return np.ascontiguousarray(x[:, ::-1, ::-1, ::-1])[:, ::-1, ::-1, ::-1]
    if kind == "transposed":
        return np.ascontiguousarray(x.transpose(3, 1, 0, 2)).transpose(2, 1, 3, 0)
    if kind == "heads after positions":
        return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
    if kind == "gaps":
        return np.repeat(np.repeat(x, 3, 3), 2, 2)[:, :, ::2, ::3]
    if kind == "big-endian":
        return x.astype(x.dtype.newbyteorder(">"))
    if kind == "unaligned":
        memory = np.empty(x.nbytes + 1, "uint8")
        y = memory[1:].view(x.dtype).reshape(x.shape)
        y[...] = x
        return y
    y = x.copy()
    y.flags.writeable = False
    return y


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "kind",
    ["reversed", "transposed", "heads after positions", "gaps", "big-endian", "unaligned", "read-only", "shared"],
)
def test_memory_layouts(small_blocks, kind, dtype):
    rng = np.random.default_rng(10)
    a = problem(rng, dtype=dtype, bias=draw(rng, 2, 4, 40, 50, dtype=dtype), mask=rng.random((2, 4, 40, 50)) < 0.8)
    if kind == "shared":
        a = a._replace(k=np.broadcast_to(a.k[:1, :1, :1], a.k.shape), v=np.broadcast_to(a.v[..., :1], a.v.shape))
        check(a)
        return
    before = {name: getattr(a, name).copy() for name in ("q", "k", "v", "bias")}
    a = a._replace(**{name: in_memory(x, kind) for name, x in before.items()})
    check(a)
    for name, x in before.items():
        np.testing.assert_array_equal(getattr(a, name), x)


@pytest.mark.parametrize(
    "kind", ["reversed", "transposed", "heads after positions", "gaps", "big-endian", "unaligned", "read-only"]
)
def test_blas_receives_contiguous_rows(kind):
    """Other rows would be multiplied by NumPy, many times slower. Memory that BLAS accepts is not copied."""
    x = in_memory(draw(np.random.default_rng(19), 2, 3, 5, 4), kind)
    dense = kernel._for_blas(x, np.dtype("float32"))
    assert dense.strides[-1] == 4
    assert dense.strides[-2] >= 16
    assert dense.flags.aligned
    assert dense.dtype.isnative
    assert np.shares_memory(x, dense) == (kind in ("heads after positions", "read-only"))
    np.testing.assert_array_equal(x, dense)


def test_values_past_the_lengths_have_no_effect(small_blocks):
    rng = np.random.default_rng(11)
    lengths = {"q_lengths": np.array([40, 13]), "kv_lengths": np.array([0, 31], "uint8")}
    a = problem(rng, **lengths, right=0, offset=np.array([-40, 18]))
    for row in range(2):
        a.q[row, :, lengths["q_lengths"][row] :] = math.nan
        a.k[row, :, lengths["kv_lengths"][row] :] = math.nan
        a.v[row, :, lengths["kv_lengths"][row] :] = math.inf
    check(a, causal="bottom_right")


@pytest.mark.parametrize("name", ["q_lengths", "kv_lengths"])
@pytest.mark.parametrize("wrong", [-1, 51])
def test_lengths_outside_their_axis(name, wrong):
    a = problem(np.random.default_rng(12), queries=50, **{name: np.array([50, wrong])})
    with pytest.raises(ValueError, match=rf"{name}\[1\] is {wrong}\. Instead: 0 to 50"):
        kernel.attention(a)


def test_keys_outside_the_band_are_not_read():
    rng = np.random.default_rng(13)
    a = problem(rng, queries=2000, keys=2000, left=10, right=0)
    a.k[:, :, 1800:], a.v[:, :, 1800:] = math.nan, math.nan
    out, lse = kernel.attention(a)
    assert np.isfinite(out[:, :, :1500]).all()
    assert np.isfinite(lse[:, :, :1500]).all()


def test_nan_and_infinity_follow_the_definition(path):
    rng = np.random.default_rng(14)
    a = problem(rng)
    a.q[0, 0, 3, 2] = math.nan
    a.k[1, 1, 7, 0] = math.inf  # the score is inf, so the result NaN, if the item of q is positive; otherwise -inf
    a.v[0, 1, 5, 1] = math.inf
    with np.errstate(all="raise"):  # the result must not depend on the caller's settings
        out, lse = kernel.attention(a)
    with np.errstate(all="ignore"):
        right, right_lse = expected(a)
    np.testing.assert_allclose(out, right, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(lse[0], right_lse[0], rtol=1e-5, atol=1e-5)


def test_memory_does_not_grow_with_the_scores(monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", "2")
    rng = np.random.default_rng(15)
    a = problem(rng, 1, 1, 1, 8192, 8192, 16, 16, right=0)
    kernel.attention(a._replace(q=a.q[:, :, :10]))
    tracemalloc.start()
    try:
        kernel.attention(a)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 << 20  # the scores would take 256 MB


def blas_threads():
    return [each["num_threads"] for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"]


def test_the_blas_thread_count_is_restored_after_an_error(small_blocks, monkeypatch):
    rng = np.random.default_rng(16)
    a = problem(rng, queries=300, keys=300)
    before, inside = blas_threads(), []
    own = kernel._attend

    def failing(p, task, buffer):
        inside.append(blas_threads())
        if task.queries[0] == 0:
            raise KeyboardInterrupt
        own(p, task, buffer)

    monkeypatch.setattr(kernel, "_attend", failing)
    with pytest.raises(KeyboardInterrupt):
        kernel.attention(a)
    assert inside
    assert all(each == [1] * len(before) for each in inside)
    assert blas_threads() == before


def test_concurrent_calls(small_blocks):
    rng = np.random.default_rng(17)
    a = problem(rng, queries=100, keys=100, right=0)
    before, right, wrong = blas_threads(), kernel.attention(a)[0], []

    def call():
        wrong.extend([not np.array_equal(kernel.attention(a)[0], right) for _ in range(20)])

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == [False] * 80
    assert blas_threads() == before


def test_refusals():
    a = problem(np.random.default_rng(18))
    assert kernel.refusal(Call((a,), {})) is None
    assert "float8" in kernel.refusal(
        Call((a._replace(q=a.q.astype(pytest.importorskip("ml_dtypes").float8_e4m3fn)),), {})
    )
