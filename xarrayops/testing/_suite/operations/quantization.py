"""Quantisation: integers, scales and products have the same bits as NumPy's; and exact products of 8-bit integers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.lib.array_utils import normalize_axis_tuple

import xarrayops as xo
from xarrayops.testing._suite.samples import FLOATS, sample
from xarrayops.testing._suite.table import Case, Row, call, exercises, row, rows_test
from xarrayops.testing._suite.variant import Variant, depends_on

LEAST = {"float32": 2.0**-62, "float64": 2.0**-510}
"""The smallest scale."""


def parameters_of(dtype: str, x: Any, *, axis: Any = None, scheme: str = "symmetric", values: str = "int8") -> Any:
    """The scale and the zero of an array, by NumPy; the zero is 0 in the symmetric scheme."""
    x, one = np.asarray(x).astype(dtype), np.dtype(dtype).type
    kept = () if axis is None else normalize_axis_tuple(axis, x.ndim)
    others = tuple(i for i in range(x.ndim) if i not in kept)
    top = np.max(np.abs(x) if scheme == "symmetric" else x, axis=others, keepdims=axis is not None, initial=0)
    low, high = (-127, 127) if scheme == "symmetric" else (np.iinfo(values).min, np.iinfo(values).max)
    least = np.zeros_like(top)
    if scheme == "asymmetric":
        least = np.min(x, axis=others, keepdims=axis is not None, initial=0)
    scale = np.maximum((top - least) * one(1 / (high if scheme == "symmetric" else high - low)), one(LEAST[dtype]))
    scale = np.where(np.isfinite(scale), scale, one(np.nan))
    steps = np.rint(least / scale)
    return scale, np.where(np.isnan(steps), low, low - steps).astype(values) if scheme == "asymmetric" else None


def values_of(x: Any, scale: Any, zero: Any) -> Any:
    """The values of an array, by NumPy."""
    steps = np.rint(np.asarray(x).astype(scale.dtype) / scale)
    steps = np.where(np.isnan(steps), 0, steps)
    if zero is None:
        return np.clip(steps, -127, 127).astype(np.int8)
    limits = np.iinfo(zero.dtype)
    return np.clip(steps + zero.astype(np.float64), limits.min, limits.max).astype(zero.dtype)


def _given(q: Any) -> tuple[Any, ...]:
    return tuple(part for part in q if part is not None)


def _quantize(x: Any, **options: Any) -> Any:
    return _given(xo.quantize(x, **options))


def _quantized(dtype: str, x: Any, *, values: str = "int8", **options: Any) -> Any:
    scale, zero = parameters_of(dtype, x, values=values, **options)
    return _given((values_of(x, scale, zero), scale, zero))


def _qmatmul(x: Any, w: Any, *, of_x: Any = None, of_w: Any = None) -> Any:
    """The product of two arrays: the first is quantised statically if there are options for it."""
    if of_x is not None:
        x = xo.quantize(x, calibration=xo.calibrate(x, **of_x))
    return xo.qmatmul(x, xo.quantize(w, **(of_w or {"axis": -1 if w.ndim > 1 else None})))


def _product(dtype: str, x: Any, w: Any, *, of_x: Any = None, of_w: Any = None) -> Any:
    """The product by NumPy, in int64."""

    def parts(x: Any, options: Any) -> tuple[Any, Any]:
        options = {"values": options.pop("dtype", "int8"), **options}
        scale, zero = parameters_of(dtype, x, **options)
        return values_of(x, scale, zero).astype(np.int64) - (0 if zero is None else zero.astype(np.int64)), scale

    rows = {"axis": tuple(range(x.ndim - 1))} if x.ndim > 1 else {}
    a, sx = parts(x, dict(of_x or rows))
    b, sw = parts(w, dict(of_w or ({"axis": -1} if w.ndim > 1 else {})))
    product, scale = (a @ b).astype(dtype), sx * sw
    return product * (scale if np.ndim(scale) in (0, product.ndim) else scale.reshape(product.shape))


def _dequantize(values: Any, scale: Any, zero: Any = None) -> Any:
    return xo.dequantize(xo.Quantized(values, scale, zero))


def _numbers(dtype: str, values: Any, scale: Any, zero: Any = None) -> Any:
    numbers = values.astype(np.int64) - (0 if zero is None else zero.astype(np.int64))
    return numbers.astype(dtype) * scale.astype(dtype)


def _calibrate(*batches: Any, **options: Any) -> Any:
    return _given(xo.calibrate(list(batches), **options))


def _calibrated(dtype: str, *batches: Any, percentile: float, **options: Any) -> Any:
    """The parameters for the samples within the percentile, which `partition` finds."""
    x = np.concatenate([np.ravel(batch) for batch in batches])
    left_out = round((100 - percentile) / 100 * x.size)
    if options.get("scheme") == "asymmetric":
        count = round((100 - percentile) / 200 * x.size)
        x = np.partition(x, [count, x.size - 1 - count])[count : x.size - count]
    else:
        x = x[np.argpartition(np.abs(x), x.size - 1 - left_out)[: x.size - left_out]]
    return _given(parameters_of(dtype, x, **options))


def _with(x: Any, *special: float) -> Any:
    """The array with these numbers as its first elements."""
    x = x.copy()
    x.reshape(-1)[: len(special)] = special
    return x


def _arrays(dtype: str) -> list[Case]:
    """Channels, one scale, ties, empty and 0-d arrays, special and small numbers."""
    x, stack = sample(dtype, (5, 6)), sample(dtype, (2, 3, 4))
    tie = np.asarray([127, 0.5, 1.5, 2.5, -0.5, -1.5, -126.5, 0], dtype)
    return [
        call(x, axis=-1),
        call(x),
        call(tie),
        call(_with(x, np.nan, -np.inf), axis=1),
        call(stack, axis=(0, -1)),
        call(_with(x, *np.zeros(6)), axis=0),
        call(np.zeros((0, 3), dtype), axis=1),
        call(np.zeros((2, 0), dtype)),
        call(np.asarray(-2.5, dtype)),
        call(stack * np.asarray(1e-25 if dtype == "float32" else 1e-160, dtype), axis=0),
        call(np.maximum(x, 0), axis=(0, 1)),
    ]


def _products(dtype: str) -> list[Case]:
    x, w = sample(dtype, (5, 40)), sample(dtype, (40, 6), seed=1)
    asymmetric, unsigned = {"scheme": "asymmetric"}, {"scheme": "asymmetric", "dtype": "uint8"}
    return [
        call(x, w),
        call(x, w, of_x=unsigned, of_w=asymmetric),
        call(np.maximum(x, 0), w, of_x=unsigned),
        call(x, w, of_x=asymmetric, of_w={"axis": -1, **asymmetric}),
        call(sample(dtype, (2, 3, 40)), w),
        call(x[0], w),
        call(x, w[:, 0]),
        call(x[0], w[:, 0]),
        call(_with(x, np.nan), w),
        call(sample(dtype, (3, 5, 1100)), sample(dtype, (3, 1100, 2), seed=1)),
        call(x[:0], w),
    ]


def _rows(dtype: str) -> list[Row]:
    """The rows for one dtype of floating-point numbers."""

    def make(verb: str, label: str, oracle: Callable[..., Any], *calls: Case, **options: Any) -> Row:
        options = {"hook": "opaque", "ulps": 0, "dtype": dtype, "label": f"{label} {dtype}".strip()} | options
        return row(verb, partial(oracle, dtype), *calls, **options)

    arrays = _arrays(dtype)
    rows = [make("quantize", "", _quantized, *arrays, function=_quantize, dtype=("int8", dtype))]
    for values in ("int8", "uint8"):
        options = {"scheme": "asymmetric"}
        rows.append(
            make(
                "quantize",
                f"asymmetric {values}",
                partial(_quantized, values=values, **options),
                *arrays,
                function=partial(_quantize, dtype=values, **options),
                dtype=(values, dtype, values),
            )
        )
    scale = np.asarray([[0.1, 3.0, 2.0**-62]], dtype)
    x, more = sample(dtype, (30, 4)), sample(dtype, (20, 4), low=-9, high=9)
    return [
        *rows,
        make(
            "dequantize",
            "",
            _numbers,
            call(sample("int8", (4, 3), low=-128, high=127), scale),
            call(sample("uint8", (4, 3), high=255), scale, np.asarray([[0, 7, 255]], np.uint8)),
            call(sample("int8", (0, 3)), scale),
            function=_dequantize,
        ),
        make(
            "calibrate",
            "",
            _calibrated,
            call(x, more, percentile=90.0),
            call(x, more, percentile=100.0),
            call(x, percentile=40.0),
            function=_calibrate,
        ),
        make(
            "calibrate",
            "asymmetric",
            partial(_calibrated, scheme="asymmetric"),
            call(x, more, percentile=90.0),
            function=partial(_calibrate, scheme="asymmetric"),
            dtype=(dtype, "int8"),
        ),
        make("qmatmul", "", _product, *_products(dtype), function=_qmatmul),
    ]


ROWS = [each for dtype in FLOATS for each in _rows(dtype)]
BLOCKS = {("int8", "int8"): 1024, ("int8", "uint8"): 514, ("uint8", "int8"): 514, ("uint8", "uint8"): 258}
"""The number of terms whose sum in float32 is exact, by the dtypes of the operands."""
SHAPES: tuple[Any, ...] = (
    ((4,), (4,)),
    ((4,), (4, 5)),
    ((2, 3, 4), (4,)),
    ((2, 3, 4), (4, 5)),
    ((3, 1, 2, 4), (2, 4, 5)),
    ((3, 0), (0, 5)),
    ((0, 4), (4, 5)),
    ((17, 8), (8, 16)),
)


def integers(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Random values of the whole range."""
    limits = np.iinfo(dtype)
    return sample(dtype, shape, low=limits.min, high=limits.max, seed=seed)


