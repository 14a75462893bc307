"""cuDNN's attention in JAX: which calls it serves, its derivatives, and the program for each platform.

Without a GPU the programs are lowered for CUDA but not run. The tests run attention by blocks in the same primitives.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import Attention, Call
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax._src.cudnn import fused_attention_stablehlo  # noqa: E402
from xarrayops_backends.jax._attention import blocks, cudnn, fused_primitives as primitives  # noqa: E402

CUDNN = "__cudnn$fmhaSoftmax"


class Gpu:
    """A JAX device with the attributes that the choice of a kernel reads."""

    platform = "gpu"

    def __init__(self, version: str, capability: str) -> None:
        self.client = SimpleNamespace(platform_version=version)
        self.compute_capability = capability


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let JAX lower programs as on a machine with a GPU and cuDNN."""
    monkeypatch.setattr(fused_attention_stablehlo, "check_cudnn_version", lambda: 91700)
    for name in ("check_compute_capability", "is_cuda_compute_capability_equal"):
        monkeypatch.setattr(fused_attention_stablehlo, name, lambda capability: capability == "9.0")
    device = Gpu("cuda 13000", "9.0")
    monkeypatch.setattr(cudnn, "_natives", lambda: [*jax.devices("cpu"), device])


def arrays(lq: int = 8, lk: int = 8, *, seed: int = 0, batch: int = 2, heads: int = 4) -> list[Any]:
    random = np.random.default_rng(seed)
    shapes = (batch, heads, lq, 8), (batch, 2, lk, 8), (batch, 2, lk, 8)
    return [jnp.asarray(random.standard_normal(shape), "bfloat16") for shape in shapes]


def of_platform(function: Any, *given: Any, platform: str = "cuda") -> str:
    """The program in StableHLO, for a platform that this machine need not have."""
    return str(jax.jit(function).trace(*given).lower(lowering_platforms=(platform,)).as_text())


def test_arrays_determine_the_platform_and_tracers_do_not(gpu: None) -> None:
    """With a GPU present, arrays on the CPU are not served by cuDNN; traced arrays are decided during lowering."""
    q, k, v = arrays()
    assert "not cpu" in str(cudnn.cudnn_refusal(Call((Attention(q, k, v, 0.3),), {})))
    assert xo.explain("attention", q, k, v).chosen == "jax:blocked"
    out = jax.jit(lambda *x: xo.attention(*x, causal=True))(q, k, v)
    want = attention_oracle(*(np.asarray(x, "float64") for x in (q, k, v)), causal=True)[0]
    np.testing.assert_allclose(np.asarray(out, "float64"), want, atol=0.03)


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"causal": "top_left", "window": (3, 0)}], ids=str)
def test_programs_are_lowered_for_their_platform(gpu: None, options: dict[str, Any]) -> None:
    """On CUDA the program calls cuDNN, forward and backward, also under vmap and checkpoint; on the CPU it does not."""

    def attend(*x: Any) -> Any:
        return xo.attention(*x, **options)

    def loss(*x: Any) -> Any:
        return attend(*x).astype("float32").sum()

    given = arrays()
    stack = [x[None] for x in given]
    programs: dict[str, tuple[Any, list[Any]]] = {
        "forward": (attend, given),
        "vmap": (jax.vmap(attend), stack),
        "gradients": (jax.grad(loss, (0, 1, 2)), given),
        "checkpoint": (jax.grad(jax.checkpoint(loss)), given),
        "vmap of gradients": (jax.vmap(jax.grad(loss), in_axes=(0, None, None)), [stack[0], *given[1:]]),
        "scan": (jax.grad(lambda q, k, v: jax.lax.scan(lambda c, _: (attend(c, k, v), 0), q, None, 3)[0].sum()), given),
    }
    for name, (function, held) in programs.items():
        text = of_platform(function, *held)
        assert CUDNN in text, name
        assert (f"{CUDNN}Backward" in text) == (name not in ("forward", "vmap")), name
        assert CUDNN not in of_platform(function, *held, platform="cpu"), name
    assert CUDNN not in of_platform(lambda *x: attend(*(y.astype("float32") for y in x)), *given)
    assert CUDNN not in of_platform(jax.vmap(attend), *stack, platform="rocm")


