"""Layout: the requested order of elements, and no reads outside the memory of x."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import Array
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.samples import ALL, Host, sample
from xarrayops.testing._suite.table import called, cast, exercises
from xarrayops.testing._suite.variant import Variant, depends_on

LOW_PRECISION = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
X = sample("float32", (4, 6, 2))
VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "transposed": lambda x: xo.permute_dims(x, (2, 1, 0)),
    "rolled axes": lambda x: xo.permute_dims(x, (1, 2, 0)),
    "sliced": lambda x: x[1:3, ::2, :],
    "row": lambda x: x[2, 1:, 1],
    "backward": lambda x: xo.flip(x, axis=1),
    "broadcast": lambda x: xo.broadcast_to(x[:, :1, :], (4, 3, 2)),
    "one column": lambda x: x[:, :1, :1],
    "0-d": lambda x: x[1, 2, 0],
    "empty": lambda x: x[:, 3:3, :],
}
"""Views of an array of shape (4, 6, 2)."""
VIEWS_OF_NUMPY: dict[str, Callable[[Host], Host]] = VIEWS | {
    "transposed": lambda a: a.transpose(2, 1, 0),
    "rolled axes": lambda a: a.transpose(1, 2, 0),
    "backward": lambda a: a[:, ::-1],
    "broadcast": lambda a: np.broadcast_to(a[:, :1], (4, 3, 2)),
}
"""The same views in NumPy."""
RELAYOUTS: dict[str, tuple[tuple[int, ...], dict[str, int], Callable[[Host], Host]]] = {
    "NCHW -> NHWC": ((2, 3, 4, 5), {}, lambda a: a.transpose(0, 2, 3, 1)),
    "NHWC -> NCHW": ((2, 3, 4, 5), {}, lambda a: a.transpose(0, 3, 1, 2)),
    "b h s d -> b s h d": ((2, 3, 4, 5), {}, lambda a: a.transpose(0, 2, 1, 3)),
    "NCHW -> NCHW": ((2, 3, 4, 5), {}, lambda a: a),
    "a b -> b a": ((1, 6), {}, lambda a: a.T),
    "NCHW -> NCHW4c": ((2, 6, 2, 3), {}, lambda a: blocked(a, 4)),
    "NCHW -> NCHW3c": ((2, 6, 2, 3), {}, lambda a: blocked(a, 3)),
    "NCHW -> NCHW1c": ((2, 6, 2, 3), {}, lambda a: blocked(a, 1)),
    "c -> c 2c": ((6,), {}, lambda a: a.reshape(3, 2)),
    "NCHW4c -> NCHW": ((2, 2, 2, 3, 4), {"channels": 6}, lambda a: unblocked(a)[:, :6]),
    "NCHW4c -> NHWC": ((2, 2, 2, 3, 4), {}, lambda a: unblocked(a).transpose(0, 2, 3, 1)),
    "NCHW4c -> NCHW4c": ((2, 2, 1, 1, 4), {}, lambda a: a),
    "NCHW4c -> NHWC3c": (
        (2, 2, 2, 3, 4),
        {"channels": 6},
        lambda a: blocked(unblocked(a)[:, :6], 3).transpose(0, 2, 3, 1, 4),
    ),
    "NCHW -> NCHW4c3w": (
        (2, 6, 2, 4),
        {},
        lambda a: np.moveaxis(np.pad(a, ((0, 0), (0, 2), (0, 0), (0, 2))).reshape(2, 2, 4, 2, 2, 3), 2, 4),
    ),
    "h w -> 4w 3h w h": ((2, 3), {}, lambda a: np.pad(a, ((0, 1), (0, 1))).reshape(1, 3, 1, 4).transpose(3, 1, 2, 0)),
    "OIHW -> OIHW2i2o": ((4, 6, 3, 1), {}, lambda a: a.reshape(2, 2, 3, 2, 3, 1).transpose(0, 2, 4, 5, 3, 1)),
}
"""For each pattern: the shape of x, the keywords, and the same operation in NumPy."""
STRIDED: list[tuple[Any, ...]] = [
    *(((2, 3), (3, 1), 2), ((3, 3), (1, 1), 0), ((2, 2), (0, 5), 1), ((), (), 7)),
    *(((0, 4), (1, 1), 0), ((4,), (-2,), 8)),
]
"""Views of 12 elements: the shape, the strides and the offset."""


def blocked(a: Host, block: int) -> Host:
    """The array with its second axis split into blocks, padded with zeros, with the block axis last."""
    n, c, *rest = a.shape
    filled = np.zeros((n, -(-c // block) * block, *rest), dtype=a.dtype)
    filled[:, :c] = a
    return np.moveaxis(filled.reshape(n, -1, block, *rest), 2, -1)


def unblocked(a: Host) -> Host:
    """The inverse of `blocked`; the padding stays."""
    n, outer, *rest, block = a.shape
    return np.moveaxis(a, -1, 2).reshape(n, outer * block, *rest)


def lacks_strides(variant: Variant) -> bool:
    """Whether the backend declares that its arrays have no strides."""
    return hasattr(variant.backend.module, "NO_STRIDES")


def exposes_memory(variant: Variant, x: Array) -> bool:
    """Whether the backend knows the memory address of x."""
    return variant.backend.functions["memory"](x) is not None


def check_plan(variant: Variant, plan: Any, x: Array, got: Array) -> None:
    """Check the result against `explain`: the candidate, whether it shares memory, and the bytes copied."""
    assert plan.chosen is not None
    assert plan.chosen.startswith(f"{variant.backend.name}:")
    if variant.traced or not exposes_memory(variant, x) or 0 in x.shape:
        return
    assert xo.shares_memory(x, got) is (plan.action == "zero-copy"), plan
    size = xo.layout_of(got).itemsize * prod(got.shape)
    assert (plan.nbytes or 0) == (0 if plan.action == "zero-copy" else size), plan
    if plan.action == "copy" and hasattr(getattr(got, "flags", None), "writeable"):
        assert got.flags.writeable


def check_refusal(function: Callable[..., Any], /, *args: Any) -> None:
    """Check that the call raises, and that the message says what to do instead."""
    with pytest.raises(xo.Unsupported, match="Instead"):
        function(*args)


def check_layout_verb(variant: Variant, verb: str, x: Any, argument: str, want: Any) -> tuple[xo.Explanation, Any]:
    """Call a layout verb and check it; return the result of `explain` and the result, None if the library refuses."""
    plan, function = xo.explain(verb, x, argument), getattr(xo, verb)
    if plan.chosen is None:
        assert lacks_strides(variant)
        check_refusal(function, x, argument)
        return plan, None
    got = called(variant, verb, function, x, argument)
    check_array(variant, got, want, dtype="float32")
    check_plan(variant, plan, x, got)
    return plan, got


class LayoutSuite:
    """The layout of arrays, and the verbs that change it."""

    @exercises("layout_of")
    @pytest.mark.parametrize("view", VIEWS)
    def test_layout_of(self, variant: Variant, view: str) -> None:
        """The strides give the address of each element, and ``as_strided`` with these strides gives x."""
        x, want = VIEWS[view](variant.array(X)), VIEWS_OF_NUMPY[view](X)
        if not exposes_memory(variant, x):
            check_refusal(xo.layout_of, x)
            return
        layout = called(variant, "layout_of", xo.layout_of, x)
        assert (layout.shape, layout.itemsize, layout.device) == (want.shape, 4, variant.device)
        if lacks_strides(variant):
            assert layout.is_contiguous
            return
        memory = variant.backend.functions["memory"]
        first = memory(x).pointer
        for index in np.ndindex(want.shape if want.ndim else (0,)):
            steps = sum(i * stride for i, stride in zip(index, layout.strides, strict=True))
            assert memory(x[tuple(slice(i, i + 1) for i in index)]).pointer == first + 4 * steps
        if _supports_strides(variant):
            x = called(variant, "as_strided", xo.as_strided, x, layout.shape, layout.strides)
        check_array(variant, x, want, dtype="float32")

    @exercises("contiguous", "explain")
    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("view", VIEWS)
    def test_contiguous(self, variant: Variant, view: str, order: str) -> None:
        """The same values in the requested order; x itself if it is already contiguous; `explain` predicts it."""
        x, want = VIEWS[view](variant.array(X)), VIEWS_OF_NUMPY[view](X)
        plan, got = check_layout_verb(variant, "contiguous", x, order, want)
        if got is not None and exposes_memory(variant, got):
            assert order in xo.layout_of(got).order or lacks_strides(variant)
        assert got is None or variant.traced or (got is x) is (plan.action == "zero-copy")

    @exercises("contiguous", "relayout")
    @pytest.mark.parametrize("dtype", [*ALL, *LOW_PRECISION])
    def test_every_dtype(self, variant: Variant, dtype: str) -> None:
        """Values of every dtype are kept."""
        if dtype in LOW_PRECISION:
            x = cast(variant, variant.array(sample("float32", (5, 3))), dtype)
        elif dtype in variant.dtypes:
            x = variant.array(sample(dtype, (5, 3)))
        else:
            pytest.skip(f"{variant} does not support {dtype}")
        transposed = called(variant, "contiguous", xo.contiguous, xo.permute_dims(x, (1, 0)))
        padded = called(variant, "relayout", lambda x: xo.relayout(x, "a b -> b 4a a"), x)
        assert x.dtype == transposed.dtype == padded.dtype
        found = [xo.astype(y, "float32") if dtype in LOW_PRECISION else y for y in (x, transposed, padded)]
        want, turned, blocks = map(variant.values, found)
        assert np.array_equal(turned, want.T)
        assert np.array_equal(blocks, np.pad(want, ((0, 3), (0, 0))).reshape(2, 4, 3).transpose(2, 1, 0))

    @exercises("relayout", "explain")
    @pytest.mark.parametrize("pattern", RELAYOUTS)
    def test_relayout(self, variant: Variant, pattern: str) -> None:
        """Values match NumPy, the result is C-contiguous, and it is a copy exactly if `explain` says so."""
        shape, options, oracle = RELAYOUTS[pattern]
        host = sample("float32", shape)
        x = variant.array(host)
        plan = xo.explain("relayout", x, pattern, **options)
        got = called(variant, "relayout", lambda x: xo.relayout(x, pattern, **options), x)
        check_array(variant, got, oracle(host), dtype="float32")
        check_plan(variant, plan, x, got)
        if exposes_memory(variant, got):
            assert xo.layout_of(got).is_contiguous

    @depends_on()
    @exercises("relayout")
    def test_relayout_refuses(self, variant: Variant) -> None:
        """An invalid pattern raises an error that describes x."""
        x = variant.make(sample("float32", (2, 3, 4)))
        for wrong in ("ab -> ba", "abc -> abd", "abc", "abc -> acbb", "a b c -> a b 2d", "ab2a -> ab"):
            for call in (xo.relayout, lambda x, pattern: xo.explain("relayout", x, pattern)):
                with pytest.raises(xo.LayoutError, match=rf"xo\.relayout\({variant.backend.name} float32 .*{wrong}"):
                    call(x, wrong)

    @exercises("with_memory_format", "explain")
    @pytest.mark.parametrize("memory_format", ["contiguous", "channels_last"])
    @pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 3, 4, 1, 2), (2, 1, 3, 3), (2, 3, 1, 1), (0, 3, 2, 2)])
    def test_with_memory_format(self, variant: Variant, shape: tuple[int, ...], memory_format: str) -> None:
        """The shape and the values are kept; a second call returns the same array."""
        host = sample("float32", shape)
        x = variant.array(host)
        _, got = check_layout_verb(variant, "with_memory_format", x, memory_format, host)
        if got is None:
            return
        if exposes_memory(variant, got) and not lacks_strides(variant):
            inner = xo.permute_dims(got, (0, *range(2, len(shape)), 1)) if memory_format == "channels_last" else got
            assert xo.layout_of(inner).is_contiguous
            assert xo.with_memory_format(got, memory_format) is got
            if 1 not in shape and 0 not in shape:
                assert xo.layout_of(got).memory_format == memory_format

    @depends_on()
    @exercises("with_memory_format", "contiguous")
    def test_wrong_orders(self, variant: Variant) -> None:
        """An unknown order, an unknown format and a format for another number of axes raise."""
        x = variant.make(X)
        with pytest.raises(xo.LayoutError, match="'C' or 'F'"):
            xo.contiguous(x, "A")
        for shape, memory_format in [((2, 3), "channels_last"), ((1, 2, 3, 4), "channels_first")]:
            with pytest.raises(xo.LayoutError, match=r"Instead: xo\.relayout"):
                xo.with_memory_format(variant.make(sample("float32", shape)), memory_format)

    @depends_on("run")
    @exercises("as_strided", "explain")
    @pytest.mark.parametrize("spec", STRIDED, ids=str)
    def test_as_strided(self, variant: Variant, spec: tuple[Any, ...]) -> None:
        """The result is NumPy's view, without a copy; a view out of bounds raises."""
        shape, strides, offset = spec
        host = sample("float32", (3, 4))
        x = variant.make(host)
        explained = xo.explain("as_strided", x, shape, strides, offset=offset)
        if not _supports_strides(variant):
            assert explained.chosen is None
            check_refusal(xo.as_strided, x, shape, strides, offset)
            return
        with pytest.raises(xo.LayoutError, match=r"Instead: extents"):
            xo.as_strided(x, (2, 12), (1, 1), 0)
        try:
            got = called(variant, "as_strided", xo.as_strided, x, shape, strides, offset)
        except xo.Unsupported as refusal:
            assert any(stride < 0 for stride in strides)
            _check_predicted(explained, refusal)
            return
        assert explained.chosen == f"{variant.backend.name}:as_strided"
        steps = tuple(4 * stride for stride in strides)
        want = np.lib.stride_tricks.as_strided(host.reshape(-1)[offset:], shape, steps)
        check_array(variant, got, want, dtype="float32")
        if want.size:
            assert xo.shares_memory(got, x)
            assert xo.layout_of(got).strides == strides

    @depends_on("memory")
    @exercises("pin_memory", "explain")
    def test_pin_memory(self, variant: Variant) -> None:
        """The result has the same values in pinned memory; or the call raises and says what to do instead."""
        x = variant.array(X)
        explained = xo.explain("pin_memory", x)
        try:
            pinned = xo.pin_memory(x)
        except xo.Unsupported as refusal:
            _check_predicted(explained, refusal)
            return
        assert explained.chosen == f"{variant.backend.name}:pin_memory"
        assert xo.pin_memory(pinned) is pinned
        assert np.array_equal(variant.values(pinned), X)


def _check_predicted(explained: xo.Explanation, refusal: xo.Unsupported) -> None:
    """Check that `explain` predicted the error and its reason, and that the message says what to do instead."""
    assert explained.chosen is None
    assert explained.candidates[0].reason in str(refusal)
    assert "Instead" in str(refusal)


def _supports_strides(variant: Variant) -> bool:
    """Whether the backend supports views with arbitrary strides."""
    return not hasattr(variant.backend.functions["as_strided"], "gap")
