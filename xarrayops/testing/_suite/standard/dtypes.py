"""Dtypes: casts, promotion, limits and names."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.foreign import ForeignDtype
from xarrayops.testing._suite.samples import ALL, COMPLEX, FLOATS, INTEGERS, SIGNED, UNSIGNED, sample, specials
from xarrayops.testing._suite.table import Case, NativeDtype, call, called, exercises, row, rows_test
from xarrayops.testing._suite.variant import Variant, depends_on

TARGETS = ("float32", "int64", "bool", "uint8", "complex64")
KINDS = {
    "bool": ("bool",),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGERS,
    "real floating": FLOATS,
    "complex floating": COMPLEX,
    "numeric": (*INTEGERS, *FLOATS, *COMPLEX),
}
PROMOTIONS = {
    ("int8", "int16"): "int16",
    ("uint8", "int8"): "int16",
    ("uint32", "int64"): "int64",
    ("uint16", "uint8"): "uint16",
    ("float32", "float64"): "float64",
    ("float32", "complex64"): "complex64",
    ("float64", "complex64"): "complex128",
    ("bool", "bool"): "bool",
}

LIMITS: dict[str, tuple[tuple[str, ...], Any, tuple[str, ...], Any]] = {
    "finfo": (FLOATS, np.finfo, ("eps", "max", "min", "smallest_normal"), float),
    "iinfo": (INTEGERS, np.iinfo, ("max", "min"), int),
}


def _casts() -> list[Case]:
    """Casts of every dtype to one or more dtypes of each kind; complex dtypes only to complex."""
    pairs = [(a, b) for a, b in product(ALL, TARGETS) if a not in COMPLEX or b == "complex64"]
    return [call(sample(a, low=0, high=5), b) for a, b in pairs]


ROWS = [
    row(
        "astype",
        np.ndarray.astype,
        call(sample("float32", low=0), "int32"),
        call(sample("float64"), NativeDtype("float32")),
        call(sample("float32"), "float32"),
        call(sample("float32"), "float64", copy=False),
        call(sample("int64", ()), "float64"),
        call(sample("float32", (0, 2)), "int8"),
        call(specials("float64"), "float32"),
        *_casts(),
        dtype=None,
    ),
]


@depends_on("run")
class DtypeSuite:
    """Functions for dtypes."""

    # Values match NumPy's.
    test_astype = depends_on("run", "memory")(rows_test(ROWS))

    @depends_on()
    def test_astype_gives_the_dtype(self, variant: Variant) -> None:
        """The result has the requested dtype."""
        x = variant.make(sample("float32", low=0))
        for name in sorted(variant.dtypes):
            assert variant.backend.functions["dtype_name"](xo.astype(x, name).dtype) == name

    @depends_on("memory")
    def test_astype_copy_argument(self, variant: Variant) -> None:
        """For the same dtype, ``copy=False`` returns x or shares its memory; the default returns new memory."""
        x = variant.array(sample("float32"))
        same = xo.astype(x, "float32", copy=False)
        assert same is x or xo.shares_memory(same, x)
        assert not xo.shares_memory(xo.astype(x, "float32"), x)

    @depends_on()
    def test_names_and_native_dtypes_correspond(self, variant: Variant) -> None:
        """``dtype_name(as_dtype(name)) == name``, and an array of that dtype has it."""
        functions = variant.backend.functions
        for name in sorted(variant.dtypes & {*ALL}):
            native = functions["as_dtype"](name)
            assert functions["dtype_name"](native) == name
            assert variant.make(np.zeros(2, dtype=name)).dtype == native
        with pytest.raises(ValueError, match=r"\w"):
            functions["as_dtype"]("float23")

    @exercises("can_cast")
    def test_can_cast(self, variant: Variant) -> None:
        """``can_cast`` follows the promotion rules."""
        dtype = variant.backend.native_dtype
        for one, other in product(
            ("int8", "int32", "uint8", "float32", "complex64"), ("int16", "float64", "complex64")
        ):
            kinds = np.dtype(one).kind in "iu", np.dtype(other).kind in "iu"
            if kinds[0] is kinds[1]:
                got = called(variant, "can_cast", xo.can_cast, dtype(one), dtype(other))
                assert got is np.can_cast(one, other), (one, other)
        x = variant.make(sample("float64"))
        assert called(variant, "can_cast", xo.can_cast, x, dtype("float64")) is True
        assert called(variant, "can_cast", xo.can_cast, x, "float32") is False

    @exercises(*LIMITS)
    @pytest.mark.parametrize("verb", LIMITS)
    def test_limits(self, variant: Variant, verb: str) -> None:
        """``finfo`` and ``iinfo`` give limits as Python numbers, for a dtype and for an array."""
        names, oracle, limits, kind = LIMITS[verb]
        for name in sorted(variant.dtypes & {*names}):
            want, native = oracle(name), variant.backend.native_dtype(name)
            for argument in (native, variant.make(sample(name))):
                got = called(variant, verb, getattr(xo, verb), argument)
                assert (got.bits, got.dtype) == (want.bits, native)
                for limit in limits:
                    value = getattr(got, limit)
                    assert type(value) is kind, f"{limit} of {name} is a {type(value).__name__}, not a Python number"
                    assert value == kind(getattr(want, limit)), f"{limit} of {name}"

    @exercises("isdtype")
    def test_isdtype(self, variant: Variant) -> None:
        """``isdtype`` accepts kinds, dtypes, dtype names and tuples of these."""
        dtype = variant.backend.native_dtype
        for name in sorted(variant.dtypes & {*ALL}):
            native = dtype(name)
            got = called(variant, "isdtype", lambda native=native: [xo.isdtype(native, kind) for kind in KINDS])
            assert got == [name in members for members in KINDS.values()], name
        single = dtype("float32")
        for kind in (single, "float32", ("integral", single)):
            assert called(variant, "isdtype", xo.isdtype, single, kind) is True, kind
        assert called(variant, "isdtype", xo.isdtype, dtype("int8"), ("bool", "real floating")) is False

    @exercises("result_type")
    def test_result_type(self, variant: Variant) -> None:
        """``result_type`` accepts arrays, dtypes, dtype names and Python scalars."""
        dtype = variant.backend.native_dtype
        for (one, other), want in PROMOTIONS.items():
            if {one, other, want} <= variant.dtypes:
                arrays = variant.make(sample(one)), variant.make(sample(other, ()))
                for items in ((dtype(one), dtype(other)), arrays, (arrays[0], other)):
                    got = called(variant, "result_type", xo.result_type, *items)
                    assert got == dtype(want), (one, other)
        x = variant.make(sample("float32"))
        for items, want in (((x, 1.0), "float32"), ((x, 1), "float32"), ((dtype("int8"), 1), "int8")):
            assert called(variant, "result_type", xo.result_type, *items) == dtype(want), items

    @depends_on()
    def test_foreign_dtype_is_refused(self, variant: Variant) -> None:
        """A native dtype of another library raises."""
        x = variant.make(sample("float32"))
        with pytest.raises(xo.MixedBackends, match="belongs to xarrayops_foreign"):
            xo.astype(x, ForeignDtype("float64"))
        with pytest.raises(xo.MixedBackends, match="belongs to xarrayops_foreign"):
            xo.zeros(2, like=x, dtype=ForeignDtype("float64"))

    @depends_on()
    def test_the_namespace_info_is_correct(self, variant: Variant) -> None:
        """Every dtype and device that ``__array_namespace_info__`` lists is usable, and the defaults are listed."""
        namespace = variant.backend.namespace
        info: Any = namespace.__array_namespace_info__()
        for name, native in info.dtypes(device=variant.device).items():
            x = namespace.zeros((2,), dtype=native, device=variant.device)
            assert (x.dtype, variant.backend.functions["device"](x)) == (native, variant.device), name
        assert variant.device in info.devices()
        assert {*variant.defaults.values()} <= variant.dtypes
        assert {"boolean indexing", "data-dependent shapes", "max dimensions"} <= set(info.capabilities())
        zeros = namespace.zeros((2,), device=variant.device)
        assert variant.backend.functions["dtype_name"](zeros.dtype) == variant.defaults["real floating"]
