"""Attention on JAX: all transformations of all options, bounded memory, and one compilation per shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import Attention
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from xarrayops_backends.jax._attention import blocks as kernel  # noqa: E402

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"causal": -3},
    "window": {"window": (6, 4, "bottom_right")},
    "softcap": {"softcap": 0.8},
    "lengths": {"q_lengths": [9, 37], "kv_lengths": [0, 41]},
    "together": {"causal": "bottom_right", "window": (9, None), "softcap": 2.0, "kv_lengths": [50, 12], "scale": -0.5},
}
each_option = pytest.mark.parametrize("name", OPTIONS)


@pytest.fixture(params=["small"], autouse=True)
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The kernel with blocks that are small enough to split a test's arrays, with a smaller last block."""
    if request.param == "small":
        monkeypatch.setattr(kernel, "ROWS", 16)
        monkeypatch.setattr(kernel, "SCORES", {"cpu": 160})
        monkeypatch.setattr(kernel, "FEW_ROWS", 2)
    kernel.attended.clear_cache()
    yield
    kernel.attended.clear_cache()


as_it_is = pytest.mark.parametrize("blocks", ["as it is"], indirect=True)
both = pytest.mark.parametrize("blocks", ["as it is", "small"], indirect=True)


def arrays(*, lq: int = 37, lk: int = 50, heads: tuple[int, int] = (4, 2), seed: int = 0) -> list[np.ndarray[Any, Any]]:
    """Queries, keys and values of two rows, in double precision."""
    random = np.random.default_rng(seed)
    shapes = ((2, heads[0], lq, 8), (2, heads[1], lk, 8), (2, heads[1], lk, 6))
    return [random.standard_normal(shape) for shape in shapes]


def native(*values: Any, dtype: str = "float32") -> list[Any]:
    return [jnp.asarray(x, dtype=dtype) for x in values]


@both
@each_option
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_results_equal_the_oracle(name: str, dtype: str) -> None:
    given = native(*arrays(), dtype=dtype)
    out, lse = xo.attention(*given, **OPTIONS[name], return_lse=True)
    expected = attention_oracle(*(np.asarray(x, "float64") for x in given), **OPTIONS[name])
    assert out.dtype == dtype
    assert lse.dtype == "float32"
    np.testing.assert_allclose(
        np.asarray(out, "float64"), expected[0], atol=6 * float(jnp.finfo(dtype).eps) + 2e-6, rtol=0
    )
    np.testing.assert_allclose(lse, expected[1], atol=5e-6)


@pytest.mark.parametrize("seed", range(6))
def test_random_masks_and_biases_of_every_extent(seed: int) -> None:
    random = np.random.default_rng(seed)
    q, k, v = arrays(heads=(6, int(random.choice([1, 2, 6]))), seed=seed)
    mask_shape, bias_shape = (tuple(int(random.choice([1, n])) for n in (2, 6, 37, 50)) for _ in range(2))
    mask, bias = random.random(mask_shape) < 0.5, random.standard_normal(bias_shape)
    bias[random.random(bias_shape) < 0.2] = -np.inf
    options: dict[str, Any] = {"causal": int(random.integers(-9, 9))} if seed % 2 else {"kv_lengths": [50, 7]}
    out, lse = xo.attention(
        *native(q, k, v), mask=jnp.asarray(mask), bias=jnp.asarray(bias, "float32"), **options, return_lse=True
    )
    expected = attention_oracle(q, k, v, mask=mask, bias=bias, **options)
    np.testing.assert_allclose(out, expected[0], atol=5e-6)
    np.testing.assert_allclose(lse, expected[1], atol=5e-6)


def test_band_limits_may_be_traced_and_arbitrarily_large() -> None:
    q, k, v = arrays()
    offset = jnp.asarray([-4, 11], jnp.int32)
    call = jax.jit(lambda o, *x: kernel.blocked(Attention(*x, 0.3, left=5, right=2, offset=o))[0])
    for b, o in enumerate((-4, 11)):
        expected = attention_oracle(q, k, v, scale=0.3, mask=_band(37, 50, 5, 2, o))[0]
        np.testing.assert_allclose(call(offset, *native(q, k, v))[b], expected[b], atol=5e-6)
    whole = attention_oracle(q, k, v)[0]
    huge = xo.attention(*native(q, k, v), causal=10**15, window=(10**16, None))
    np.testing.assert_allclose(huge, whole, atol=5e-6)
    assert not xo.attention(*native(q, k, v), causal=-(10**15)).any()


def _band(lq: int, lk: int, left: int, right: int, offset: int) -> Any:
    behind = np.arange(lk) - np.arange(lq)[:, None] - offset
    return ((-left <= behind) & (behind <= right))[None, None]


def _loss(options: dict[str, Any]) -> Any:
    def loss(q: Any, k: Any, v: Any) -> Any:
        out, lse = xo.attention(q, k, v, **options, return_lse=True)
        return (out * jnp.cos(jnp.arange(out.size, dtype=q.dtype)).reshape(out.shape)).sum() + jnp.where(
            jnp.isfinite(lse), lse, 0
        ).sum()

    return loss


@pytest.mark.parametrize("name", ["plain", "lengths", "together"])
def test_gradients_and_tangents_equal_finite_differences(name: str) -> None:
    with jax.enable_x64(True):
        given = native(*arrays(), dtype="float64")
        loss = _loss(OPTIONS[name])
        random = np.random.default_rng(1)
        directions = native(*(random.standard_normal(x.shape) for x in given), dtype="float64")
        h = 1e-6
        ahead, behind = (loss(*(x + s * h * d for x, d in zip(given, directions, strict=True))) for s in (1, -1))
        slope = (ahead - behind) / (2 * h)
        gradients = jax.jit(jax.grad(loss, (0, 1, 2)))(*given)
        backward = sum((g * d).sum() for g, d in zip(gradients, directions, strict=True))
        forward = jax.jvp(loss, tuple(given), tuple(directions))[1]
        np.testing.assert_allclose(backward, slope, rtol=1e-6)
        np.testing.assert_allclose(forward, slope, rtol=1e-6)


