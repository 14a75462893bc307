"""`xo.convert` and `xo.shares_memory`: all values are kept, and `explain` predicts each copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.samples import ALL, sample, unusual_layouts
from xarrayops.testing._suite.table import called, exercises
from xarrayops.testing._suite.variant import Variant, depends_on


class ExchangeSuite:
    """Conversion from NumPy to the library and back."""

    @depends_on()
    @exercises("convert")
    @pytest.mark.parametrize("dtype", ALL)
    def test_round_trip_of_every_dtype(self, variant: Variant, dtype: str) -> None:
        """``convert(convert(x, to), "numpy") == x``."""
        if dtype not in variant.dtypes:
            pytest.skip(f"{variant} does not support {dtype}")
        host = sample(dtype, (2, 3))
        for copy in (None, True):
            converted = xo.convert(host, variant.library, device=variant.device_name, copy=copy)
            check_array(variant, converted, host, dtype=dtype)
            back = xo.convert(converted, "numpy", copy=copy)
            assert back.dtype == host.dtype
            assert np.array_equal(back, host)

    @depends_on()
    @exercises("convert", "shares_memory")
    @pytest.mark.parametrize("what", unusual_layouts())
    def test_unusual_memory_layouts(self, variant: Variant, what: str) -> None:
        """The values are kept, or ``copy=False`` raises; `explain` predicts which."""
        host = unusual_layouts()[what]
        want = np.asarray(host).astype(host.dtype.newbyteorder("="))
        for copy in (None, True, False):
            options: dict[str, Any] = {"device": variant.device_name, "copy": copy}
            plan = xo.explain("convert", host, variant.library, **options)
            if plan.action == "refuse":
                assert copy is False, plan
                with pytest.raises(xo.ExchangeError, match="Instead"):
                    xo.convert(host, variant.library, **options)
                continue
            converted = xo.convert(host, variant.library, **options)
            if converted is not host:
                check_array(variant, converted, want, dtype=want.dtype.name)
            if converted is not host and want.size and not xo.is_lazy(converted):
                assert xo.shares_memory(host, converted) is (plan.action == "zero-copy"), plan
            assert bool(plan.nbytes) is (plan.action == "copy" and want.size > 0), plan

    @exercises("convert", "shares_memory")
    def test_conversion_to_its_own_library(self, variant: Variant) -> None:
        """Conversion to its own library returns the array itself; ``copy=True`` returns new memory."""
        x = variant.array(sample("float32"))
        # A compiler may trace this call although it does not trace other conversions.
        run = (lambda function, *args: function(*args)) if "convert" in variant.untraceable else variant.run
        for to in (variant.library, x, variant.backend.namespace):
            assert xo.convert(x, to) is x
            assert np.array_equal(variant.values(run(xo.convert, x, to)), variant.values(x))
            assert xo.convert(x, to, copy=False) is x
        other = xo.convert(x, variant.library, copy=True)
        assert not xo.shares_memory(x, other)
        check_array(variant, other, sample("float32"), dtype="float32")

    @depends_on("memory")
    @exercises("convert", "shares_memory")
    def test_conversion_to_numpy(self, variant: Variant) -> None:
        """NumPy receives the values of views; ``copy=True`` returns a writable array in new memory."""
        x = variant.array(sample("float32", (4, 6)))
        for index in (..., (slice(None, None, 2), slice(1, None, 3)), (0, 0), (slice(0, 0), ...), (..., 2)):
            view, want = x[index], sample("float32", (4, 6))[index]
            out = xo.convert(view, "numpy")
            assert np.array_equal(out, want)
            plan = xo.explain("convert", view, "numpy")
            assert plan.action == "zero-copy" or (plan.action == "copy" and plan.reason), plan
            if want.size and not isinstance(view, np.generic) and not xo.is_lazy(x):
                assert xo.shares_memory(out, view) is (plan.action == "zero-copy"), plan
            copy = xo.convert(view, "numpy", copy=True)
            assert copy.flags.writeable
            assert not xo.shares_memory(copy, view)
            assert np.array_equal(copy, want)

    @exercises("shares_memory")
    def test_shares_memory(self, variant: Variant) -> None:
        """An array shares memory with itself unless it is lazy, and not with other arrays of the same values."""
        x = variant.array(sample("float32", (4, 6)))
        lazy = variant.backend.functions["memory"](x) is None
        assert xo.shares_memory(x, x) is not lazy
        other = variant.array(sample("float32", (4, 6)))
        assert called(variant, "shares_memory", xo.shares_memory, x, other) is False
        assert not xo.shares_memory(x, sample("float32", (4, 6)))

    @depends_on()
    def test_unknown_target(self, variant: Variant) -> None:
        """The error message lists the known names."""
        with pytest.raises(xo.BackendNotFound, match="numpy"):
            xo.convert(variant.make(sample("float32")), "no_such_library")
