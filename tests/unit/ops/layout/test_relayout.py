"""relayout and contiguous: patterns, and PyTorch and JAX arrays with gradients, transforms and compilers."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import xarrayops as xo
from xarrayops._host import permute
from xarrayops._ops.layout.pattern import plan


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("NCHW", "one arrow"),
        ("NCHW -> NHWC -> NCHW", "one arrow"),
        ("", "one arrow"),
        ("NCHW -> NHW", "same axes; only one side has C"),
        ("NCHW -> NHWCD", "same axes; only one side has D"),
        ("ab -> cd", "same axes; only one side has a, b, c, d"),
        ("NCHW -> NHWCC", "axis 'C' once"),
        ("NNHW -> NHW", "axis 'N' once"),
        ("NCHW -> NHW16c", "has a block '16c', but this side has no axis 'c'"),
        ("NCHW -> NCHW4c16c", "axis 'C' once"),
        ("NCHW -> NCHW0c", "has a block of size 0, '0c'"),
        ("NCHW -> NCHW16", "must consist of letters, or of names"),
        ("NC_HW -> NHWC", "must consist of letters, or of names"),
        ("x0 -> x0", "must consist of letters, or of names"),
        ("N,C -> C,N", "must consist of letters, or of names"),
        ("N\tC -> C\tN", "must consist of letters, or of names"),
        ("abc -> c a b", "same axes; only one side has a, abc, b, c"),
        ("b h s -> b s 1", "uses einops syntax.*Instead: a name for each axis"),
        ("b ... -> ... b", "uses einops syntax.*Instead: a name for each axis"),
        ("b (h s) -> b h s", r"uses einops syntax.*'a -> a 16a'.*xo\.reshape"),
        ("NCHW -> nChw16c", "h, n, w; upper and lower case are different names. Instead: 'NCHW -> NCHW16c'"),
        ("nchw -> nChw16c", "has C, c; upper and lower case are different names. Instead: 'nchw -> nchw16c'"),
        ("n c h -> N C h 4c", "Instead: 'n c h -> n c h 4c'"),
        ("NCHW -> nCw16c", r"only one side has H, N, W, n, w\.$"),
        ("Aa -> aB", r"only one side has A, B\.$"),
        ("b h-s -> h-s b", "'h-s' is neither"),
        (5, "must be a string"),
        (None, "must be a string"),
        (b"ab -> ba", "must be a string"),
    ],
)
def test_invalid_patterns(pattern, message):
    with pytest.raises(xo.LayoutError, match=rf"xo\.relayout\(numpy float64 \(2, 3, 4, 5\).*{message}"):
        xo.relayout(np.zeros((2, 3, 4, 5)), pattern)


@pytest.mark.parametrize(
    ("shape", "pattern", "options", "message"),
    [
        ((2, 3), "NCHW -> NHWC", {}, "names 4 axes, but x has 2"),
        ((2, 3, 4, 5, 8), "NCHW16c -> NCHW", {}, "the blocks of C have 8 items, not 16"),
        ((2, 3, 4, 5, 16), "NCHW16c -> NCHW", {"channels": 49}, "must be from 0 to 48, .* not 49"),
        ((2, 3, 4, 5, 16), "NCHW16c -> NCHW", {"channels": -1}, "must be from 0 to 48, .* not -1"),
        ((2, 3, 4, 5, 16), "NCHW16c -> NCHW", {"channels": 2.5}, "channels= must be an integer"),
        ((2, 3, 4, 5), "NCHW -> NHWC", {"channels": 3}, "needs exactly one axis in blocks on the left side"),
        ((2, 3, 4, 5), "NCHW -> NCHW16c", {"channels": 3}, "needs exactly one axis in blocks on the left side"),
        ((2, 3, 4, 4), "ab4a4b -> ab", {"channels": 3}, "needs exactly one axis in blocks on the left side"),
    ],
)
def test_shapes_and_channels_that_do_not_match_the_pattern(shape, pattern, options, message):
    x = np.zeros(shape)
    for call in (xo.relayout, lambda x, *given, **options: xo.explain("relayout", x, *given, **options)):
        with pytest.raises(xo.LayoutError, match=rf"xo\.relayout\(numpy float64 .*{message}"):
            call(x, pattern, **options)


def relayout_oracle(a, source, target, channels):
    """The expected result: each element is copied from its index on the left side to that on the right side.

    ``source`` and ``target`` are lists of (name, block); the block is 0 for the axis itself.
    """
    left = {name: {n: b for n, b in source if b}.get(name, 1) for name, _ in source}
    extents = {}
    for (name, block), n in zip(source, a.shape, strict=True):
        extents[name] = extents.get(name, 1) * (block or n)
    if channels is not None:
        (split,) = (name for name, block in source if block)
        extents[split] = channels
    right = {name: {n: b for n, b in target if b}.get(name, 1) for name, _ in target}
    shape = [block or -(-extents[name] // right[name]) for name, block in target]
    result = np.zeros(shape, a.dtype)
    names = list(extents)
    for index in np.ndindex(*(extents[name] for name in names)):
        at = dict(zip(names, index, strict=True))
        here = tuple(at[n] % b if b else at[n] // left[n] for n, b in source)
        there = tuple(at[n] % b if b else at[n] // right[n] for n, b in target)
        result[there] = a[here]
    return result


def side_text(side):
    return " ".join(f"{block or ''}{name}" for name, block in side)


@st.composite
def sides(draw):
    """Both sides of a pattern, and the extents of the left side."""
    names = draw(st.lists(st.sampled_from(["n", "ch", "h2", "w_", "Über"]), unique=True, max_size=4))
    if len(names) == 1:  # a single name without spaces is read as letters
        names = ["x"]
    both = []
    for _ in range(2):
        blocks = [(name, draw(st.sampled_from([1, 2, 3, 4]))) for name in names if draw(st.integers(0, 3)) == 0]
        both.append(draw(st.permutations([*((name, 0) for name in names), *blocks])))
    shape = tuple(block or draw(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, 4)) for _, block in both[0])
    return both[0], both[1], shape


@settings(max_examples=300, deadline=None)
@given(sides(), st.data())
def test_relayout_equals_the_oracle(given_sides, data):
    """Blocks may precede their axis, and both sides may have blocks. The inverse gives x again."""
    source, target, shape = given_sides
    x = np.arange(1, 1 + int(np.prod(shape)), dtype=np.int32).reshape(shape)
    cut = [(name, block) for name, block in source if block]
    channels = None
    if len(cut) == 1:
        whole = x.shape[source.index((cut[0][0], 0))] * cut[0][1]
        channels = data.draw(st.one_of(st.none(), st.integers(0, whole)))
    got = xo.relayout(x, f"{side_text(source)} -> {side_text(target)}", channels=channels)
    want = relayout_oracle(x, source, target, channels)
    assert got.shape == want.shape
    assert np.array_equal(got, want)
    assert got.flags.c_contiguous
    into = [name for name, block in target if block]
    if channels is None and not cut:
        extent = x.shape[source.index((into[0], 0))] if into else None
        if len(into) <= 1:
            back = xo.relayout(got, f"{side_text(target)} -> {side_text(source)}", channels=extent)
            assert np.array_equal(back, x)
            assert back.shape == x.shape


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_image_formats(library):
    """Conversion to the formats of kernel libraries and back."""
    host = np.random.default_rng(0).standard_normal((2, 20, 5, 7)).astype(np.float32)
    if library != "numpy":
        pytest.importorskip(library, exc_type=ImportError)
    x = xo.convert(host, library)
    nhwc = xo.relayout(x, "NCHW -> NHWC")
    wide = xo.relayout(nhwc, "NHWC -> NCHW16c")
    narrow = xo.relayout(wide, "NCHW16c -> NCHW8c", channels=20)
    back = xo.relayout(narrow, "NCHW8c -> NCHW", channels=20)

    def values(y):
        return xo.convert(xo.compute(y), "numpy")

    assert np.array_equal(values(nhwc), np.moveaxis(host, 1, -1))
    assert tuple(wide.shape) == (2, 2, 5, 7, 16)
    assert tuple(narrow.shape) == (2, 3, 5, 7, 8)
    want = np.zeros((2, 32, 5, 7), np.float32)
    want[:, :20] = host
    assert np.array_equal(values(wide), want.reshape(2, 2, 16, 5, 7).transpose(0, 1, 3, 4, 2))
    assert np.array_equal(values(narrow), want[:, :24].reshape(2, 3, 8, 5, 7).transpose(0, 1, 3, 4, 2))
    assert np.array_equal(values(back), host)
    if library in ("numpy", "torch"):
        assert all(xo.layout_of(y).is_contiguous for y in (nhwc, wide, narrow, back))


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_weights_with_blocks_of_two_axes(library):
    """OIHW16i16o of oneDNN, compared with its definition, element by element."""
    if library != "numpy":
        pytest.importorskip(library, exc_type=ImportError)
    w = np.random.default_rng(0).integers(0, 1000, (33, 17, 2, 3)).astype(np.int32)
    got = xo.relayout(xo.convert(w, library), "OIHW -> OIHW16i16o")
    got = xo.convert(*xo.compute(got, got)[:1], "numpy")
    assert got.shape == (3, 2, 2, 3, 16, 16)
    for o, i, h, v in np.ndindex(48, 32, 2, 3):
        inside = o < 33 and i < 17
        assert got[o // 16, i // 16, h, v, i % 16, o % 16] == (w[o, i, h, v] if inside else 0)


def test_spellings():
    x = np.arange(24).reshape(2, 3, 4)
    for pattern in ("abc->cab", " abc -> cab ", "a b c -> c a b", "A b_2 Δ -> Δ A b_2"):
        assert np.array_equal(xo.relayout(x, pattern), x.transpose(2, 0, 1))
    assert np.array_equal(xo.relayout(np.asarray(3.0), "->"), 3.0)
    assert np.array_equal(xo.relayout(np.arange(6), "chan -> chan 2chan"), np.arange(6).reshape(3, 2))
    assert plan("Aa -> aA").permuted == (1, 0), "upper and lower case are different axes"
    assert np.array_equal(xo.relayout(np.arange(8).reshape(2, 4), "Aa -> Aa2a"), np.arange(8).reshape(2, 2, 2))
    assert np.array_equal(xo.relayout(np.arange(8).reshape(2, 4), "Aa -> Aa2A"), [[[0, 4], [1, 5], [2, 6], [3, 7]]])


def test_arrays_already_in_the_layout_are_not_copied():
    x = np.zeros((2, 3, 4))
    assert xo.shares_memory(xo.relayout(x, "abc -> abc"), x)
    assert not xo.shares_memory(xo.relayout(x.transpose(2, 0, 1), "cab -> cab"), x)
    assert xo.shares_memory(xo.relayout(x.transpose(2, 0, 1), "cab -> abc"), x)


# PyTorch

BIG = (600, 500)
"""Above the size up to which the library copies, instead of the host kernel."""


@pytest.fixture
def torch():
    return pytest.importorskip("torch", exc_type=ImportError)


@pytest.fixture
def spy(monkeypatch):
    """A list with one item for each copy by the host kernel."""
    copies = []
    real = permute.contiguous
    monkeypatch.setattr(permute, "contiguous", lambda source: copies.append(1) or real(source))
    return copies


@pytest.fixture
def big(torch):
    assert np.prod(BIG) > permute.SMALL
    return torch.randn(BIG)


TORCH_DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"),
)


@pytest.mark.parametrize("dtype", TORCH_DTYPES)
def test_large_host_tensors_are_copied_by_the_host_kernel(torch, spy, dtype):
    dtype = getattr(torch, dtype)
    bits = np.random.default_rng(0).integers(0, 256 if dtype is not torch.bool else 2, (*BIG, dtype.itemsize), np.uint8)
    x = torch.from_numpy(bits).view(dtype)[..., 0]
    got = xo.contiguous(x.t())
    assert spy
    assert (got.dtype, tuple(got.shape), got.is_contiguous()) == (dtype, BIG[::-1], True)
    assert type(got) is torch.Tensor
    assert np.array_equal(got.view(torch.uint8).numpy().reshape(*BIG[::-1], -1), bits.transpose(1, 0, 2))
    got[0, 0] = got[1, 1]
    assert not xo.shares_memory(got, x)


def test_the_host_kernel_does_not_copy_small_or_contiguous_tensors(torch, big, spy):
    assert xo.contiguous(big) is big
    assert xo.contiguous(torch.zeros(3, 4).t()).is_contiguous()
    assert xo.contiguous(torch.zeros(BIG, device="meta").t()).is_contiguous()
    assert not spy


def test_gradients(torch, big, spy):
    x = big.clone().requires_grad_()
    weights = torch.randn(BIG[::-1])
    for result in (xo.contiguous(x.t()), xo.relayout(x, "a b -> b a"), xo.contiguous(x.t(), "C")):
        assert result.is_contiguous()
        (grad,) = torch.autograd.grad(xo.sum(xo.multiply(result, weights)), x)
        assert torch.equal(grad, weights.t())
    blocked = xo.relayout(x, "a b -> a b 64b")
    (grad,) = torch.autograd.grad(blocked.sum(), x)
    assert torch.equal(grad, torch.ones(BIG))
    assert not spy
    with torch.no_grad():
        assert not xo.contiguous(x.t()).requires_grad
    with torch.inference_mode():
        assert torch.equal(xo.contiguous(x.t()), x.detach().t())
    assert len(spy) == 2


def test_parameters_and_subclasses(torch, big, spy):
    weight = torch.nn.Parameter(big.clone())
    assert xo.contiguous(weight.t()).requires_grad
    assert not spy
    frozen = torch.nn.Parameter(big.clone(), requires_grad=False)
    got = xo.contiguous(frozen.t())
    assert type(got) is torch.Tensor
    assert torch.equal(got, frozen.t())

    class Tagged(torch.Tensor):
        pass

    tagged = xo.contiguous(big.as_subclass(Tagged).t())
    assert type(tagged) is Tagged
    assert tagged.is_contiguous()
    assert torch.equal(tagged.as_subclass(torch.Tensor), big.t())


def test_conjugated_negated_and_zero_tensors(torch):
    x = torch.randn(*BIG, dtype=torch.complex64)
    assert torch.equal(xo.contiguous(x.conj().t()), x.resolve_conj().t().conj().resolve_conj().contiguous())
    negative = x.conj().imag
    assert negative.is_neg()
    assert torch.equal(xo.contiguous(negative.t()), -x.imag.t())
    assert xo.contiguous(torch._efficientzerotensor(BIG).t()).shape == BIG[::-1]


def test_sparse_tensors_are_refused(torch):
    for verb in (xo.contiguous, xo.layout_of, lambda x: xo.relayout(x, "a b -> a b")):
        with pytest.raises(xo.Unsupported, match="Instead"):
            verb(torch.eye(3).to_sparse())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_transforms_of_torch_func(torch, big, spy):
    batched = torch.stack([big, 2 * big])
    assert torch.equal(torch.func.vmap(lambda x: xo.contiguous(x.t()))(batched), batched.transpose(1, 2))
    assert torch.equal(torch.func.vmap(lambda x: xo.relayout(x, "a b -> b a"))(batched), batched.transpose(1, 2))
    blocked = torch.func.vmap(lambda x: xo.relayout(x, "a b -> b a 7b"))(batched)
    assert torch.equal(blocked[1], xo.relayout(2 * big, "a b -> b a 7b"))
    spy.clear()
    assert torch.equal(torch.func.grad(lambda x: xo.contiguous(x.t()).square().sum())(big), 2 * big)
    _, tangent = torch.func.jvp(lambda x: xo.contiguous(x.t()), (big,), (2 * big,))
    assert torch.equal(tangent, 2 * big.t())
    assert not spy


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forward_gradients_and_traces_include_the_copy(torch, big, spy):
    """The host kernel must not be used, because forward gradients and traces would not include it."""
    ad = pytest.importorskip("torch.autograd.forward_ad")
    with ad.dual_level():
        dual = ad.make_dual(big, 3 * big)
        assert torch.equal(ad.unpack_dual(xo.contiguous(dual.t())).tangent, 3 * big.t())
    proxy = pytest.importorskip("torch.fx.experimental.proxy_tensor")
    recorded = proxy.make_fx(lambda x: xo.contiguous(x.t()))(big)
    assert torch.equal(recorded(big + 1), (big + 1).t())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(lambda x: xo.contiguous(x.t()), big, check_trace=False)
        assert torch.equal(traced(big + 1), (big + 1).t())
    assert not spy


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_fake_tensors(torch, device):
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake.FakeTensorMode() as mode:
        x = torch.empty(BIG, device=device)
        for got in (xo.contiguous(x.t()), xo.relayout(x, "a b -> b a")):
            assert isinstance(got, fake.FakeTensor)
            assert (tuple(got.shape), str(got.device), got.is_contiguous()) == (BIG[::-1], device, True)
        assert tuple(xo.relayout(x, "a b -> a b 50b").shape) == (600, 10, 50)
        if (
            device == "cpu" or torch.backends.cuda.is_built()
        ):  # other builds of PyTorch cannot slice tensors of this device
            assert tuple(xo.relayout(x, "a b -> a b 64b").shape) == (600, 8, 64)
        images = torch.empty(2, 3, 40, 50, device=device)
        assert xo.with_memory_format(images, "channels_last").stride() == (6000, 1, 150, 3)
    real = torch.zeros(BIG)
    with mode:
        assert isinstance(xo.contiguous(mode.from_tensor(real).t()), fake.FakeTensor)


def test_the_default_device_has_no_effect(torch, big, spy):
    torch.set_default_device("meta")
    try:
        got = xo.contiguous(big.t())
        blocked = xo.relayout(big, "a b -> b a 7b")
    finally:
        torch.set_default_device(None)
    assert got.device.type == blocked.device.type == "cpu"
    assert torch.equal(got, big.t())
    assert spy


def test_under_torch_compile(torch, big):
    functions = [
        lambda x: xo.contiguous(xo.permute_dims(x, (1, 0))),
        lambda x: xo.contiguous(x, "F"),
        lambda x: xo.relayout(x, "a b -> b a"),
        lambda x: xo.relayout(x, "a b -> b a 7b"),
        lambda x: xo.relayout(x, "a b -> 7a b a 64b"),
        lambda x: xo.relayout(xo.relayout(x, "a b -> a b 7b"), "a b 7b -> b a", channels=500),
        lambda x: xo.with_memory_format(xo.reshape(x, (2, 3, 100, 500)), "channels_last"),
    ]
    for function in functions:
        torch.compiler.reset()
        got, want = torch.compile(function, fullgraph=True, backend="eager")(big), function(big)
        assert torch.equal(got, want)
        assert got.stride() == want.stride()


def test_under_jax_jit():
    jax = pytest.importorskip("jax", exc_type=ImportError)
    x = jax.numpy.arange(24.0).reshape(4, 6)
    for function in (
        lambda x: xo.contiguous(xo.permute_dims(x, (1, 0))),
        lambda x: xo.relayout(x, "a b -> b a"),
        lambda x: xo.relayout(x, "a b -> b a 4b"),
        lambda x: xo.relayout(x, "a b -> 3a b a 4b"),
        lambda x: xo.relayout(xo.relayout(x, "a b -> a b 4b"), "a b 4b -> b a", channels=6),
    ):
        assert np.array_equal(jax.jit(function)(x), function(x))
        assert np.array_equal(jax.vmap(function)(x[None])[0], function(x))
        assert jax.grad(lambda x, function=function: function(x).sum())(x).tolist() == np.ones((4, 6)).tolist()
    with pytest.raises(xo.Unsupported, match=r"JAX arrays have no strides\. Instead"):
        xo.with_memory_format(x.reshape(1, 2, 3, 4), "channels_last")
