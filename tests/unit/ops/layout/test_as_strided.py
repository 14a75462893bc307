"""as_strided: views within the memory of x; views beyond it raise."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import xarrayops as xo

HUGE = 1 << 80


def bases():
    a = np.arange(24, dtype=np.int32).reshape(4, 6)
    return {
        "compact": a,
        "columns": a[:, 1:5:2],
        "reversed": a[::-1, ::-1],
        "partly reversed": a[1:3, 4:0:-2],
        "transposed": a.T,
        "broadcast": np.broadcast_to(a[2], (3, 6)),
        "0-d": a[2:3, 3:4].reshape(()),
        "vector": a[1],
    }


def addresses(a):
    """The distance of each element from the first, in items, by enumeration."""
    return [sum(i * s for i, s in zip(index, a.strides, strict=True)) // a.itemsize for index in np.ndindex(a.shape)]


SIZES = st.integers(0, 5)
STEPS = st.one_of(st.integers(-8, 8), st.sampled_from([-HUGE, HUGE, 1 << 61, -(1 << 62), 1 << 63]))


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(sorted(bases())),
    st.lists(st.tuples(SIZES, STEPS), max_size=4),
    st.one_of(st.integers(-30, 30), st.sampled_from([HUGE, -HUGE])),
)
def test_views_stay_within_x(base, axes, offset):
    """Every element of the view is between the first and the last of x, or the call raises."""
    x = bases()[base]
    shape, strides = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    allowed = addresses(x)
    wanted = [offset + sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(shape)]
    try:
        view = xo.as_strided(x, shape, strides, offset)
    except xo.LayoutError as refusal:
        assert "Instead" in str(refusal)  # noqa: PT017 - whether it raises depends on the arguments
        long = any(abs(s) >= 1 << 60 for s in strides)
        if wanted:
            assert long or min(wanted) < min(allowed) or max(wanted) > max(allowed)
        return
    assert view.shape == shape
    if not wanted:
        return
    assert min(allowed) <= min(wanted)
    assert max(wanted) <= max(allowed)
    first = int(x.reshape(-1)[0])  # the buffer counts up, so each value is the first one plus a distance
    assert view.reshape(-1).tolist() == [first + distance for distance in wanted]
    assert np.may_share_memory(view, x)
    assert not view.flags.writeable or (x.flags.writeable and len(set(wanted)) == len(wanted))


@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [
        ((2,), (1, 1), 0),
        ((2, 2), (1,), 0),
        ((), (1,), 0),
        ((-1,), (1,), 0),
        ((25,), (1,), 0),
        ((24,), (1,), 1),
        ((1,), (1,), 24),
        ((1,), (1,), -1),
        ((2,), (-1,), 0),
        ((HUGE,), (0,), 0),
        ((1 << 62,), (0,), 0),
        ((1 << 31, 1 << 31), (0, 0), 0),
        ((1 << 32, 1 << 32, 0), (0, 0, 0), 0),
        ((2,), (HUGE,), 0),
        ((1,), (HUGE,), 0),
        ((2,), (1 << 62,), 0),
        ((3, 3), (1 << 63, -(1 << 63)), 0),
        ((0,), (1,), HUGE),
        ((0,), (1,), -1),
        ((2,), (1.0,), 0),
        ((2.0,), (1,), 0),
        ((2,), (1,), 0.0),
        ((2,), (1,), None),
        ((2,), None, 0),
        (None, (1,), 0),
        (2, (1,), 0),
        (("2",), (1,), 0),
        ((np.float64(2),), (1,), 0),
    ],
    ids=str,
)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_invalid_arguments(library, shape, strides, offset):
    x = in_library(library, np.arange(24.0).reshape(4, 6))
    with pytest.raises(xo.LayoutError, match=r"xo\.as_strided"):
        xo.as_strided(x, shape, strides, offset)


def in_library(library, a):
    if library != "numpy":
        pytest.importorskip(library, exc_type=ImportError)
    return xo.convert(a, library)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_accepted_integers(library):
    x = in_library(library, np.arange(24.0).reshape(4, 6))
    for shape, strides, offset in [
        ([np.int64(2), np.uint8(3)], np.array([6, 1]), np.int32(1)),
        ((True, 3), (6, True), False),
        (iter((2, 3)), range(6, 0, -5), 1),
    ]:
        assert tuple(xo.as_strided(x, shape, strides, offset).shape) in ((2, 3), (1, 3))
    assert xo.as_strided(x, x.shape, (6, 1)).shape == x.shape


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_arrays_without_elements(library):
    x = in_library(library, np.zeros((3, 0)))
    assert tuple(xo.as_strided(x, (0, 4), (1, 1)).shape) == (0, 4)
    for shape, offset in [((1,), 0), ((), 0), ((0,), 1), ((0,), -1)]:
        with pytest.raises(xo.LayoutError, match="no elements"):
            xo.as_strided(x, shape, (1,) * len(shape), offset)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_views_alias_x(library):
    x = in_library(library, np.arange(12.0).reshape(3, 4))
    view = xo.as_strided(x, (3,), (5,), 0)
    view[1] = 50.0
    assert float(x[1, 1]) == 50.0
    assert xo.shares_memory(x, view)
    inner = xo.as_strided(x[1:, 1:], (2, 2), (4, 1), 1)
    assert xo.convert(inner, "numpy").tolist() == [[6, 7], [10, 11]]
    assert xo.layout_of(inner).offset == 6
    assert xo.convert(xo.as_strided(x[1:], (2,), (1,)), "numpy").tolist() == [4, 50]


def test_views_with_overlaps_are_read_only():
    x = np.arange(12.0)
    for shape, strides in [((3, 3), (1, 1)), ((2, 5), (0, 1)), ((3, 4), (2, 1)), ((2, 2), (3, -3))]:
        offset = 3 if min(strides) < 0 else 0
        assert not xo.as_strided(x, shape, strides, offset).flags.writeable
    for shape, strides in [((3, 4), (4, 1)), ((4, 3), (1, 4)), ((6,), (2,)), ((1, 12), (0, 1)), ((3, 2), (-4, 1))]:
        assert xo.as_strided(x, shape, strides, 8 if min(strides) < 0 else 0).flags.writeable
    frozen = np.arange(12.0)
    frozen.flags.writeable = False
    assert not xo.as_strided(frozen, (3, 4), (4, 1)).flags.writeable


def test_more_axes_than_the_library_supports():
    with pytest.raises(xo.LayoutError, match=r"xo\.as_strided\(numpy .*dimensions"):
        xo.as_strided(np.ones(3), (1,) * 65, (1,) * 65)


def test_dtypes_are_kept():
    record = np.dtype([("a", "u1"), ("b", ">f4")])
    for dtype in (">i4", "?", "c16", "S5", "M8[us]", record):
        x = np.zeros(6, dtype)
        view = xo.as_strided(x, (2, 3), (3, 1))
        assert (view.dtype, view.shape) == (x.dtype, (2, 3))


def test_views_of_a_field_of_a_structured_array():
    """The strides of x are not multiples of the item size; bounds are checked in bytes."""
    whole = np.zeros(4, dtype=[("a", "u1"), ("b", "f4")])
    whole["b"] = range(4)
    x = whole["b"]
    assert xo.as_strided(x, (), (), 0) == 0.0
    with pytest.raises(xo.LayoutError, match=r"would span elements 0 to 4.* x spans 0 to 3"):
        xo.as_strided(x, (5,), (1,), 0)
    with pytest.raises(
        xo.LayoutError, match=r"strides \(5,\) and offset 1 in bytes are not multiples of the 4-byte item"
    ):
        xo.layout_of(x)


def test_pytorch_views_have_gradients_and_no_negative_strides():
    torch = pytest.importorskip("torch", exc_type=ImportError)
    x = torch.arange(12.0, requires_grad=True)
    with pytest.raises(xo.Unsupported, match=r"negative.*Instead"):
        xo.as_strided(x, (3,), (-1,), 5)
    xo.sum(xo.as_strided(x, (3, 3), (1, 1))).backward()
    assert x.grad.tolist() == [1, 2, 3, 2, 1, *[0] * 7]
    y = torch.arange(12.0)[3:]
    assert xo.as_strided(y, (2, 2), (2, 1), 1).tolist() == [[4, 5], [6, 7]]
    with pytest.raises(xo.LayoutError, match=r"would span elements -3 to -2.* x spans 0 to 8"):
        xo.as_strided(y, (2,), (1,), -3)  # PyTorch itself would read memory before x


@pytest.mark.parametrize("of", ["conj", "sparse", "meta", "list", "object"])
def test_arrays_without_a_memory_address(of):
    torch = pytest.importorskip("torch", exc_type=ImportError)
    x = {
        "conj": lambda: torch.ones(3, dtype=torch.complex64).conj(),
        "sparse": lambda: torch.eye(3).to_sparse(),
        "meta": lambda: torch.empty(3, device="meta"),
        "list": lambda: [1, 2],
        "object": object,
    }[of]()
    with pytest.raises((xo.Unsupported, xo.BackendNotFound), match=r"Instead|Make it one|xo\.asarray takes"):
        xo.as_strided(x, (1,), (1,))