def extremes(dtype: str, count: int) -> Any:
    """Values of the largest magnitude, the last one odd, so that a sum above 2**24 is not exact in float32."""
    extreme, odd = (-128, -127) if dtype == "int8" else (255, 255)
    return np.asarray([*[extreme] * (count - 1), odd], dtype)


PRODUCTS = [
    row(
        "matmul",
        lambda x1, x2, out_dtype: np.matmul(x1, x2, dtype="int64"),
        *(
            call(extremes(a, terms)[None], extremes(b, terms)[:, None], out_dtype="int32")
            for (a, b), block in BLOCKS.items()
            for terms in (block + 1, block)
        ),
        *(call(integers(a, (3, 4)), integers(b, (4, 5), 1), out_dtype="int32") for a, b in BLOCKS),
        *(call(integers("int8", x), integers("int8", y, 1), out_dtype="int32") for x, y in SHAPES),
        hook="matmul_int32",
        dtype="int32",
        ulps=0,
        label="int32",
    ),
]


class QuantizationSuite:
    """Quantised arrays and their products."""

    # All sums of products of 8-bit integers are exact.
    test_products = rows_test(PRODUCTS)

    # All bits are equal to NumPy's.
    test_quantization = rows_test(ROWS)

    @depends_on()
    @exercises("calibrate", "qmatmul", "quantize")
    def test_a_calibration_without_a_percentile(self, variant: Variant) -> None:
        """The calibration has the scale and the zero of the array itself."""
        x = variant.make(sample("float32", (5, 6)))
        for options in ({"axis": 1}, {"scheme": "asymmetric"}):
            own = xo.quantize(x, **options)
            static = xo.quantize(x, calibration=xo.calibrate([x[:3, :], x[3:, :]], **options))
            for one, other in zip(_given(own), _given(static), strict=True):
                np.testing.assert_array_equal(variant.values(one), variant.values(other))

    @depends_on()
    @exercises("qmatmul")
    def test_sums_that_may_not_fit(self, variant: Variant) -> None:
        """Sums that may overflow are refused before anything is computed."""
        x, w = (variant.make(np.zeros(shape, np.float32)) for shape in ((1, 32768), (32768, 1)))
        x, w = (xo.quantize(each, scheme="asymmetric") for each in (x, w))
        with pytest.raises(OverflowError, match="sums of 32768 products may exceed int32, sums of 32767 cannot"):
            xo.qmatmul(x, w)
