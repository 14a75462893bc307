"""Attention: the definition's values, whatever is asked at once; nothing hidden leaks; what is ambiguous is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._attention_cases import FUSED, LONG, ROWS, VIEW, attend, expected, flags, qkv, shift
from xarrayops.testing._compare import check_array, check_values
from xarrayops.testing._foreign import foreigners
from xarrayops.testing._samples import sample
from xarrayops.testing._table import Call, Row, able, called, cases, check_row, exercises, quiet, widen
from xarrayops.testing._variant import Variant

HALVES = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
"""The narrow dtypes that a library may have beyond the standard's, with their epsilon."""
ACCELERATORS = ("cuda", "rocm", "tpu")
"""The kinds of device on which all calls of fused kernels are made."""
EAGER = ("numpy", "torch")
"""The libraries that have computed all values, where these lie in the host's memory."""
VIEWS: dict[str, tuple[tuple[int, ...], str, Callable[[Any], tuple[Any, Any, Any]]]] = {
    "parts of one projection": (
        (2, 5, 3, 4, 6),
        "BSHD",
        lambda x: (x[:, :, 0, :, :], x[:, :, 1, :, :], x[:, :, 2, :, :]),
    ),
    "parts of wide items": ((2, 4, 5, 12), "BHSD", lambda x: (x[:, :, :, :4], x[:, :, :, 4:8], x[:, :, :, 8:])),
    "heads next to items": ((2, 5, 4, 6), "BHSD", lambda x: (xo.permute_dims(x, (0, 2, 1, 3)),) * 3),
    "one head for all": (
        (2, 4, 5, 6),
        "BHSD",
        lambda x: (x, *(xo.broadcast_to(x[:, :1, :, :], (2, 4, 5, 6)) for _ in "kv")),
    ),
}
"""Shapes and layouts, and how queries, keys and values are taken from one array of the shape."""
REFUSALS = (TypeError, ValueError, xo.Unsupported)
Q, K, V = qkv()
BOTH = "top_left(.|\n)*bottom_right|bottom_right(.|\n)*top_left"
WRONG: dict[str, tuple[Call, str]] = {
    "causal is True, and not square": (attend((Q, K, V), causal=True), BOTH),
    "causal is True, lengths make it square": (attend((Q, K, V), causal=True, kv_lengths=[5, 5]), BOTH),
    "a window, and not square": (attend((Q, K, V), window=(1, 1)), "bottom_right"),
    "a window of one side, and not square": (attend((Q, K, V), window=(None, 0)), "bottom_right"),
    "causal of another word": (attend((Q, K, V), causal="bottom-right"), BOTH),
    "causal is a float": (attend((Q, K, V), causal=1.5), "causal"),
    "causal is an array": (attend((Q, K, V), causal=np.asarray(1)), "causal"),
    "causal is an array of bools": (attend((Q, K, V), causal=np.asarray([True])), "causal"),
    "a window of one number": (attend((Q, K, V), window=3, causal=0), "window"),
    "a window of one bound": (attend((Q, K, V), window=(3,), causal=0), "window"),
    "a window of arrays": (attend((Q, K, V), window=(np.asarray(1), 0), causal=0), "window"),
    "a window of another anchor": (attend((Q, K, V), window=(1, 0, "centre")), "window"),
    "a window that ends before it begins": (attend((Q, K, V), window=(-1, 2), causal=0), "window"),
    "causal and the window disagree": (attend((Q, K, V), window=(1, 1, "top_left"), causal="bottom_right"), BOTH),
    "a softcap of 0": (attend((Q, K, V), softcap=0), "softcap"),
    "a scale that is an array": (attend((Q, K, V), scale=np.asarray(0.5)), "scale"),
    "two dtypes": (attend((Q, K, V.astype("float64"))), "dtype"),
    "heads in no groups": (attend(qkv(heads=(4, 3))), "4(.|\n)*3"),
    "values of other heads": (attend((Q, K, qkv(heads=(4, 4))[2])), "heads|shape"),
    "keys of another size": (attend((Q, qkv(sizes=(5, 3))[1], V)), "4(.|\n)*5"),
    "keys of another batch": (attend((Q, *qkv(batch=3)[1:])), "batch|shape"),
    "fewer values than keys": (attend((Q, K, qkv(5, 6)[2])), "7(.|\n)*6"),
    "a mask of numbers": (attend((Q, K, V), mask=shift(5, 7)), "bias="),
    "a mask of integers": (attend((Q, K, V), mask=sample("int32", (5, 7))), "bias="),
    "a bias of bools": (attend((Q, K, V), bias=flags(5, 7)), "bias"),
    "a mask of other keys": (attend((Q, K, V), mask=flags(5, 6)), "mask"),
    "a mask that widens the batch": (attend(qkv(batch=1), mask=flags(2, 1, 5, 7)), "mask"),
    "a mask in the order of BSHD": (attend(qkv(layout="BSHD"), layout="BSHD", mask=flags(2, 5, 4, 7)), "mask"),
    "a bias of too many axes": (attend((Q, K, V), bias=shift(1, 2, 4, 5, 7)), "bias"),
    "another layout": (attend((Q, K, V), layout="BHDS"), "BHSD(.|\n)*BSHD"),
    "no batch": (attend(qkv(layout="HSD")), "BHSD"),
    "a batch where there is none": (attend((Q, K, V), layout="SHD"), "SHD"),
    "integers": (attend(qkv(dtype="int32")), "int32"),
    "complex numbers": (attend(qkv(dtype="complex64")), "complex64"),
    "more keys than there are": (attend((Q, K, V), kv_lengths=[8, 7]), "kv_lengths"),
    "more queries than there are": (attend((Q, K, V), q_lengths=[5, 6]), "q_lengths"),
    "fewer than no keys": (attend((Q, K, V), kv_lengths=[-1, 7]), "kv_lengths"),
    "lengths of another batch": (attend((Q, K, V), q_lengths=[5]), "q_lengths"),
    "lengths that are fractions": (attend((Q, K, V), kv_lengths=[1.5, 2.0]), "kv_lengths"),
    "an array of lengths that are fractions": (attend((Q, K, V), kv_lengths=sample("float32", (2,))), "kv_lengths"),
}
"""Calls that raise, and what the message says."""


