"""The public function attention: layouts, implementation=, engines, messages, and explain."""

import importlib.util
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

RANDOM = np.random.default_rng(5)
Q, K, V = (RANDOM.standard_normal(shape).astype("float32") for shape in ((2, 4, 5, 8), (2, 2, 9, 8), (2, 2, 9, 3)))
ENGINES = [name for name in ("jax", "torch") if importlib.util.find_spec(name)]
engine = pytest.mark.parametrize("engine", ENGINES)


def close(got, **options):
    want, _ = attention_oracle(Q, K, V, **options)
    return np.allclose(got, want, atol=1e-5)


def test_all_layouts_give_the_same_values():
    want, lse = xo.attention(Q, K, V, causal=4, return_lse=True)
    permuted = (x.transpose(0, 2, 1, 3) for x in (Q, K, V))
    out, other = xo.attention(*permuted, layout="BSHD", causal=4, return_lse=True)
    assert np.allclose(out.transpose(0, 2, 1, 3), want)
    assert np.allclose(other, lse)
    out, other = xo.attention(Q[1], K[1], V[1], layout="HSD", causal=4, return_lse=True)
    assert np.allclose(out, want[1])
    assert other.shape == (4, 5)
    out = xo.attention(*(x[1].transpose(1, 0, 2) for x in (Q, K, V)), layout="SHD", causal=4)
    assert np.allclose(out.transpose(1, 0, 2), want[1])


def test_results_of_two_halves_of_the_keys_combine():
    """The result is the sum of the results for the two halves of the keys, weighted by their logsumexp."""
    (o1, l1), (o2, l2) = (xo.attention(Q, K[:, :, s], V[:, :, s], return_lse=True) for s in (slice(4), slice(4, 9)))
    lse = np.logaddexp(l1, l2)
    assert np.allclose(o1 * np.exp(l1 - lse)[..., None] + o2 * np.exp(l2 - lse)[..., None], xo.attention(Q, K, V))


def test_results_of_two_halves_combine_for_a_window():
    """As the docstring says: for the keys from h on, an offset o becomes o - h. Rows without keys are 0."""
    h, options = 4, {"window": (3, 0)}
    parts = [
        attention_with_lse(K[:, :, :h], V[:, :, :h], causal=-2, **options),
        attention_with_lse(K[:, :, h:], V[:, :, h:], causal=-2 - h, **options),
    ]
    lse = np.logaddexp(parts[0][1], parts[1][1])
    seen = np.isfinite(lse)
    with np.errstate(invalid="ignore"):
        whole = sum(np.where(seen, np.exp(part_lse - lse), 0)[..., None] * out for out, part_lse in parts)
    assert not seen[:, :, :2].any()
    assert close(whole, causal=-2, **options)


def attention_with_lse(k, v, **options):
    return xo.attention(Q, k, v, return_lse=True, **options)


@pytest.mark.parametrize("heads", [128, 129, 513])
def test_many_heads_share_keys(heads):
    q = np.broadcast_to(Q[:, :1], (2, heads, 5, 8))
    assert np.allclose(xo.attention(q, K[:, :1], V[:, :1]), xo.attention(Q[:, :1], K[:, :1], V[:, :1]), atol=1e-5)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"mask": [[True]]}, xo.BackendNotFound, "argument mask is a list"),
        ({"mask": True}, ValueError, "mask= must be an array; it was a bool"),
        ({"bias": 1.0}, ValueError, "bias= must be an array; it was a float"),
        ({"kv_lengths": 3}, ValueError, "integer array or a sequence of shape"),
        ({"kv_lengths": np.asarray([9, 10])}, ValueError, r"q numpy float32 .*kv_lengths\[1\] is 10"),
        ({"causal": None}, ValueError, "True or False; it was None"),
        ({"causal": np.True_}, ValueError, "it was a numpy.bool"),
        ({"layout": "bhsd"}, ValueError, "did you mean 'BHSD'"),
        ({"mask": np.ones((2, 9), bool)}, ValueError, r"mask\[:, None, None, :\]"),
        ({"softcap": np.inf}, ValueError, "softcap= must be finite"),
        ({"implementation": 42}, xo.Unsupported, "no implementation 42"),
    ],
    ids=str,
)
def test_messages_say_what_to_do(wrong, error, message):
    with pytest.raises(error, match=message):
        xo.attention(Q, K, V, **wrong)