DERIVATIVES: dict[str, Any] = {
    "jvp": lambda f, x: jax.jvp(f, x, tuple(y + 1 for y in x)),
    "grad": lambda f, x: jax.grad(lambda *y: f(*y).sum(), (0, 1, 2))(*x),
    "grad of one": lambda f, x: jax.grad(lambda k: f(x[0], k, x[2]).sum())(x[1]),
    "linearize": lambda f, x: jax.linearize(f, *x)[1](*x),
    "jacfwd": lambda f, x: jax.jacfwd(lambda q: f(q, *x[1:]).sum((2, 3)))(x[0]),
    "jacrev": lambda f, x: jax.jacrev(lambda q: f(q, *x[1:]).sum((2, 3)))(x[0]),
    "hessian": lambda f, x: jax.hessian(lambda k: f(x[0], k[None, None], x[2][:, :1]).sum())(x[1][0, 0]),
    "grad of grad": lambda f, x: jax.grad(lambda q: jax.grad(lambda v: (f(q, x[1], v) ** 2).sum())(x[2]).sum())(x[0]),
    "jvp of grad": lambda f, x: jax.jvp(jax.grad(lambda q: (f(q, *x[1:]) ** 2).sum()), (x[0],), (x[0] + 1,)),
    "vmap": lambda f, x: jax.vmap(f, in_axes=(None, 0, 1), out_axes=2)(x[0], x[1][None], x[2][:, None]),
    "vmap of grad": lambda f, x: jax.vmap(jax.grad(lambda *y: f(*y).sum(), (0, 2)), in_axes=(0, None, None))(
        jnp.stack([x[0], x[0] + 1]), *x[1:]
    ),
    "vmap of jvp": lambda f, x: jax.vmap(lambda t: jax.jvp(f, x, (t, *x[1:])))(jnp.stack([x[0], x[0] + 1])),
    "vmap of vmap of grad": lambda f, x: jax.vmap(
        jax.vmap(jax.grad(lambda *y: f(*y).sum()), (0, None, None)), (0,) * 3
    )(*(jnp.stack([jnp.stack([y, y + 1]) if n == 0 else y] * 2) for n, y in enumerate(x))),
    "checkpoint": lambda f, x: jax.grad(jax.checkpoint(lambda *y: f(*y).sum()), (0, 1, 2))(*x),
}


@pytest.mark.parametrize(
    ("name", "compiled"),
    [*((name, False) for name in DERIVATIVES), *((name, True) for name in ("grad", "hessian", "vmap of grad"))],
)
def test_every_derivative_equals_that_of_the_blocks(name: str, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """cuDNN's call has no rule for most of these transformations; the primitives around it have."""

    @jax.custom_vjp
    def without_other_rules(q: Any, k: Any, v: Any) -> Any:
        return jax.lax.stop_gradient(q)

    without_other_rules.defvjp(lambda *x: (x[0], x), lambda x, _: x)
    for module in (jax.nn, fused_attention_stablehlo):
        monkeypatch.setattr(module, "dot_product_attention", lambda q, k, v, **options: without_other_rules(q, k, v))
    x = tuple(y.astype("float32")[:1, :2, :3, :4] for y in arrays())
    form = primitives.Form(0.4, True, 2)

    def served(*given: Any) -> Any:
        return primitives.attended(*given, form)

    def plain(*given: Any) -> Any:
        return primitives._plain(*given, form=form)

    derive = DERIVATIVES[name]
    got, want = (
        (jax.jit(lambda given, f=f: derive(f, given)) if compiled else lambda given, f=f: derive(f, given))(x)
        for f in (served, plain)
    )
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=2e-5), got, want)


@pytest.mark.parametrize(
    ("said", "capability"), [("9.0", 9.0), ("10.3", 10.3), ("gfx942", 0.0), ("gfx90a:sramecc+", 0.0), (None, 0.0)]
)
def test_capabilities(said: str | None, capability: float) -> None:
    """AMD's devices report a capability that is not a number."""
    assert cudnn._capability(SimpleNamespace(compute_capability=said)) == capability
    assert cudnn._capability(SimpleNamespace()) == 0.0


def test_amds_devices_are_served_by_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal by one candidate does not fail the call."""
    device = Gpu("rocm 60300", "gfx942")
    call = plain()
    for x in call.args[0][:3]:
        monkeypatch.setattr(type(x), "devices", lambda self: {device})
    assert "not rocm" in str(cudnn.cudnn_refusal(call))


def test_tracers_need_the_plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is traced without a GPU calls cuDNN where it is lowered for one, if the plug-in is here."""
    monkeypatch.setattr(cudnn, "is_lazy", lambda x: True)
    monkeypatch.setattr(cudnn, "_has_cudnn", lambda: False)
    assert "no plug-in" in str(cudnn.cudnn_refusal(plain()))
    monkeypatch.setattr(cudnn, "_has_cudnn", lambda: True)
    assert cudnn.cudnn_refusal(plain()) is None