def test_values_beyond_the_lengths_affect_neither_results_nor_gradients() -> None:
    q, k, v = arrays()
    options = {"q_lengths": [37, 20], "kv_lengths": [30, 0], "causal": "bottom_right"}
    clean = jax.value_and_grad(_loss(options), (0, 1, 2))(*native(q, k, v))
    q[1, :, 20:], k[0, :, 30:], v[0, :, 30:], k[1], v[1] = (np.nan,) * 5
    dirty = jax.value_and_grad(_loss(options), (0, 1, 2))(*native(q, k, v))
    jax.tree.map(np.testing.assert_array_equal, dirty, clean)
    assert all(np.isfinite(g).all() for g in dirty[1])


@pytest.mark.parametrize("name", ["plain", "together"])
def test_vmap_equals_a_loop(name: str) -> None:
    stack = [np.stack(parts) for parts in zip(*(arrays(seed=s) for s in range(3)), strict=True)]
    together = jax.vmap(lambda *x: xo.attention(*x, **OPTIONS[name]))(*native(*stack))
    for n in range(3):
        one = xo.attention(*native(*(x[n] for x in stack)), **OPTIONS[name])
        np.testing.assert_allclose(together[n], one, atol=2e-6)


def test_lengths_may_be_mapped() -> None:
    given, lengths = native(*arrays()), jnp.asarray([[3, 50], [0, 17]], jnp.int32)
    together = jax.vmap(lambda n: xo.attention(*given, kv_lengths=n))(lengths)
    for n in range(2):
        np.testing.assert_allclose(together[n], xo.attention(*given, kv_lengths=lengths[n]), atol=2e-6)


@pytest.mark.parametrize(("lq", "lk"), [(0, 5), (5, 0), (0, 0), (1, 1)])
def test_empty_and_tiny_sequences(lq: int, lk: int) -> None:
    q, k, v = arrays(lq=lq, lk=lk)
    out, lse = xo.attention(*native(q, k, v), causal="bottom_right", return_lse=True)
    expected = attention_oracle(q, k, v, causal="bottom_right")
    np.testing.assert_allclose(out, expected[0], atol=5e-6)
    np.testing.assert_allclose(lse, expected[1], atol=5e-6)


@as_it_is
@pytest.mark.parametrize("options", [{}, {"right": 0}, {"left": 256, "right": 0}], ids=["all", "causal", "window"])
def test_memory_is_not_quadratic(options: dict[str, int]) -> None:
    extent = 8192
    like = jax.ShapeDtypeStruct((1, 1, extent, 64), "float32")

    def loss(q: Any, k: Any, v: Any) -> Any:
        return kernel.blocked(Attention(q, k, v, 0.125, **options))[0].sum()  # type: ignore[arg-type]

    for function in (loss, jax.grad(loss, (0, 1, 2))):
        scratch = jax.jit(function).lower(like, like, like).compile().memory_analysis().temp_size_in_bytes
        assert scratch < 64e6 < extent**2


@as_it_is
def test_a_mask_of_extent_one_is_not_expanded() -> None:
    like, mask = jax.ShapeDtypeStruct((1, 4, 4096, 8), "float32"), jax.ShapeDtypeStruct((1, 1, 1, 4096), "bool")
    compiled = jax.jit(lambda q, m: kernel.blocked(Attention(q, q, q, 0.3, mask=m))).lower(like, mask).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < 4096**2


@as_it_is
def test_calls_of_equal_shapes_are_compiled_once() -> None:
    given = native(*arrays())
    for step in range(4):
        xo.attention(*given, causal=step, scale=0.1 + step, softcap=1.0 + step, window=(step + 1, None))
    assert kernel.attended._cache_size() == 1
    for step in range(4):
        xo.attention(*given, kv_lengths=jnp.asarray([step, 50 - step]))
    assert kernel.attended._cache_size() == 2


@pytest.mark.parametrize("softcap", [None, 5.0])
def test_nan_in_keys_beyond_a_length_reaches_no_derivative(softcap):
    """The keys are not set to zero for the result, and so must be for the derivative: 0 times NaN is NaN."""
    rng = np.random.default_rng(0)
    q, k, v = (jnp.asarray(rng.standard_normal((1, heads, n, 8)), jnp.float32) for heads, n in ((4, 2), (2, 9), (2, 9)))
    hidden = jnp.arange(9)[:, None] >= 5
    lengths = jnp.asarray([5], jnp.int32)

    def total(q, k, v):
        return jnp.sum(xo.attention(q, k, v, kv_lengths=lengths, softcap=softcap) ** 2)

    clean = [jnp.where(hidden, 0, x) for x in (k, v)]
    dirty = [jnp.where(hidden, x, y) for x, y in zip((jnp.nan, jnp.inf), (k, v), strict=True)]
    for got, want in zip(*(jax.grad(total, (0, 1, 2))(q, *each) for each in (dirty, clean)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    ones = tuple(map(jnp.ones_like, (q, k, v)))
    (value, tangent), (expected, direction) = (jax.jvp(total, (q, *each), ones) for each in (dirty, clean))
    np.testing.assert_allclose([value, tangent], [expected, direction], rtol=1e-4)
    second = jax.jvp(jax.grad(total), (q, *dirty), ones)[1]
    np.testing.assert_allclose(second, jax.jvp(jax.grad(total), (q, *clean), ones)[1], rtol=1e-3, atol=1e-4)
