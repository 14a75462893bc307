"""JAX's attention in Pallas for TPUs: the calls that it serves, its values by the interpreter, and its program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import Attention, Call
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.experimental.pallas import tpu as pltpu  # noqa: E402
from xarrayops_backends.jax._attention import flash, fused_primitives as primitives  # noqa: E402


@pytest.fixture(autouse=True)
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Any:
    """As on a machine with the plug-in for TPUs."""
    monkeypatch.setattr(flash, "find_spec", lambda name: name)
    with jax.enable_x64(False):
        yield


def arrays(lq: int = 128, lk: int = 256, *, heads: int = 2, size: int = 64) -> list[Any]:
    random = np.random.default_rng(0)
    shapes = (1, 2, lq, size), (1, heads, lk, size), (1, heads, lk, size)
    return [jnp.asarray(random.standard_normal(shape), "bfloat16") for shape in shapes]


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("causal", [False, True])
def test_values_and_gradients_equal_the_definition(heads: int, causal: bool) -> None:
    given = [x.astype("float32") for x in arrays(heads=heads)]
    form = primitives.Form(0.125, causal, None, ("tpu",))

    def loss(attend: Any, *x: Any) -> Any:
        return (attend(*x, form=form) ** 2).sum()

    with pltpu.force_tpu_interpret_mode():
        out = primitives._flash(*given, form=form)
        got = jax.grad(lambda *x: loss(primitives._flash, *x), (0, 1, 2))(*given)
    band = {"causal": "top_left"} if causal else {}
    want = attention_oracle(*(np.asarray(x, "float64") for x in given), scale=0.125, **band)[0]
    np.testing.assert_allclose(np.asarray(out, "float64"), want, atol=1e-5)
    for a, b in zip(got, jax.grad(lambda *x: loss(primitives._plain, *x), (0, 1, 2))(*given), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize(("platform", "is_flash"), [("tpu", True), ("cpu", False), ("cuda", False)])
def test_programs_are_lowered_for_their_platform(platform: str, is_flash: bool, dtype: str, wide: bool) -> None:
    def loss(*x: Any) -> Any:
        return xo.attention(*x).astype("float32").sum()

    with jax.enable_x64(wide):
        for function in (xo.attention, jax.grad(loss, (0, 1, 2))):
            traced = jax.jit(function).trace(*(x.astype(dtype) for x in arrays()))
            text = traced.lower(lowering_platforms=(platform,)).as_text()
            assert ("tpu_custom_call" in text) is is_flash


def test_float32_is_multiplied_in_its_precision() -> None:
    """Without a request the kernel would round its operands to bfloat16."""

    flash_attention = primitives._lowerable(primitives._flash)
    form = primitives.Form(0.125, False, None, ("tpu",))

    def program(dtype: str) -> str:
        return str(jax.make_jaxpr(lambda *x: flash_attention(*x, form=form))(*(x.astype(dtype) for x in arrays())))

    assert "HIGHEST" in program("float32")
    assert "HIGHEST" not in program("bfloat16")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"right": 0}, None),
        ({"right": 0, "offset": 3}, "top left"),
        ({"right": 1}, "top left"),
        ({"left": 3}, "left"),
        ({"softcap": 2.0}, "softcap"),
        ({"return_lse": True}, "logsumexp"),
        ({"q": arrays(100)[0]}, "multiple of 128"),
        ({"k": arrays(lk=100)[1]}, "multiple of 128"),
        ({"q": arrays()[0].astype("float32")}, None),
        ({"q": arrays()[0].astype("float16")}, "bfloat16 and float32"),
        ({"q": arrays(size=40)[0]}, "head sizes"),
    ],
)
def test_refusals(changes: dict[str, Any], reason: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flash, "_platform_of", lambda *x: "tpu")
    refusal = flash.flash_refusal(Call((Attention(*arrays(), 0.125)._replace(**changes),), {}))
    assert refusal is None if reason is None else reason in str(refusal)


def test_other_places_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call((Attention(*arrays(), 0.125),), {})
    assert "not cpu" in str(flash.flash_refusal(call))
    monkeypatch.setattr(flash, "_platform_of", lambda *x: None)
    assert flash.flash_refusal(call) is None
    monkeypatch.setattr(flash, "find_spec", lambda name: None)
    assert "plug-in" in str(flash.flash_refusal(call))
