"""The scaling of losses, against PyTorch's GradScaler."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import BackendNotFound, Unsupported

OPTIONS = (
    {},
    {"initial": 4.0, "growth_interval": 1},
    {"initial": 3e38, "growth_interval": 2},
    {"initial": 1e-44, "growth_interval": 3},
    {"initial": 0.1, "growth_factor": 1.1, "backoff_factor": 0.7, "growth_interval": 2},
    {"initial": 65536.0, "growth_factor": 1.25, "backoff_factor": 0.375, "growth_interval": 4},
)


def scales_of_grad_scaler(
    torch, finite, *, initial=2.0**15, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000
):
    scaler = torch.amp.GradScaler(
        "cpu",
        init_scale=initial,
        growth_factor=growth_factor,
        backoff_factor=backoff_factor,
        growth_interval=growth_interval,
    )
    weight = torch.nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.SGD([weight], lr=0.0)
    scaler.scale(torch.zeros(()))
    scales = []
    for each in finite:
        weight.grad = torch.tensor([1.0, 2.0 if each else float("nan")])
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    return scales


def as_python(state):
    return float(state.value)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("finite_share", [0.5, 0.9])
def test_the_scales_are_those_of_grad_scaler(options, finite_share):
    torch = pytest.importorskip("torch")
    finite = np.random.default_rng(0).random(100) < finite_share
    expected = scales_of_grad_scaler(torch, finite, **options)
    gradients = {True: torch.tensor([1.0, 2.0]), False: torch.tensor([1.0, float("nan")])}
    python = arrays = xo.loss_scale(**options)
    seen = []
    for each in finite.tolist():
        python = python.adjust(each)
        _, is_finite = arrays.unscale([gradients[each]])
        arrays = arrays.adjust(is_finite)
        seen.append((as_python(python), as_python(arrays)))
    assert seen == [(scale, scale) for scale in expected]


def test_under_jit():
    """With 64-bit types off: a pytree, whose factors are constants."""
    jax = pytest.importorskip("jax")
    torch = pytest.importorskip("torch")
    options = {"initial": 1024.0, "growth_factor": 1.25, "growth_interval": 2}
    traced = []

    @jax.jit
    def step(state, gradients):
        traced.append(state)
        gradients, finite = state.unscale(gradients)
        return gradients, state.adjust(finite)

    finite = np.random.default_rng(1).random(50) < 0.7
    seen = []
    with jax.enable_x64(False):
        state = xo.loss_scale(**options)
        assert len(jax.tree.leaves(state)) == 2
        for each in finite.tolist():
            _, state = step(state, {"w": jax.numpy.asarray([1.0, 2.0 if each else np.inf], "float32")})
            seen.append(as_python(state))
    assert seen == scales_of_grad_scaler(torch, finite, **options)
    assert len(traced) <= 2  # Python numbers, then arrays
    assert (state.growth_factor, state.growth_interval) == (1.25, 2)


def test_a_factor_that_needs_float64():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False):
        state = xo.loss_scale(growth_factor=1.1)
        with pytest.raises(Unsupported, match="64-bit types are off"):
            state.adjust(jax.numpy.asarray(True))


def test_state_in_a_loop_of_jax():
    jax = pytest.importorskip("jax")
    state = xo.loss_scale(2.0, growth_interval=1).adjust(jax.numpy.asarray(True))
    state, scales = jax.lax.scan(lambda s, g: (s.adjust(s.unscale(g)[1]), s.value), state, jax.numpy.ones((4, 3)))
    assert [float(x) for x in scales] == [4.0, 8.0, 16.0, 32.0]


def test_half_types_are_widened():
    state = xo.loss_scale(2.0**15)
    loss = np.asarray(4.0, dtype=np.float16)
    assert (state.scale(loss).dtype, float(state.scale(loss))) == (np.float32, 131072.0)
    (gradient,), finite = state.unscale((np.asarray([2.0**-10], dtype=np.float16),))
    assert (gradient.dtype, float(gradient[0]), bool(finite)) == (np.float32, 2.0**-25, True)


def test_containers():
    state = xo.loss_scale(2.0)
    x = np.ones(2, dtype=np.float32)
    gradients, finite = state.unscale({"a": [x, None], "b": (x, {"c": x * np.float32(np.nan)})})
    assert not finite
    np.testing.assert_array_equal(gradients["a"][0], x / 2)
    assert gradients["a"][1] is None
    assert isinstance(gradients["b"], tuple)
    assert state.unscale([]) == ([], True)
    with pytest.raises(BackendNotFound, match=r"xo\.loss_scale needs an array"):
        state.unscale([1.0])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"initial": 0.0}, "initial must be positive"),
        ({"initial": 1e39}, "finite in float32"),
        ({"initial": float("nan")}, "initial"),
        ({"growth_factor": 1.0}, "growth_factor must be above 1"),
        ({"backoff_factor": 1.0}, "backoff_factor must be between 0 and 1"),
        ({"growth_interval": 0}, "growth_interval must be at least 1"),
    ],
)
def test_arguments_out_of_range(options, text):
    with pytest.raises(ValueError, match=f"xo.loss_scale: .*{text}"):
        xo.loss_scale(**options)
