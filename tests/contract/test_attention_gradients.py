"""Gradients, batching and compilation of attention in PyTorch and JAX, for every option, without NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.operations.attention_cases import qkv, random_bias, random_mask, with_values
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

pytestmark = pytest.mark.device

Host = np.ndarray[Any, Any]
Q, K, V = qkv(3, 4, sizes=(2, 3), dtype="float64")
BIAS = random_bias(4, 3, 4, dtype="float64")
WEIGHTS, LSE_WEIGHTS = random_bias(2, 4, 3, 3, dtype="float64"), random_bias(2, 4, 3, dtype="float64")
WITH_NAN = tuple(with_values(x, np.s_[1, :, 2:], np.nan) for x in (Q, K, V))
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"causal": "top_left"},
    "bottom right, with rows without keys": {"causal": -1},
    "mask": {"mask": random_mask(2, 4, 3, 4)},
    "mask, with rows without keys": {"mask": with_values(random_mask(2, 1, 3, 4), np.s_[:, :, 1], False)},
    "softcap": {"softcap": 0.7},
    "window": {"window": (1, 1, "bottom_right")},
    "scale": {"scale": -0.4},
    "lengths": {"q_lengths": [3, 2], "kv_lengths": [4, 2]},
    "no keys": {"kv_lengths": [0, 4], "causal": "bottom_right"},
    "together": {
        "mask": random_mask(2, 4, 3, 4),
        "softcap": 1.3,
        "causal": "bottom_right",
        "window": (2, 0),
        "kv_lengths": [4, 3],
    },
}
each_case = pytest.mark.parametrize("name", CASES)
with_and_without_lse = pytest.mark.parametrize("return_lse", [False, True], ids=["alone", "lse"])


def options_for(name: str, like: Any) -> dict[str, Any]:
    """The options of a case, with arrays of the library of ``like``."""
    return {
        option: xo.asarray(value.tolist(), like=like) if isinstance(value, np.ndarray) else value
        for option, value in CASES[name].items()
    }


def loss(options: dict[str, Any], return_lse: bool, q: Any, k: Any, v: Any, bias: Any) -> Any:
    """A number that depends on all items of the result, and on each logsumexp that is finite."""
    weights, lse_weights = (xo.asarray(w.tolist(), like=q, dtype="float64") for w in (WEIGHTS, LSE_WEIGHTS))
    if not return_lse:
        return xo.sum(xo.multiply(xo.attention(q, k, v, bias=bias, **options), weights))
    out, lse = xo.attention(q, k, v, bias=bias, **options, return_lse=True)
    real = xo.where(xo.isfinite(lse), lse, 0.0)
    return xo.add(xo.sum(xo.multiply(out, weights)), xo.sum(xo.multiply(real, lse_weights)))


def numeric_gradients(name: str, return_lse: bool, arrays: tuple[Host, ...]) -> list[Host]:
    """Central differences of the oracle."""

    def of(*arrays: Host) -> float:
        *first, bias = arrays
        out, lse = attention_oracle(*first, bias=bias, **CASES[name])
        real = np.where(np.isfinite(lse), lse, 0.0)
        return float(np.sum(out * WEIGHTS) + return_lse * np.sum(real * LSE_WEIGHTS))

    gradients = [np.zeros_like(x) for x in arrays]
    for n, gradient in enumerate(gradients):
        for index in np.ndindex(*gradient.shape):
            up, down = (
                [*arrays[:n], with_values(arrays[n], index, arrays[n][index] + h), *arrays[n + 1 :]]
                for h in (1e-6, -1e-6)
            )
            gradient[index] = (of(*up) - of(*down)) / 2e-6
    return gradients


def arrays_of(name: str) -> tuple[Host, ...]:
    """Queries, keys, values and a bias. Items past the lengths are NaN, which must not reach the gradients."""
    return (*(WITH_NAN if name == "lengths" else (Q, K, V)), BIAS)


def check_gradients(name: str, return_lse: bool, got: Any) -> None:
    for mine, want in zip(got, numeric_gradients(name, return_lse, arrays_of(name)), strict=True):
        np.testing.assert_allclose(np.asarray(mine), want, rtol=1e-5, atol=1e-7)


@with_and_without_lse
@each_case
def test_torch_gradient(name: str, return_lse: bool) -> None:
    torch = pytest.importorskip("torch", exc_type=ImportError)
    arrays = [torch.tensor(x, requires_grad=True) for x in arrays_of(name)]
    loss(options_for(name, arrays[0]), return_lse, *arrays).backward()
    check_gradients(name, return_lse, [x.grad for x in arrays])


@each_case
def test_torch_compile(name: str) -> None:
    """The forward and the backward pass compile to one graph each."""
    torch = pytest.importorskip("torch", exc_type=ImportError)
    torch.compiler.reset()
    arrays = [torch.tensor(x, requires_grad=True) for x in arrays_of(name)]
    options = options_for(name, arrays[0])
    weights = torch.tensor(WEIGHTS)

    def attended(*arrays: Any) -> Any:
        *first, bias = arrays
        return xo.attention(*first, bias=bias, **options)

    out = torch.compile(attended, fullgraph=True, backend="aot_eager")(*arrays)
    want, _ = attention_oracle(*arrays_of(name)[:3], bias=BIAS, **CASES[name])
    np.testing.assert_allclose(out.detach(), want, rtol=1e-10, atol=1e-12)
    (out * weights).sum().backward()
    check_gradients(name, False, [x.grad for x in arrays])


@with_and_without_lse
@each_case
def test_jax_gradient(name: str, return_lse: bool) -> None:
    jax = pytest.importorskip("jax", exc_type=ImportError)
    arrays = [jax.numpy.asarray(x) for x in arrays_of(name)]
    options = options_for(name, arrays[0])
    differentiated = jax.grad(lambda *arrays: loss(options, return_lse, *arrays), argnums=range(4))
    check_gradients(name, return_lse, jax.jit(differentiated)(*arrays))


@each_case
def test_jax_directional_derivative(name: str) -> None:
    """Forward-mode derivatives match the numeric gradients."""
    jax = pytest.importorskip("jax", exc_type=ImportError)
    arrays = tuple(jax.numpy.asarray(x) for x in arrays_of(name))
    options = options_for(name, arrays[0])
    directions = tuple(jax.numpy.ones_like(x) for x in arrays)
    _, got = jax.jvp(lambda *arrays: loss(options, False, *arrays), arrays, directions)
    want = sum(np.sum(gradient) for gradient in numeric_gradients(name, False, arrays_of(name)))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)


def without_batch(q: Any, k: Any, v: Any, bias: Any) -> Any:
    return xo.attention(q, k, v, bias=bias, layout="HSD", causal="bottom_right", softcap=2.0)


def test_jax_vmap() -> None:
    """vmap of unbatched attention equals batched attention; vmap of its gradients equals the gradients of each item."""
    jax = pytest.importorskip("jax", exc_type=ImportError)
    arrays = [jax.numpy.asarray(x) for x in (Q, K, V, np.stack([BIAS, -BIAS]))]
    got = jax.jit(jax.vmap(without_batch))(*arrays)
    want, _ = attention_oracle(Q, K, V, bias=np.stack([BIAS, -BIAS]), causal="bottom_right", softcap=2.0)
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
    gradients = jax.grad(lambda *arrays: without_batch(*arrays).sum(), argnums=range(4))
    each, alone = jax.jit(jax.vmap(gradients))(*arrays), jax.jit(gradients)
    for row in (0, 1):
        for got, want in zip(each, alone(*(x[row] for x in arrays)), strict=True):
            np.testing.assert_allclose(got[row], want, rtol=1e-10, atol=1e-12)


def test_torch_vmap() -> None:
    torch = pytest.importorskip("torch", exc_type=ImportError)
    arrays = [torch.tensor(x) for x in (Q, K, V, np.stack([BIAS, -BIAS]))]
    want, _ = attention_oracle(Q, K, V, bias=np.stack([BIAS, -BIAS]), causal="bottom_right", softcap=2.0)
    np.testing.assert_allclose(torch.func.vmap(without_batch)(*arrays), want, rtol=1e-10, atol=1e-12)


LONG = qkv(20, 2100, batch=1, heads=(2, 1), sizes=(3, 3), dtype="float64")
LONG_WEIGHTS = random_bias(1, 2, 20, 3, dtype="float64")


def long_gradients() -> list[Host]:
    """The gradients for ``causal="bottom_right"`` by the chain rule, with the full matrix of weights."""
    (q, k, v), group = LONG, 2
    k, v = (np.repeat(x, group, axis=1) for x in (k, v))
    scores = np.where(np.tri(20, 2100, 2080, dtype=bool), q @ k.swapaxes(2, 3) / np.sqrt(3), -np.inf)
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    dp = LONG_WEIGHTS @ v.swapaxes(2, 3)
    ds = p * (dp - np.sum(p * dp, axis=-1, keepdims=True)) / np.sqrt(3)
    dk, dv = ds.swapaxes(2, 3) @ q, p.swapaxes(2, 3) @ LONG_WEIGHTS
    return [ds @ k, dk.sum(axis=1, keepdims=True), dv.sum(axis=1, keepdims=True)]


def long_loss(weights: Any) -> Callable[..., Any]:
    return lambda *arrays: xo.sum(xo.multiply(xo.attention(*arrays, causal="bottom_right"), weights))


def test_torch_long_gradient() -> None:
    """There are more keys than fit in one block."""
    torch = pytest.importorskip("torch", exc_type=ImportError)
    arrays = [torch.tensor(x, requires_grad=True) for x in LONG]
    long_loss(torch.tensor(LONG_WEIGHTS))(*arrays).backward()
    for x, want in zip(arrays, long_gradients(), strict=True):
        np.testing.assert_allclose(x.grad, want, rtol=1e-9, atol=1e-11)


def test_jax_long_gradient() -> None:
    """There are more keys than fit in one block."""
    jax = pytest.importorskip("jax", exc_type=ImportError)
    weights, *arrays = map(jax.numpy.asarray, (LONG_WEIGHTS, *LONG))
    got = jax.jit(jax.grad(long_loss(weights), argnums=range(3)))(*arrays)
    for mine, want in zip(got, long_gradients(), strict=True):
        np.testing.assert_allclose(mine, want, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("kernel", "scale"), [("torch:blocked", 0.125), ("torch:blocked", 0.1), ("jax:blocked", 0.125)]
)
def test_large_scores_keep_their_precision(kernel: str, scale: float) -> None:
    """Products of integers are exact in float32, so all errors come from the kernel. The scores are about 75,000."""
    pytest.importorskip(kernel.partition(":")[0], exc_type=ImportError)
    random = np.random.default_rng(0)
    q, k = (random.integers(-2, 3, (1, 2, 40, 64)).astype("float32") for _ in range(2))
    q[..., 0], k[..., 0] = 1000, 600  # the same for all keys: only the differences of the scores are small
    arrays = q, k, *(random.standard_normal((1, 2, 40, 64)).astype("float32") for _ in range(2))
    narrow, wide = (
        attended_and_gradients([xo.convert(x.astype(dtype), kernel.partition(":")[0]) for x in arrays], kernel, scale)
        for dtype in ("float32", "float64")
    )
    for mine, want in zip(narrow, wide, strict=True):
        assert np.max(np.abs(mine - want)) < 1e-4 * np.max(np.abs(want))


def attended_and_gradients(arrays: list[Any], kernel: str, scale: float) -> list[Host]:
    """The result of attention, and the gradients of its product with the last of the arrays."""
    *given, weights = arrays

    def attended(*arrays: Any) -> Any:
        return xo.attention(*arrays, scale=scale, implementation=kernel)

    if kernel.startswith("jax"):
        import jax

        out, gradients = jax.vjp(attended, *given)
        return [np.asarray(x) for x in (out, *gradients(weights))]
    out = attended(*(x.requires_grad_() for x in given))
    out.backward(weights)
    return [x.numpy(force=True) for x in (out, *(x.grad for x in given))]