@pytest.mark.parametrize("arrays", [([1.0], K, V), (Q, None, V), (Q, K, 1.0)])
def test_arguments_that_are_not_arrays(arrays):
    with pytest.raises(xo.BackendNotFound, match=r"xo\.attention: argument [qkv] is"):
        xo.attention(*arrays)


def test_options_that_are_numpy_scalars():
    options = {"causal": np.int64(3), "scale": np.float32(0.5), "softcap": np.float64(2), "kv_lengths": [np.int8(9), 4]}
    got = xo.attention(Q, K, V, **options)
    assert got.dtype == np.float32
    assert close(got, **{name: list(map(int, x)) if name == "kv_lengths" else x.item() for name, x in options.items()})


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint64", "int64"])
def test_lengths_of_any_integer_dtype(dtype):
    """Differences of unsigned lengths must not wrap."""
    options = {"q_lengths": np.asarray([5, 3], dtype), "kv_lengths": np.asarray([2, 9], dtype)}
    got = xo.attention(Q, K, V, causal="bottom_right", **options)
    assert close(got, causal="bottom_right", q_lengths=[5, 3], kv_lengths=[2, 9])


@pytest.mark.parametrize("anchor", ["top_left", 0])
def test_equal_anchors_of_causal_and_window(anchor):
    assert close(xo.attention(Q, K, V, causal=0, window=(2, None, anchor)), causal=0, window=(2, None))


def test_explain_lists_the_values_of_implementation():
    found = xo.explain("attention", Q, K, V, softcap=3.0)
    assert found.chosen == found.candidates[0].name
    assert found.candidates[-1].name == "numpy:generic"
    for candidate in found.candidates:
        got = xo.attention(Q, K, V, softcap=3.0, implementation=candidate.name)
        assert close(got, softcap=3.0)
        forced = xo.explain("attention", Q, K, V, implementation=candidate.name)
        assert [forced.chosen] == [c.name for c in forced.candidates] == [candidate.name]


def test_explain_suggests_a_verb():
    with pytest.raises(xo.Unsupported, match="did you mean 'attention'"):
        xo.explain("atention", Q, K, V)


@pytest.mark.parametrize("name", ["numpy:blokced", "numpy", "nowhere:blocked"])
def test_unknown_implementations_list_the_known_ones(name):
    with pytest.raises(xo.Unsupported, match=r"q numpy float32 \(2, 4, 5, 8\).*it has .*numpy:generic"):
        xo.attention(Q, K, V, implementation=name)


@engine
def test_a_kernel_of_another_library_can_be_named(engine):
    names = [c.name for c in xo.explain("attention", xo.convert(Q, engine), *(xo.convert(x, engine) for x in (K, V)))
             .candidates if c.ok and not c.name.endswith("generic")]  # fmt: skip
    got = xo.attention(Q, K, V, causal=4, implementation=names[0])
    assert type(got) is np.ndarray
    assert got.flags.writeable
    assert close(got, causal=4)


@engine
def test_engines_come_first_and_explain_lists_copies(engine):
    readonly = K.copy()
    readonly.flags.writeable = False
    with xo.engines(engine):
        explained = xo.explain("attention", Q, readonly, V, kv_lengths=[9, 4])
        got, lse = xo.attention(Q, readonly, V, kv_lengths=[9, 4], return_lse=True)
    assert explained.chosen.startswith(f"{engine}:")
    chosen = next(c for c in explained.candidates if c.name == explained.chosen)
    assert any("copies k" in text and "read-only" in text for text in chosen.copies)
    assert close(got, kv_lengths=[9, 4])
    assert (type(got), type(lse)) == (np.ndarray, np.ndarray)
    assert not xo.explain("attention", Q, K, V).chosen.startswith(engine), "outside of the block"


def test_engines_nest_and_an_inner_block_without_engines_disables_them():
    with xo.engines(*ENGINES):
        with xo.engines():
            assert xo.explain("attention", Q, K, V).chosen.startswith("numpy:")
        assert ENGINES == [] or not xo.explain("attention", Q, K, V).chosen.startswith("numpy:")


def test_unknown_engines_are_refused():
    with pytest.raises(xo.BackendNotFound, match="did you mean"):
        xo.engines("trch")
    for wrong in (None, ["torch"]):
        with pytest.raises(TypeError, match="names of backends"):
            xo.engines(wrong)