def test_block_sizes_are_those_of_the_arrays_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default platform is not used; if the platform is unknown, the program contains both block sizes."""
    x = Attention(*arrays(), 0.3)
    monkeypatch.setattr(
        jax, "default_backend", lambda: pytest.fail("the default platform need not be that of an array")
    )
    assert blocks._platform_of(x.q) == "cpu"
    blocks.blocked(x)
    assert "platform_index" in str(jax.make_jaxpr(lambda q: blocks.blocked(x._replace(q=q)))(x.q))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("options", [{}, {"right": 0, "softcap": 2.0}, {"left": 9}], ids=str)
def test_blocks_of_accelerators_keep_operands_in_half_precision(dtype: str, options: dict[str, Any]) -> None:
    """Sums are in single precision, which the CPU supports too."""
    q, k, v = (x.astype(dtype) for x in arrays(37, 37))
    a = Attention(q, k, v, 0.3, **options)
    out, lse = blocks.attended(a, "cuda", False)
    want, want_lse = blocks.attended(a, "cpu", False)
    epsilon = float(jnp.finfo(dtype).eps)
    np.testing.assert_allclose(np.asarray(out, "float64"), np.asarray(want, "float64"), atol=4 * epsilon)
    np.testing.assert_allclose(lse, want_lse, atol=1e-5)
    program = str(jax.make_jaxpr(lambda a: blocks.attended(a, "cuda", False), static_argnums=())(a))
    products = [line for line in program.splitlines() if "dot_general" in line]
    assert products
    assert all("preferred_element_type=float32" in program for _ in products)
    gradients = jax.grad(
        lambda *x: blocks.attended(Attention(*x, 0.3), "cuda", False)[0].astype("float32").sum(), (0, 1, 2)
    )
    expected = jax.grad(
        lambda *x: blocks.attended(Attention(*x, 0.3), "cpu", False)[0].astype("float32").sum(), (0, 1, 2)
    )
    for got, exact in zip(gradients(q, k, v), expected(q, k, v), strict=True):
        np.testing.assert_allclose(np.asarray(got, "float64"), np.asarray(exact, "float64"), atol=24 * epsilon)


def plain(**changes: Any) -> Call:
    """A call that cuDNN serves, except for the changes."""
    x = jnp.zeros((1, 2, 8, 64), "bfloat16")
    return Call((Attention(x, x, x, 0.125)._replace(**changes),), {})


def test_cudnn_refuses_other_devices() -> None:
    assert "not cpu" in str(cudnn.cudnn_refusal(plain()))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"right": 0}, None),
        ({"left": 3, "right": 0}, None),
        ({"right": 1}, "causal"),
        ({"left": 3}, "causal"),
        ({"right": 0, "offset": 1}, "top left"),
        ({"right": 0, "offset": jnp.zeros(1, "int32")}, "top left"),
        ({"left": 3, "right": 0, "q": jnp.zeros((1, 2, 12, 64), "bfloat16")}, "no keys"),
        ({"q": jnp.zeros((1, 2, 8, 64), "float32")}, "float32"),
        ({"q": jnp.zeros((1, 2, 0, 64), "bfloat16")}, "empty"),
        ({"q": jnp.zeros((1, 2, 8, 20), "bfloat16")}, "multiple of 8"),
        ({"v": jnp.zeros((1, 2, 8, 32), "bfloat16")}, "equal head sizes"),
        ({"softcap": 1.0}, "softcap"),
        ({"mask": jnp.ones((1, 1, 8, 8), bool)}, "mask"),
        ({"bias": jnp.ones((1, 1, 8, 8))}, "bias"),
        ({"kv_lengths": jnp.ones(1, "int32")}, "kv_lengths"),
        ({"return_lse": True}, "logsumexp"),
    ],
)
def test_cudnn_refuses_calls_that_it_would_compute_wrongly(
    changes: dict[str, Any], reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cudnn, "_device_kinds", lambda a: ({"cuda"}, 9.0))
    refusal = cudnn.cudnn_refusal(plain(**changes))
    assert refusal is None if reason is None else reason in str(refusal)


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"causal": "top_left", "window": (3, 0)}], ids=str)
def test_on_this_gpu(options: dict[str, Any]) -> None:
    """cuDNN serves, and its values and derivatives equal the definition and attention by blocks."""
    device = next((d for d in cudnn._natives() if cudnn._kind(d) == "cuda"), None)
    if device is None:
        pytest.skip("JAX has no CUDA device")
    given = [jax.device_put(jnp.tile(x, (1, 1, 16, 8)), device) for x in arrays()]
    assert xo.explain("attention", *given, **options).chosen == "jax:cudnn"
    want = attention_oracle(*(np.asarray(x, "float64") for x in given), **options)[0]
    for attend in (xo.attention, jax.jit(xo.attention, static_argnames=tuple(options))):
        np.testing.assert_allclose(np.asarray(attend(*given, **options), "float64"), want, atol=0.03)

    def loss(implementation: str, *x: Any) -> Any:
        return (xo.attention(*x, **options, implementation=implementation).astype("float32") ** 2).sum()

    for derive in (
        jax.grad(lambda q: loss("jax:cudnn", q, *given[1:])),
        lambda q: jax.jvp(lambda x: loss("jax:cudnn", x, *given[1:]), (q,), (q,))[1],
        lambda q: jax.vmap(jax.grad(lambda x: loss("jax:cudnn", x, *given[1:])))(q[None])[0],
    ):
        assert np.isfinite(np.asarray(derive(given[0]), "float64")).all()
    got, exact = (
        jax.grad(lambda q, name=name: loss(name, q, *given[1:]))(given[0]) for name in ("jax:cudnn", "jax:blocked")
    )
    np.testing.assert_allclose(np.asarray(got, "float64"), np.asarray(exact, "float64"), atol=0.1)