class AttentionSuite:
    """Attention."""

    @cases(ROWS)
    def test_attention(self, variant: Variant, row: Row) -> None:
        """Values, dtypes and shapes of the definition; inputs stay as they were."""
        check_row(variant, row)

    @cases(LONG)
    def test_long_attention(self, variant: Variant, row: Row) -> None:
        """The same over several blocks of a kernel."""
        if variant.traced and xo.is_lazy(variant.array(qkv()[0])):
            pytest.skip(f"{variant} plans a task for every few items")
        check_row(variant, row)

    @exercises("attention")
    @pytest.mark.parametrize("dtype", HALVES)
    @pytest.mark.parametrize("size", [1.0, 100.0])
    def test_attention_of_narrow_dtypes(self, variant: Variant, dtype: str, size: float) -> None:
        """Rounded once at the end: scores and sums are at least single precision, also where narrow ones overflow."""
        host = [size * each for each in qkv()[:2]] + [qkv()[2]]
        try:
            arrays = [xo.astype(variant.array(each), dtype) for each in host]
        except xo.Unsupported:
            pytest.skip(f"{variant} has no {dtype} by its own account")
        options: dict[str, Any] = {"causal": "bottom_right", "scale": 0.5 / size**2, "return_lse": True}
        out, lse = called(variant, "attention", _attention, *arrays, options)
        rounded = [widen(variant.values(xo.astype(each, "float32"))) for each in arrays]
        want, want_lse = expected(*rounded, **options)
        assert out.dtype == arrays[0].dtype
        ulps = 4 * HALVES[dtype] / float(np.finfo("float32").eps)
        check_values(variant.values(xo.astype(out, "float32")), want, ulps=ulps, normwise=True)
        check_array(variant, lse, want_lse, dtype="float32", ulps=64, normwise=True)

    @exercises("attention")
    @pytest.mark.parametrize("dtype", HALVES)
    def test_attention_of_fused_sizes(self, variant: Variant, dtype: str) -> None:
        """Calls that fused kernels of accelerators take, whichever serves; on a CPU, the quick ones of them."""
        if variant.traced and xo.is_lazy(variant.array(Q)):
            pytest.skip(f"{variant} plans a task for every few items")
        held = variant.backend.device_of(variant.array(Q))
        everything = held is not None and held.kind in ACCELERATORS
        for name, case in FUSED.items():
            if not (everything or case.toy):
                continue
            try:
                whole = [xo.astype(variant.array(x), dtype) for x in case.arrays()]
            except xo.Unsupported:
                pytest.skip(f"{variant} has no {dtype} by its own account")
            arrays = [VIEW[case.view](x) for x in whole]
            given = {n: variant.array(x) if isinstance(x, np.ndarray) else x for n, x in case.options.items()}
            out, lse = called(variant, "attention", _attention, *arrays, {**given, "return_lse": True})
            alone = called(variant, "attention", _attention, *arrays, given)
            rounded = [widen(variant.values(xo.astype(x, "float32"))) for x in arrays]
            want, want_lse = expected(*rounded, **case.options, return_lse=True)
            ulps = 8 * HALVES[dtype] / float(np.finfo("float32").eps)
            try:
                for got in (out, alone):
                    assert got.dtype == arrays[0].dtype
                    check_values(variant.values(xo.astype(got, "float32")), want, ulps=ulps, normwise=True)
                check_array(variant, lse, want_lse, dtype="float32", ulps=256, normwise=True)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error

    @exercises("attention")
    @pytest.mark.parametrize("view", VIEWS)
    def test_attention_of_views(self, variant: Variant, view: str) -> None:
        """However the arrays lie, the same values."""
        shape, layout, take = VIEWS[view]
        host = sample("float32", shape, low=-1, high=2)
        options: dict[str, Any] = {"layout": layout, "causal": True}
        out = called(variant, "attention", _attention, *take(variant.array(host)), options)
        check_array(variant, out, expected(*take(host), **options), dtype="float32", ulps=64, normwise=True)

    @exercises("attention", "explain")
    @pytest.mark.parametrize("row", [r for r in ROWS if r.label in ("shapes", "together", "hidden")], ids=str)
    def test_attention_implementations(self, variant: Variant, row: Row) -> None:
        """`explain` names the library's own; each serves the call when it is forced to, or raises its reason.

        A compiler may hide what `explain` saw, such as the values of lengths. The last, generic one it may trace, too.
        """
        case = able(variant, row)[0]
        native = case.filled(variant.array, variant.backend.native_dtype)
        plan = xo.explain("attention", *native.args, **native.kwargs)
        own = {c.name: c for c in plan.candidates if c.name.startswith(f"{variant.backend.name}:")}
        assert plan.chosen in own, plan
        assert own[plan.chosen].ok, plan
        wide = case.filled(widen, str)
        for name, candidate in own.items():
            options = {**native.kwargs, "implementation": name}
            if not candidate.ok:
                with pytest.raises(xo.Unsupported, match=re.escape(candidate.reason)):
                    xo.attention(*native.args, **options)
                continue
            with quiet():
                found = [xo.attention(*native.args, **options)]
                if name == plan.candidates[-1].name:
                    found.append(called(variant, "attention", _attention, *native.args, options))
            for results in found:
                for got, want in zip(results, expected(*wide.args, **wide.kwargs), strict=True):
                    check_array(variant, got, want, dtype="float32", ulps=64, normwise=True)

    @exercises("attention")
    def test_attention_by_an_unknown_implementation(self, variant: Variant) -> None:
        """The error names those that there are."""
        arrays = map(variant.array, qkv())
        with pytest.raises((ValueError, xo.Unsupported), match=f"nonesuch(.|\n)*{variant.backend.name}:"):
            xo.attention(*arrays, implementation="nonesuch")

    @exercises("engines")
    def test_attention_by_engines(self, variant: Variant) -> None:
        """The values are the same, in arrays of this library, whichever library's kernels may serve."""
        arrays = [variant.array(each) for each in qkv()]
        for engines in ((), ("numpy",)):
            with xo.engines(*engines):
                out = xo.attention(*arrays)
            check_array(variant, out, expected(*qkv()), dtype="float32", ulps=64, normwise=True)

    @exercises("attention")
    @pytest.mark.parametrize("wrong", WRONG)
    def test_attention_refusals(self, variant: Variant, wrong: str) -> None:
        """What does not fit, or could mean two things, raises, and the message says which argument."""
        case, says = WRONG[wrong]
        if not case.dtypes <= variant.dtypes:
            pytest.skip(f"{variant} has not all of {sorted(case.dtypes)} by its own account")
        native = case.filled(variant.array, variant.backend.native_dtype)
        with pytest.raises(REFUSALS, match=says) as caught:
            xo.attention(*native.args, **native.kwargs)
        assert "xo.attention" in str(caught.value)

    @exercises("attention")
    def test_attention_lengths_that_can_be_seen(self, variant: Variant) -> None:
        """Where values are there to be looked at, lengths out of range raise."""
        if variant.backend.name not in EAGER or str(variant.device) != "cpu":
            pytest.skip(f"to look at lengths may make {variant} compute, or wait")
        arrays = [variant.array(each) for each in qkv()]
        for name, lengths in (("kv_lengths", [7, 8]), ("q_lengths", [-1, 5])):
            with pytest.raises(ValueError, match=name):
                xo.attention(*arrays, **{name: variant.array(np.asarray(lengths))})

    @exercises("attention")
    @pytest.mark.parametrize("place", ["q", "k", "v", "mask", "bias", "q_lengths", "kv_lengths"])
    def test_attention_of_mixed_libraries(self, variant: Variant, place: str) -> None:
        """An array of another library raises in every place, and the message names the cure."""
        for library, stranger in foreigners(variant).items():
            given = dict(zip("qkv", map(variant.array, qkv()), strict=True)) | {place: stranger}
            arrays = [given.pop(name) for name in "qkv"]
            with pytest.raises(xo.MixedBackends) as caught:
                xo.attention(*arrays, **given)
            for part in ("xo.attention", variant.backend.name, library, "xo.convert("):
                assert part in str(caught.value), f"the message lacks {part!r}: {caught.value}"


def _attention(q: Any, k: Any, v: Any, options: dict[str, Any]) -> Any:
    """With all arguments by position, as a variant runs it."""
    return xo.attention(q, k, v, **options)
