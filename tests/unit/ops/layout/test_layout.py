"""Layout, memory formats, contiguous copies and explain."""

import itertools

import numpy as np
import pytest

import xarrayops as xo

EXTENTS, STRIDES = (0, 1, 2, 3), (0, 1, 2, 3, 6, -1)


def positions(shape, strides):
    return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(shape)]


def is_dense(shape, strides):
    """Whether the elements in their order are at the positions 0, 1, 2 …, by enumeration."""
    return positions(shape, strides) == list(range(int(np.prod(shape))))


@pytest.mark.parametrize("ndim", [0, 1, 2, 3])
def test_order(ndim):
    for shape in itertools.product(EXTENTS, repeat=ndim):
        for strides in itertools.product(STRIDES, repeat=ndim):
            layout = xo.Layout(shape, strides, 0, 4, None)
            found = "C" * is_dense(shape, strides) + "F" * is_dense(shape[::-1], strides[::-1])
            assert layout.order == (found or "strided")
            assert layout.is_contiguous is ("C" in found)


def test_memory_format():
    for shape in itertools.product((1, 2, 3), repeat=4):
        dense = {
            "contiguous": np.empty(shape, np.int8).strides,
            "channels_last": np.empty([shape[k] for k in (0, 2, 3, 1)], np.int8).transpose(0, 3, 1, 2).strides,
        }
        for name, strides in dense.items():
            assert xo.Layout(shape, strides, 0, 1, None).memory_format in (
                (name,) if dense["contiguous"] != dense["channels_last"] else ("contiguous",)
            )
    assert xo.Layout((2, 3, 4, 5), (1, 2, 6, 24), 0, 1, None).memory_format is None
    assert xo.Layout((2, 3, 4), (12, 4, 1), 0, 1, None).memory_format is None
    assert xo.Layout((1, 2, 3, 4, 5), (120, 1, 40, 10, 2), 0, 1, None).memory_format == "channels_last"


def test_memory_format_equals_pytorchs():
    torch = pytest.importorskip("torch", exc_type=ImportError)
    for shape in itertools.product((1, 2, 3), repeat=4):
        for memory_format in ("contiguous", "channels_last"):
            native = getattr(torch, {"contiguous": "contiguous_format"}.get(memory_format, memory_format))
            x = torch.empty(shape).to(memory_format=native)
            got = xo.layout_of(xo.with_memory_format(x, memory_format))
            assert xo.with_memory_format(x, memory_format) is x
            fits_both = all(x.is_contiguous(memory_format=f) for f in (torch.contiguous_format, torch.channels_last))
            assert fits_both or got.memory_format == memory_format
            converted = xo.with_memory_format(torch.empty(shape), memory_format)
            assert converted.is_contiguous(memory_format=native)


def test_offset_is_measured_from_the_allocation():
    a = np.zeros((6, 8), np.float32)
    for view, offset in [(a, 0), (a[2:, 3:], 19), (a[::-1], 40), (a[2:][1:, ::2][:, 1], 26), (a.T[3:], 3), (a[6:], 48)]:
        assert xo.layout_of(view).offset == (offset if view.size else xo.layout_of(view).offset)
    assert xo.layout_of(xo.as_strided(a[2:], (2,), (3,), 5)).offset == 21
    assert xo.layout_of(np.broadcast_to(a[1], (3, 8))).offset == 8
    assert xo.layout_of(np.lib.stride_tricks.sliding_window_view(a[1], 3)).offset == 8
    big = np.zeros((700, 900), "S5")
    assert xo.layout_of(xo.contiguous(big.T)) == ((900, 700), (700, 1), 0, 5, "cpu")
    torch = pytest.importorskip("torch", exc_type=ImportError)
    assert xo.layout_of(torch.zeros(6, 8)[2:, 3:]).offset == 19


def test_strides_that_are_not_multiples_of_the_item_size():
    record = np.zeros(4, dtype=[("a", "u1"), ("b", "f4")])
    unaligned = np.zeros(9, np.uint8)[1:].view(np.float64)
    for x in (record["b"], unaligned, np.zeros(3, "V0")):
        with pytest.raises(xo.LayoutError, match=r"Instead: a copy"):
            xo.layout_of(x)
    assert xo.layout_of(xo.asarray(record["b"], copy=True)).strides == (1,)
    assert xo.layout_of(xo.asarray(unaligned, copy=True)).offset == 0


@pytest.mark.parametrize(
    "verb", ["layout_of", "contiguous", "relayout", "with_memory_format", "as_strided", "pin_memory"]
)
def test_arguments_that_are_not_arrays(verb):
    more = {"relayout": ("a -> a",), "with_memory_format": ("channels_last",), "as_strided": ((1,), (1,))}.get(verb, ())
    for x in ([1.0], 1.0, None, "text"):
        with pytest.raises(xo.BackendNotFound, match=rf"xo\.{verb}"):
            getattr(xo, verb)(x, *more)
    with pytest.raises(xo.BackendNotFound, match=r"xo\.contiguous"):
        xo.contiguous([1.0], "F")
    with pytest.raises(xo.Unsupported, match=r"mask.*Instead"):
        getattr(xo, verb)(np.ma.zeros(3), *more)
    with pytest.raises(xo.Unsupported, match="Instead"):
        getattr(xo, verb)(np.array([1, "a"], dtype=object), *more)


