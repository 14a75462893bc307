"""Layout: what strides say of the order of elements."""

import itertools

import numpy as np
import pytest

import xarrayops as xo

EXTENTS, STRIDES = (0, 1, 2, 3), (0, 1, 2, 3, 6, -1)


def places(shape, strides):
    return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(shape)]


def is_dense(shape, strides):
    """By counting: the elements in their order lie at 0, 1, 2 …"""
    return places(shape, strides) == list(range(int(np.prod(shape))))


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


def test_memory_format_is_pytorchs():
    torch = pytest.importorskip("torch", exc_type=ImportError)
    for shape in itertools.product((1, 2, 3), repeat=4):
        for memory_format in ("contiguous", "channels_last"):
            native = getattr(torch, {"contiguous": "contiguous_format"}.get(memory_format, memory_format))
            x = torch.empty(shape).to(memory_format=native)
            got = xo.layout_of(xo.with_memory_format(x, memory_format))
            assert xo.with_memory_format(x, memory_format) is x
            fits_both = all(x.is_contiguous(memory_format=f) for f in (torch.contiguous_format, torch.channels_last))
            assert fits_both or got.memory_format == memory_format
            turned = xo.with_memory_format(torch.empty(shape), memory_format)
            assert turned.is_contiguous(memory_format=native)


def test_offset_counts_from_the_allocation():
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


def test_what_cannot_be_counted_in_items():
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
def test_no_arrays(verb):
    more = {"relayout": ("a -> a",), "with_memory_format": ("channels_last",), "as_strided": ((1,), (1,))}.get(verb, ())
    for x in ([1.0], 1.0, None, "text"):
        with pytest.raises(xo.BackendNotFound, match=rf"xo\.{verb}"):
            getattr(xo, verb)(x, *more)
    with pytest.raises(xo.BackendNotFound, match=r"xo\.contiguous"):
        xo.contiguous([1.0], "F")
    with pytest.raises(xo.Unsupported, match=r"mask.*Instead"):
        getattr(xo, verb)(np.ma.zeros(3), *more)


def test_read_only_input_gives_a_writable_copy():
    a = np.arange(6.0).reshape(2, 3)
    a.flags.writeable = False
    assert xo.contiguous(a) is a
    for copy in (xo.contiguous(a, "F"), xo.relayout(a, "a b -> b a"), xo.contiguous(a[:, ::-1])):
        assert copy.flags.writeable
    assert xo.contiguous(a, "F").flags.f_contiguous
    view = a.T
    assert xo.contiguous(view, "F") is view


def test_explain_counts_what_is_copied():
    x = np.zeros((2, 20, 3, 3), np.float32)
    plan = xo.explain("relayout", x, "NCHW -> NCHW16c")
    assert (plan.action, plan.nbytes) == ("copy", 2 * 32 * 9 * 4)
    assert xo.explain("relayout", x, "NCHW -> NCHW1c").nbytes == 0
    assert xo.explain(xo.contiguous, x).action == "zero-copy"
    assert xo.explain(xo.contiguous, x, order="F").nbytes == x.nbytes
    assert xo.explain("as_strided", x, (2,), (1,)).chosen == "numpy:as_strided"
    assert xo.explain("as_strided", x, shape=(2,), strides=(1,), offset=3).chosen == "numpy:as_strided"
    assert xo.explain("pin_memory", x).chosen is None


def test_a_tensor_stays_resizable_when_it_was_copied():
    torch = pytest.importorskip("torch")
    x = torch.zeros(600, 700)
    assert (xo.contiguous(x.T) == x.T).all()
    assert x.untyped_storage().resizable()


def test_memory_of_jax_with_axes_of_one():
    """DLPack orders axes of extent 1 by strides that mean nothing."""
    pytest.importorskip("jax")
    torch = pytest.importorskip("torch")
    base = xo.convert(np.arange(1024, dtype=np.float32).reshape(64, 16), "numpy", copy=True)
    t = torch.from_numpy(base.reshape(4, 16, 16, 1)).permute(0, 3, 1, 2)
    y = xo.convert(t, "jax")
    assert xo.shares_memory(t, y) is (xo.explain("convert", t, "jax").action == "zero-copy")
    assert xo.layout_of(y).is_contiguous
