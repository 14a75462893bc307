"""Attention: values match the definition for all combinations of options, and ambiguous calls raise."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.compare import check_array, check_values
from xarrayops.testing._suite.foreign import check_mixed
from xarrayops.testing._suite.operations.attention_cases import (
    FUSED,
    FUSED_VIEWS,
    LONG,
    ROWS,
    attend,
    expected,
    qkv,
    random_bias,
    random_mask,
)
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.table import (
    Case,
    Row,
    called,
    cases,
    cast,
    check_row,
    exercises,
    rows_test,
    supported_cases,
    widen,
    without_warnings,
)
from xarrayops.testing._suite.variant import Variant, depends_on

NARROW = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
"""Dtypes of 16 bits, which the standard does not require, and their epsilon."""
ACCELERATORS = ("cuda", "rocm", "tpu")
"""The kinds of device on which the tests make all calls in `FUSED`."""
EAGER = ("numpy", "torch")
"""The libraries whose CPU arrays always hold computed values."""
VIEWS: dict[str, tuple[tuple[int, ...], str, Callable[[Any], Any]]] = {
    "slices of one projection": ((2, 5, 3, 4, 6), "BSHD", lambda x: [x[:, :, i, :, :] for i in range(3)]),
    "slices of the last axis": ((2, 4, 5, 12), "BHSD", lambda x: [x[:, :, :, i : i + 4] for i in (0, 4, 8)]),
    "transposed heads": ((2, 5, 4, 6), "BHSD", lambda x: [xo.permute_dims(x, (0, 2, 1, 3))] * 3),
    "one broadcast head": ((2, 4, 5, 6), "BHSD", lambda x: [x, *[xo.broadcast_to(x[:, :1, :, :], x.shape)] * 2]),
}
"""For each case: the shape of one array, the layout, and a function that takes q, k and v as views of that array."""
REFUSALS = (TypeError, ValueError, xo.Unsupported)
Q, K, V = qkv()
with_options = partial(attend, (Q, K, V))
BOTH = "top_left(.|\n)*bottom_right|bottom_right(.|\n)*top_left"
WRONG: dict[str, tuple[Case, str]] = {
    "causal=True with Lq != Lk": (with_options(causal=True), BOTH),
    "causal=True with kv_lengths equal to Lq": (with_options(causal=True, kv_lengths=[5, 5]), BOTH),
    "a window without an anchor, Lq != Lk": (with_options(window=(1, 1)), "bottom_right"),
    "a window with one bound and no anchor, Lq != Lk": (with_options(window=(None, 0)), "bottom_right"),
    "an unknown causal string": (with_options(causal="bottom-right"), BOTH),
    "causal is a float": (with_options(causal=1.5), "causal"),
    "causal is an array": (with_options(causal=np.asarray(1)), "causal"),
    "causal is an array of booleans": (with_options(causal=np.asarray([True])), "causal"),
    "a window that is a number": (with_options(window=3, causal=0), "window"),
    "a window with one item": (with_options(window=(3,), causal=0), "window"),
    "a window of arrays": (with_options(window=(np.asarray(1), 0), causal=0), "window"),
    "a window with an unknown anchor": (with_options(window=(1, 0, "centre")), "window"),
    "a window with a negative bound": (with_options(window=(-1, 2), causal=0), "window"),
    "causal and window with different anchors": (with_options(window=(1, 1, "top_left"), causal="bottom_right"), BOTH),
    "a softcap of 0": (with_options(softcap=0), "softcap"),
    "a scale that is an array": (with_options(scale=np.asarray(0.5)), "scale"),
    "two dtypes": (attend((Q, K, V.astype("float64"))), "dtype"),
    "query heads not a multiple of key heads": (attend(qkv(heads=(4, 3))), "4(.|\n)*3"),
    "values with another number of heads": (attend((Q, K, qkv(heads=(4, 4))[2])), "heads|shape"),
    "keys with another head size": (attend((Q, qkv(sizes=(5, 3))[1], V)), "4(.|\n)*5"),
    "keys with another batch size": (attend((Q, *qkv(batch=3)[1:])), "batch|shape"),
    "fewer values than keys": (attend((Q, K, qkv(5, 6)[2])), "7(.|\n)*6"),
    "a mask of numbers": (with_options(mask=random_bias(5, 7)), "bias="),
    "a mask of integers": (with_options(mask=sample("int32", (5, 7))), "bias="),
    "a bias of booleans": (with_options(bias=random_mask(5, 7)), "bias"),
    "a mask with another number of keys": (with_options(mask=random_mask(5, 6)), "mask"),
    "a mask with a larger batch": (attend(qkv(batch=1), mask=random_mask(2, 1, 5, 7)), "mask"),
    "a mask in BSHD order": (attend(qkv(layout="BSHD"), layout="BSHD", mask=random_mask(2, 5, 4, 7)), "mask"),
    "a bias with too many axes": (with_options(bias=random_bias(1, 2, 4, 5, 7)), "bias"),
    "an unknown layout": (with_options(layout="BHDS"), "BHSD(.|\n)*BSHD"),
    "three axes for BHSD": (attend(qkv(layout="HSD")), "BHSD"),
    "four axes for SHD": (with_options(layout="SHD"), "SHD"),
    "integer arrays": (attend(qkv(dtype="int32")), "int32"),
    "complex arrays": (attend(qkv(dtype="complex64")), "complex64"),
    "a kv_length above Lk": (with_options(kv_lengths=[8, 7]), "kv_lengths"),
    "a q_length above Lq": (with_options(q_lengths=[5, 6]), "q_lengths"),
    "a negative kv_length": (with_options(kv_lengths=[-1, 7]), "kv_lengths"),
    "lengths for another batch size": (with_options(q_lengths=[5]), "q_lengths"),
    "lengths that are floats": (with_options(kv_lengths=[1.5, 2.0]), "kv_lengths"),
    "an array of floats as lengths": (with_options(kv_lengths=sample("float32", (2,))), "kv_lengths"),
}
"""Calls that raise, and a pattern of the error message."""


@exercises("attention")
class AttentionSuite:
    """`xo.attention`."""

    # Values, dtypes and shapes match the definition; the call does not change its inputs.
    test_attention = rows_test(ROWS)

    @cases(LONG)
    def test_long_attention(self, variant: Variant, row: Row) -> None:
        """The same for lengths of several kernel blocks."""
        if variant.traced and xo.is_lazy(variant.array(qkv()[0])):
            pytest.skip(f"{variant} would create too many tasks")
        check_row(variant, row)

    @pytest.mark.parametrize("dtype", NARROW)
    @pytest.mark.parametrize("size", [1.0, 100.0])
    def test_attention_of_narrow_dtypes(self, variant: Variant, dtype: str, size: float) -> None:
        """Scores and sums are computed in at least single precision, also where the narrow dtype would overflow."""
        arrays = [cast(variant, variant.array(x), dtype) for x in (size * Q, size * K, V)]
        _check_narrow(variant, arrays, {"causal": "bottom_right", "scale": 0.5 / size**2}, 4 * NARROW[dtype], 64)

    @pytest.mark.parametrize("dtype", NARROW)
    def test_attention_of_fused_sizes(self, variant: Variant, dtype: str) -> None:
        """Calls of sizes that fused kernels support match the definition; on a CPU, only the calls marked ``toy``."""
        if variant.traced and xo.is_lazy(variant.array(Q)):
            pytest.skip(f"{variant} would create too many tasks")
        device = variant.backend.device_of(variant.array(Q))
        on_accelerator = device is not None and device.kind in ACCELERATORS
        for name, case in FUSED.items():
            if not (on_accelerator or case.toy):
                continue
            whole = [cast(variant, variant.array(x), dtype) for x in case.arrays()]
            arrays = [FUSED_VIEWS[case.view](x) for x in whole]
            try:
                _check_narrow(variant, arrays, case.options, 8 * NARROW[dtype], 256)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error

    @pytest.mark.parametrize("view", VIEWS)
    def test_attention_of_views(self, variant: Variant, view: str) -> None:
        """Strided views give the same values as contiguous arrays."""
        shape, layout, take = VIEWS[view]
        host = sample("float32", shape, low=-1, high=2)
        options: dict[str, Any] = {"layout": layout, "causal": True}
        out = called(variant, "attention", _attention, *take(variant.array(host)), options)
        check_array(variant, out, expected(*take(host), **options), dtype="float32", ulps=64, normwise=True)

    @exercises("attention", "explain")
    @pytest.mark.parametrize("row", [r for r in ROWS if r.label in ("shapes", "combined", "hidden")], ids=str)
    def test_attention_implementations(self, variant: Variant, row: Row) -> None:
        """Each of the library's candidates that `explain` lists serves the call if forced, or raises its reason.

        The calls run without a compiler, which may hide values that `explain` used, such as lengths. The last candidate
        is generic and also runs as the variant runs it.
        """
        case = supported_cases(variant, row)[0]
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
            with without_warnings():
                found = [xo.attention(*native.args, **options)]
                if name == plan.candidates[-1].name:
                    found.append(called(variant, "attention", _attention, *native.args, options))
            for results in found:
                for got, want in zip(results, expected(*wide.args, **wide.kwargs), strict=True):
                    check_array(variant, got, want, dtype="float32", ulps=64, normwise=True)

    @depends_on()
    def test_attention_with_an_unknown_implementation(self, variant: Variant) -> None:
        """The error message lists the available implementations."""
        arrays = map(variant.make, qkv())
        with pytest.raises((ValueError, xo.Unsupported), match=f"nonesuch(.|\n)*{variant.backend.name}:"):
            xo.attention(*arrays, implementation="nonesuch")

    @depends_on("memory")
    @exercises("engines")
    def test_attention_by_engines(self, variant: Variant) -> None:
        """The values are the same, in arrays of this library, whichever library's kernels may serve."""
        arrays = [variant.array(each) for each in qkv()]
        for engines in ((), ("numpy",)):
            with xo.engines(*engines):
                out = xo.attention(*arrays)
            check_array(variant, out, expected(*qkv()), dtype="float32", ulps=64, normwise=True)

    @depends_on()
    @pytest.mark.parametrize("wrong", WRONG)
    def test_attention_refusals(self, variant: Variant, wrong: str) -> None:
        """An invalid or ambiguous argument raises an error that names the argument."""
        case, pattern = WRONG[wrong]
        if not case.dtypes <= variant.dtypes:
            pytest.skip(f"{variant} does not support all of {sorted(case.dtypes)}")
        native = case.filled(variant.make, variant.backend.native_dtype)
        with pytest.raises(REFUSALS, match=pattern) as caught:
            xo.attention(*native.args, **native.kwargs)
        assert "xo.attention" in str(caught.value)

    @depends_on()
    def test_attention_lengths_out_of_range(self, variant: Variant) -> None:
        """Lengths out of range raise if their values can be read without computing or waiting."""
        if variant.backend.name not in EAGER or str(variant.device) != "cpu":
            pytest.skip(f"reading lengths may make {variant} compute or wait")
        arrays = [variant.make(each) for each in qkv()]
        for name, lengths in (("kv_lengths", [7, 8]), ("q_lengths", [-1, 5])):
            with pytest.raises(ValueError, match=name):
                xo.attention(*arrays, **{name: variant.make(np.asarray(lengths))})

    @depends_on()
    @pytest.mark.parametrize("argument", ["q", "k", "v", "mask", "bias", "q_lengths", "kv_lengths"])
    def test_attention_of_mixed_libraries(self, variant: Variant, argument: str) -> None:
        """An array of another library raises for every argument, and the message says what to do instead."""
        own = dict(zip("qkv", map(variant.make, qkv()), strict=True))

        def use(foreign: Any) -> None:
            given = own | {argument: foreign}
            arrays = [given.pop(name) for name in "qkv"]
            xo.attention(*arrays, **given)

        check_mixed(variant, "attention", use)


def _check_narrow(variant: Variant, arrays: list[Any], options: dict[str, Any], error: float, ulps: float) -> None:
    """Compare a call with the definition, with and without the logsumexp, for the values that the arrays hold.

    ``error`` is the allowed error of the values relative to the largest one, ``ulps`` that of the logsumexp.
    """
    given = {n: variant.array(x) if isinstance(x, np.ndarray) else x for n, x in options.items()}
    out, lse = called(variant, "attention", _attention, *arrays, {**given, "return_lse": True})
    alone = called(variant, "attention", _attention, *arrays, given)
    rounded = [widen(variant.values(xo.astype(x, "float32"))) for x in arrays]
    want, want_lse = expected(*rounded, **options, return_lse=True)
    for got in (out, alone):
        assert got.dtype == arrays[0].dtype
        found = variant.values(xo.astype(got, "float32"))
        check_values(found, want, ulps=error / float(np.finfo("float32").eps), normwise=True)
    check_array(variant, lse, want_lse, dtype="float32", ulps=ulps, normwise=True)


def _attention(q: Any, k: Any, v: Any, options: dict[str, Any]) -> Any:
    """`xo.attention` with positional arguments only, as `called` requires."""
    return xo.attention(q, k, v, **options)