def test_read_only_input_gives_a_writable_copy():
    a = np.arange(6.0).reshape(2, 3)
    a.flags.writeable = False
    assert xo.contiguous(a) is a
    for copy in (xo.contiguous(a, "F"), xo.relayout(a, "a b -> b a"), xo.contiguous(a[:, ::-1])):
        assert copy.flags.writeable
    assert xo.contiguous(a, "F").flags.f_contiguous
    view = a.T
    assert xo.contiguous(view, "F") is view


def test_explain_counts_copied_bytes():
    x = np.zeros((2, 20, 3, 3), np.float32)
    plan = xo.explain("relayout", x, "NCHW -> NCHW16c")
    assert (plan.action, plan.nbytes) == ("copy", 2 * 32 * 9 * 4)
    assert xo.explain("relayout", x, "NCHW -> NCHW1c").nbytes == 0
    assert xo.explain(xo.contiguous, x).action == "zero-copy"
    assert xo.explain(xo.contiguous, x, order="F").nbytes == x.nbytes
    assert xo.explain("as_strided", x, (2,), (1,)).chosen == "numpy:as_strided"
    assert xo.explain("as_strided", x, shape=(2,), strides=(1,), offset=3).chosen == "numpy:as_strided"
    assert xo.explain("pin_memory", x).chosen is None
    for scalar in (np.float32(3), np.array(3.0)):
        assert xo.explain("contiguous", scalar).nbytes == 0
        assert xo.explain("relayout", scalar, "->").action == "zero-copy"
        assert xo.contiguous(scalar) is scalar


def test_explain_for_arrays_without_a_memory_address():
    jax = pytest.importorskip("jax")
    seen = []
    jax.jit(lambda x: seen.append((xo.explain("contiguous", x).action, xo.contiguous(x) is x)) or x)(np.ones((2, 3)))
    assert seen == [("zero-copy", True)]
    dask = pytest.importorskip("dask.array")
    assert xo.explain("contiguous", dask.ones((4, 6), chunks=2)).action == "copy"


def test_explain_predicts_refusals_that_depend_on_the_values():
    torch = pytest.importorskip("torch")
    x = torch.zeros(2, 3)
    for verb, args in (("as_strided", ((2,), (-1,), 1)), ("pin_memory", ())):
        if verb == "pin_memory" and torch.cuda.is_available():
            continue
        with pytest.raises(xo.Unsupported) as refusal:
            getattr(xo, verb)(x, *args)
        found = xo.explain(verb, x, *args)
        assert (found.chosen, found.candidates[0].ok, found.candidates[0].reason) == (None, False, str(refusal.value))
    for y in (x, x.numpy()):
        with pytest.raises(xo.LayoutError, match=r"would span elements 0 to 8.* x spans 0 to 5"):
            xo.explain("as_strided", y, (9,), (1,))
        assert xo.explain("as_strided", y, (2,), (1,)).chosen.endswith(":as_strided")


def test_a_copied_tensor_stays_resizable():
    torch = pytest.importorskip("torch")
    x = torch.zeros(600, 700)
    assert (xo.contiguous(x.T) == x.T).all()
    assert x.untyped_storage().resizable()


def test_jax_memory_with_axes_of_extent_1():
    """The strides of axes of extent 1 are arbitrary, but DLPack orders axes by them."""
    pytest.importorskip("jax")
    torch = pytest.importorskip("torch")
    base = xo.convert(np.arange(1024, dtype=np.float32).reshape(64, 16), "numpy", copy=True)
    t = torch.from_numpy(base.reshape(4, 16, 16, 1)).permute(0, 3, 1, 2)
    y = xo.convert(t, "jax")
    assert xo.shares_memory(t, y) is (xo.explain("convert", t, "jax").action == "zero-copy")
    assert xo.layout_of(y).is_contiguous


@pytest.mark.parametrize(
    "shape", [(2, 20, 3, 5), (2, 3, 3, 5), (2, 32, 3, 5), (2, 0, 3, 5), (0, 20, 3, 5), (4, 40, 90, 96)]
)
@pytest.mark.parametrize("dtype", [">f4", ">c8", ">i2", "<f8", "?"])
def test_padding_keeps_the_dtype_and_does_not_change_x(shape, dtype):
    """For NumPy arrays of both byte orders, large enough for the host kernel or smaller, from any view."""
    x = np.random.default_rng(0).integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)
    want = np.zeros((shape[0], -(-shape[1] // 16) * 16, *shape[2:]), dtype)
    want[:, : shape[1]] = x
    n, c, h, w = want.shape
    want = want.reshape(n, c // 16, 16, h, w).transpose(0, 1, 3, 4, 2)
    permuted = np.ascontiguousarray(x.transpose(3, 1, 0, 2)).transpose(2, 1, 3, 0)
    frozen = x.copy()
    frozen.flags.writeable = False
    for source in (x, permuted, frozen, np.flip(np.flip(x, 1).copy(), 1)):
        before = source.tobytes()
        got = xo.relayout(source, "NCHW -> NCHW16c")
        assert (got.dtype, got.shape, got.tobytes()) == (x.dtype, want.shape, want.tobytes())
        assert got.flags.writeable or shape[1] % 16 == 0
        assert source.tobytes() == before


def test_errors_of_the_library_name_relayout():
    names = " ".join(f"a{i}" for i in range(60))
    with pytest.raises(xo.LayoutError, match=r"xo\.relayout\(numpy .*dimension"):
        xo.relayout(np.ones((1,) * 60), f"{names} -> {names} {' '.join(f'2a{i}' for i in range(5))}")
    with pytest.raises(xo.Unsupported, match=r"^xo\.relayout\(numpy datetime64.*is not numeric\. Instead"):
        xo.relayout(np.zeros((2, 3), "M8[s]"), "a b -> b a")
