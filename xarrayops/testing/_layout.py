"""Layout: elements in the order that was asked for, and nothing read that is not x's."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import Array
from xarrayops.testing._compare import check_array
from xarrayops.testing._samples import ALL, Host, sample
from xarrayops.testing._table import called, exercises
from xarrayops.testing._variant import Variant

EXTRA = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
X = sample("float32", (4, 6, 2))
VIEWS: dict[str, tuple[Callable[[Any], Any], Callable[[Host], Host]]] = {
    "whole": (lambda x: x, lambda a: a),
    "transposed": (lambda x: xo.permute_dims(x, (2, 1, 0)), lambda a: a.transpose(2, 1, 0)),
    "rolled axes": (lambda x: xo.permute_dims(x, (1, 2, 0)), lambda a: a.transpose(1, 2, 0)),
    "sliced": (lambda x: x[1:3, ::2, :], lambda a: a[1:3, ::2]),
    "row": (lambda x: x[2, 1:, 1], lambda a: a[2, 1:, 1]),
    "backward": (lambda x: xo.flip(x, axis=1), lambda a: a[:, ::-1]),
    "broadcast": (lambda x: xo.broadcast_to(x[:, :1, :], (4, 3, 2)), lambda a: np.broadcast_to(a[:, :1], (4, 3, 2))),
    "one column": (lambda x: x[:, :1, :1], lambda a: a[:, :1, :1]),
    "0-d": (lambda x: x[1, 2, 0], lambda a: a[1, 2, 0]),
    "empty": (lambda x: x[:, 3:3, :], lambda a: a[:, 3:3]),
}
"""Arrays that lie in many ways, from one of shape (4, 6, 2)."""
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
    "NCHW4c -> NCHW": ((2, 2, 2, 3, 4), {"channels": 6}, lambda a: joined(a)[:, :6]),
    "NCHW4c -> NHWC": ((2, 2, 2, 3, 4), {}, lambda a: joined(a).transpose(0, 2, 3, 1)),
    "NCHW4c -> NCHW4c": ((2, 2, 1, 1, 4), {}, lambda a: a),
    "NCHW4c -> NHWC3c": (
        (2, 2, 2, 3, 4),
        {"channels": 6},
        lambda a: blocked(joined(a)[:, :6], 3).swapaxes(1, 2).swapaxes(2, 3),
    ),
    "NCHW -> NCHW4c3w": (
        (2, 6, 2, 4),
        {},
        lambda a: np.moveaxis(np.pad(a, ((0, 0), (0, 2), (0, 0), (0, 2))).reshape(2, 2, 4, 2, 2, 3), 2, 4),
    ),
    "h w -> 4w 3h w h": (
        (2, 3),
        {},
        lambda a: np.pad(a, ((0, 1), (0, 1))).reshape(1, 3, 1, 4).transpose(3, 1, 2, 0),
    ),
    "OIHW -> OIHW2i2o": (
        (4, 6, 3, 1),
        {},
        lambda a: a.reshape(2, 2, 3, 2, 3, 1).transpose(0, 2, 4, 5, 3, 1),
    ),
}
"""Patterns: the shape before, the keywords, and what NumPy makes of it."""


def blocked(a: Host, block: int) -> Host:
    """The second axis in blocks that stand last, filled up with zeros."""
    n, c, *rest = a.shape
    filled = np.zeros((n, -(-c // block) * block, *rest), dtype=a.dtype)
    filled[:, :c] = a
    return np.moveaxis(filled.reshape(n, -1, block, *rest), 2, -1)


def joined(a: Host) -> Host:
    """The inverse, with what was filled up."""
    n, outer, *rest, block = a.shape
    return np.moveaxis(a, -1, 2).reshape(n, outer * block, *rest)


def lacks_strides(variant: Variant) -> bool:
    """Whether the library says that its arrays have none."""
    return hasattr(variant.backend.module, "NO_STRIDES")


def shows_memory(variant: Variant, x: Array) -> bool:
    """Whether the backend sees where the values lie."""
    return variant.backend.functions["memory"](x) is not None


def check_plan(variant: Variant, plan: Any, x: Array, got: Array) -> None:
    """What `explain` said before holds afterwards."""
    assert plan.chosen is not None
    assert plan.chosen.startswith(f"{variant.backend.name}:")
    if variant.traced or not shows_memory(variant, x) or 0 in x.shape:
        return
    assert xo.shares_memory(x, got) is (plan.action == "zero-copy"), plan
    assert (plan.nbytes or 0) == (0 if plan.action == "zero-copy" else xo.layout_of(got).itemsize * prod(got.shape)), (
        plan
    )
    if plan.action == "copy" and hasattr(getattr(got, "flags", None), "writeable"):
        assert got.flags.writeable


def must_refuse(function: Callable[..., Any], /, *args: Any) -> None:
    """The call raises, and the message names the way out."""
    with pytest.raises(xo.Unsupported, match="Instead"):
        function(*args)


def laid_out(variant: Variant, verb: str, x: Any, how: str, want: Any) -> tuple[xo.Explanation, Any]:
    """What `explain` foresaw and what came, held against each other; None came where the library must refuse."""
    plan, function = xo.explain(verb, x, how), getattr(xo, verb)
    if plan.chosen is None:
        assert lacks_strides(variant)
        must_refuse(function, x, how)
        return plan, None
    got = called(variant, verb, function, x, how)
    check_array(variant, got, want, dtype="float32")
    check_plan(variant, plan, x, got)
    return plan, got


class LayoutSuite:
    """Where elements lie, and how they are brought to lie otherwise."""

    @exercises("layout_of")
    @pytest.mark.parametrize("view", VIEWS)
    def test_layout_of(self, variant: Variant, view: str) -> None:
        """The element at an index lies where the strides say, and ``as_strided`` with them gives x again."""
        take, want = VIEWS[view][0], VIEWS[view][1](X)
        x = take(variant.array(X))
        if not shows_memory(variant, x):
            must_refuse(xo.layout_of, x)
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
        again = (
            called(variant, "as_strided", xo.as_strided, x, layout.shape, layout.strides) if _strided(variant) else x
        )
        check_array(variant, again, want, dtype="float32")

    @exercises("contiguous", "explain")
    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("view", VIEWS)
    def test_contiguous(self, variant: Variant, view: str, order: str) -> None:
        """The same values in the order; x itself if they lay so; `explain` knows it before."""
        take, want = VIEWS[view][0], VIEWS[view][1](X)
        x = take(variant.array(X))
        plan, got = laid_out(variant, "contiguous", x, order, want)
        if got is not None and shows_memory(variant, got):
            assert order in xo.layout_of(got).order or lacks_strides(variant)
        assert got is None or variant.traced or (got is x) is (plan.action == "zero-copy")

    @exercises("contiguous", "relayout")
    @pytest.mark.parametrize("dtype", [*ALL, *EXTRA])
    def test_every_dtype(self, variant: Variant, dtype: str) -> None:
        """Whatever an item means, it arrives as it was."""
        if dtype not in EXTRA and dtype not in variant.dtypes:
            pytest.skip(f"{variant} has no {dtype} by its own account")
        host = sample("float32" if dtype in EXTRA else dtype, (5, 3))
        try:
            x = variant.array(host) if dtype not in EXTRA else xo.astype(variant.array(host), dtype)
        except xo.Unsupported:
            pytest.skip(f"{variant} has no {dtype} by its own account")
        turned = called(variant, "contiguous", xo.contiguous, xo.permute_dims(x, (1, 0)))
        padded = called(variant, "relayout", lambda x: xo.relayout(x, "a b -> b 4a a"), x)
        assert x.dtype == turned.dtype == padded.dtype
        plain, padded = (xo.astype(each, "float32") if dtype in EXTRA else each for each in (x, padded))
        turned = xo.astype(turned, "float32") if dtype in EXTRA else turned
        want = variant.values(plain)
        assert np.array_equal(variant.values(turned), want.T)
        filled = np.concatenate([want, np.zeros((3, 3), dtype=want.dtype)])
        assert np.array_equal(variant.values(padded), filled.reshape(2, 4, 3).transpose(2, 1, 0))

    @exercises("relayout", "explain")
    @pytest.mark.parametrize("pattern", RELAYOUTS)
    def test_relayout(self, variant: Variant, pattern: str) -> None:
        """NumPy's values, in C order, by a copy exactly where `explain` says so."""
        shape, options, oracle = RELAYOUTS[pattern]
        host = sample("float32", shape)
        x = variant.array(host)
        plan = xo.explain("relayout", x, pattern, **options)
        got = called(variant, "relayout", lambda x: xo.relayout(x, pattern, **options), x)
        check_array(variant, got, oracle(host), dtype="float32")
        check_plan(variant, plan, x, got)
        if shows_memory(variant, got):
            assert xo.layout_of(got).is_contiguous

    @exercises("relayout")
    def test_relayout_refuses(self, variant: Variant) -> None:
        """A pattern that does not fit raises, and says for which x."""
        x = variant.array(sample("float32", (2, 3, 4)))
        for wrong in ("ab -> ba", "abc -> abd", "abc", "abc -> acbb", "a b c -> a b 2d", "ab2a -> ab"):
            for call in (xo.relayout, lambda x, pattern: xo.explain("relayout", x, pattern)):
                with pytest.raises(xo.LayoutError, match=rf"xo\.relayout\({variant.backend.name} float32 .*{wrong}"):
                    call(x, wrong)

    @exercises("with_memory_format", "explain")
    @pytest.mark.parametrize("memory_format", ["contiguous", "channels_last"])
    @pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 3, 4, 1, 2), (2, 1, 3, 3), (2, 3, 1, 1), (0, 3, 2, 2)])
    def test_with_memory_format(self, variant: Variant, shape: tuple[int, ...], memory_format: str) -> None:
        """The same values under the same shape; twice is once."""
        host = sample("float32", shape)
        x = variant.array(host)
        _, got = laid_out(variant, "with_memory_format", x, memory_format, host)
        if got is None:
            return
        if shows_memory(variant, got) and not lacks_strides(variant):
            inner = xo.permute_dims(got, (0, *range(2, len(shape)), 1)) if memory_format == "channels_last" else got
            assert xo.layout_of(inner).is_contiguous
            assert xo.with_memory_format(got, memory_format) is got
            if 1 not in shape and 0 not in shape:
                assert xo.layout_of(got).memory_format == memory_format

    @exercises("with_memory_format", "contiguous")
    def test_wrong_orders(self, variant: Variant) -> None:
        """There are two orders and two formats, and a format is of images or volumes."""
        x = variant.array(X)
        with pytest.raises(xo.LayoutError, match="'C' or 'F'"):
            xo.contiguous(x, "A")
        for shape, memory_format in [((2, 3), "channels_last"), ((1, 2, 3, 4), "channels_first")]:
            with pytest.raises(xo.LayoutError, match=r"Instead: xo\.relayout"):
                xo.with_memory_format(variant.array(sample("float32", shape)), memory_format)

    @exercises("as_strided", "explain")
    @pytest.mark.parametrize(
        "spec",
        [
            ((2, 3), (3, 1), 2),
            ((3, 3), (1, 1), 0),
            ((2, 2), (0, 5), 1),
            ((), (), 7),
            ((0, 4), (1, 1), 0),
            ((4,), (-2,), 8),
        ],
        ids=str,
    )
    def test_as_strided(self, variant: Variant, spec: tuple[Any, ...]) -> None:
        """NumPy's view of the same memory, of which none is copied; out of bounds nothing is read."""
        shape, strides, offset = spec
        host = sample("float32", (3, 4))
        x = variant.make(host)
        explained = xo.explain("as_strided", x, shape, strides, offset=offset)
        if not _strided(variant):
            assert explained.chosen is None
            must_refuse(xo.as_strided, x, shape, strides, offset)
            return
        with pytest.raises(xo.LayoutError, match=r"Instead: extents"):
            xo.as_strided(x, (2, 12), (1, 1), 0)
        try:
            got = called(variant, "as_strided", xo.as_strided, x, shape, strides, offset)
        except xo.Unsupported as refusal:
            assert any(stride < 0 for stride in strides)
            _is_foreseen(explained, refusal)
            return
        assert explained.chosen == f"{variant.backend.name}:as_strided"
        steps = tuple(4 * stride for stride in strides)
        want = np.lib.stride_tricks.as_strided(host.reshape(-1)[offset:], shape, steps)
        check_array(variant, got, want, dtype="float32")
        if want.size:
            assert xo.shares_memory(got, x)
            assert xo.layout_of(got).strides == strides

    @exercises("pin_memory", "explain")
    def test_pin_memory(self, variant: Variant) -> None:
        """The same values in page-locked memory, and once is enough; or a refusal that names the way out."""
        x = variant.array(X)
        explained = xo.explain("pin_memory", x)
        try:
            pinned = xo.pin_memory(x)
        except xo.Unsupported as refusal:
            _is_foreseen(explained, refusal)
            return
        assert explained.chosen == f"{variant.backend.name}:pin_memory"
        assert xo.pin_memory(pinned) is pinned
        assert np.array_equal(variant.values(pinned), X)


def _is_foreseen(explained: xo.Explanation, refusal: xo.Unsupported) -> None:
    """`explain` said before that the call would raise, and why; the call names the way out."""
    assert explained.chosen is None
    assert explained.candidates[0].reason in str(refusal)
    assert "Instead" in str(refusal)


def _strided(variant: Variant) -> bool:
    """Whether the backend makes views with any strides."""
    return not hasattr(variant.backend.functions["as_strided"], "gap")