def test_engines_from_the_environment():
    pytest.importorskip("torch")
    code = (
        "import numpy as np, xarrayops as xo; x = np.ones((1, 1, 4, 8), 'float32'); "
        "print(xo.explain('attention', x, x, x).chosen)"
    )
    environment = {**os.environ, "XARRAYOPS_ENGINES": " torch, "}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert run.stdout.startswith("torch:"), run.stderr


def test_engines_refuse_tensors_that_require_gradients():
    torch = pytest.importorskip("torch")
    q, k, v = (torch.from_numpy(x.copy()) for x in (Q, K, V))
    q.requires_grad_()
    with xo.engines("numpy"):
        explained = xo.explain("attention", q, k, v)
        xo.attention(q, k, v).sum().backward()
    assert "gradient" in explained.candidates[0].reason
    assert explained.chosen.startswith("torch:")
    assert q.grad is not None


def test_engines_do_not_compute_lazy_arrays():
    da = pytest.importorskip("dask.array")
    arrays = [da.from_array(x) for x in (Q, K, V)]
    with xo.engines("numpy"):
        explained = xo.explain("attention", *arrays)
        got = xo.attention(*arrays)
    assert "no values yet" in explained.candidates[0].reason
    assert close(got.compute())


def test_numpy_serves_tensors_without_a_copy():
    torch = pytest.importorskip("torch")
    arrays = [torch.from_numpy(x) for x in (Q, K, V)]
    with xo.engines("numpy"):
        explained = xo.explain("attention", *arrays)
        got = xo.attention(*arrays)
    assert explained.candidates[0].copies == ()
    assert isinstance(got, torch.Tensor)
    assert close(got.numpy())


def test_explain_names_engines_for_arrays_without_kernels():
    """If only the generic function serves, explain names an imported library that could serve without a copy."""
    strict = pytest.importorskip("array_api_strict")
    pytest.importorskip("torch")
    arrays = [strict.asarray(x) for x in (Q, K, V)]
    xo.backend("torch")
    found = xo.explain("attention", *arrays)
    assert found.chosen == "array_api_strict:generic"
    assert 'torch:sdpa-flash can, without a copy, and is probably faster: with xo.engines("torch")' in found.summary
    with xo.engines("torch"):
        inside = xo.explain("attention", *arrays)
        assert close(xo.attention(*arrays))
    assert inside.chosen == "torch:sdpa-flash"
    assert "engines" not in inside.summary + xo.explain("attention", Q, K, V).summary


def test_explain_of_cupy_names_engines_that_are_installed(standin_environment):
    """In a separate process: explain names installed libraries without importing them."""
    pytest.importorskip("torch")
    code = (
        "import sys, cupy, xarrayops as xo; x = cupy.ones((1, 2, 16, 8), dtype='float16'); "
        "found = xo.explain('attention', x, x, x); print(found.chosen, found.summary, 'torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], env=standin_environment, capture_output=True, text=True)
    assert re.fullmatch(r"cupy:generic .*xo\.engines\(name\).*torch.* False\n", run.stdout), run.stdout + run.stderr


@pytest.mark.parametrize(("device", "blocks"), [("CPU_DEVICE", 8), ("device1", 1)])
def test_the_generic_function_uses_larger_blocks_on_devices(device, blocks, monkeypatch):
    """Small blocks would launch more kernels."""
    strict = pytest.importorskip("array_api_strict")
    from xarrayops._generic import attention as generic

    spans = []
    attended = generic._attended

    def recorded(xp, a, span, *others):
        spans.append(span)
        return attended(xp, a, span, *others)

    monkeypatch.setattr(generic, "_attended", recorded)
    host = np.random.default_rng(0).standard_normal((1, 8, 1024, 2)).astype("float32")
    x = strict.asarray(host, device=strict.Device(device))
    got = np.asarray(strict.asarray(xo.attention(x, x, x), device=strict.Device("CPU_DEVICE")))
    assert len(spans) == blocks
    assert np.allclose(got, attention_oracle(host, host, host)[0], atol=1e-5)


def test_torch_compile_traces_calls_in_a_block_of_engines():
    torch = pytest.importorskip("torch")
    q, k, v = (torch.from_numpy(x) for x in (Q, K, V))
    with xo.engines("numpy"):
        got = torch.compile(lambda *arrays: xo.attention(*arrays), backend="eager", fullgraph=True)(q, k, v)
    assert close(got.numpy())
