"""Inspection of arrays: backend, device, laziness; and how shapes broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import DEVICE_ATTRIBUTES
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.table import called, exercises
from xarrayops.testing._suite.variant import Variant, depends_on

X = sample("float32")


class InspectionSuite:
    """Functions that inspect an array or move it to a device."""

    @exercises("array_namespace", "backend")
    def test_namespace(self, variant: Variant) -> None:
        """The namespace follows the standard, with our functions and the library's dtypes."""
        x = variant.array(X)
        namespace = called(variant, "array_namespace", xo.array_namespace, x)
        assert namespace is xo.backend(x).namespace is xo.backend(variant.library).namespace
        assert namespace.__array_api_version__ == "2025.12"
        check_array(variant, namespace.add(x, x), X + X, dtype="float32")
        assert namespace.zeros((2,), dtype=namespace.float32).dtype == x.dtype
        assert {"linalg", "fft", "pi", "e", "inf", "nan", "newaxis"} <= vars(namespace).keys()

    @depends_on("run")
    @exercises("backend", "backends")
    def test_backend(self, variant: Variant) -> None:
        """A backend has a name, versions and devices. `xo.backends` lists it if it has an entry point."""
        backend = called(variant, "backend", xo.backend, variant.make(X))
        assert backend is variant.backend
        assert all(isinstance(v, str) for v in backend.versions.values())
        assert any(d.native == variant.device for d in backend.devices())
        for each in map(backend.device_attributes, backend.devices()):
            assert set(each) <= DEVICE_ATTRIBUTES
            assert all(isinstance(value, str) or value > 0 for value in each.values())
        for device in backend.devices():
            free, call = (backend.functions[name] for name in ("free_bytes", "peak_bytes"))
            moved = xo.to_device(variant.make(X), device.native)
            backend.functions["release_memory"](device.native)
            assert free(device.native) is None or free(device.native) >= 0
            peak = call(device.native, lambda moved=moved: xo.synchronize(xo.add(moved, moved)))
            assert peak is None or peak >= 0
        assert all(isinstance(value, str) for value in backend.functions["precision_switches"]().values())
        if isinstance(variant.library, str):
            assert backend.name in {status.name for status in xo.backends() if status.available}

    @exercises("device", "to_device")
    def test_device(self, variant: Variant) -> None:
        """``to_device(x, device(x)) is x``. Device names are accepted."""
        x = variant.array(X)
        device = xo.device(x)
        assert called(variant, "device", xo.device, x) in (device, None)
        assert xo.to_device(x, device) is x
        assert np.array_equal(variant.values(called(variant, "to_device", xo.to_device, x, device)), X)
        for known in variant.backend.devices():
            moved = xo.to_device(x, known.name)
            assert xo.device(moved) == known.native
            assert np.array_equal(variant.values(xo.to_device(moved, device)), X)

    @exercises("is_lazy", "compute")
    def test_compute(self, variant: Variant) -> None:
        """The results of ``compute`` are not lazy. An array that is not lazy is returned itself."""
        x, y = variant.array(X), variant.array(X)
        first, number, second = xo.compute(x, 1.5, y)
        assert number == 1.5
        assert not xo.is_lazy(first)
        assert (first is x) is (second is y) is (not xo.is_lazy(x))
        assert np.array_equal(xo.convert(xo.compute(x), "numpy"), X)
        assert called(variant, "is_lazy", xo.is_lazy, x) in (xo.is_lazy(x), variant.traced)
        first, number, second = called(variant, "compute", xo.compute, x, 1.5, y)
        assert number == 1.5
        assert all(np.array_equal(variant.values(each), X) for each in (first, second))

    @exercises("persist")
    def test_persist(self, variant: Variant) -> None:
        """The results of ``persist`` have the class and the values of the arguments, and known sizes."""
        x = variant.array(X)
        first, number, same = called(variant, "persist", xo.persist, x, 1.5, x)
        assert number == 1.5
        for each in (first, same, xo.persist(x)):
            assert type(each) is type(x)
            assert np.array_equal(variant.values(each), X)
        kept: Any = xo.persist(xo.unique_values(x))
        assert tuple(kept.shape) == (X.size,)

    @exercises("synchronize")
    def test_synchronize(self, variant: Variant) -> None:
        """``synchronize`` returns None for any number of arrays."""
        x = variant.array(X)
        assert xo.synchronize(xo.add(x, x), x) is None  # type: ignore[func-returns-value]
        assert xo.synchronize() is None  # type: ignore[func-returns-value]
        assert called(variant, "synchronize", xo.synchronize, x, x) is None

    @exercises("explain")
    def test_explain(self, variant: Variant) -> None:
        """The chosen candidate is this library's, or an engine's, and nothing is copied."""
        x = variant.array(X)
        explained = called(variant, "explain", xo.explain, "add", x, x)
        assert explained.verb == "add"
        assert explained.chosen is not None
        own = [c for c in explained.candidates if c.name.startswith(f"{variant.backend.name}:")]
        assert own
        assert explained.chosen in {c.name for c in own} or getattr(variant, "engines", None)
        assert not any(c.copies for c in own)
        with pytest.raises(xo.Unsupported, match="did you mean"):
            xo.explain("ad", x, x)

    @exercises("measured", "choices")
    @depends_on("memory")
    def test_measured_choices(self, variant: Variant) -> None:
        """In blocks of `measured` and `choices` the values and the classes are the same."""
        x = variant.array(X)
        for block in (xo.measured(), xo.measured(numerics="tolerance"), xo.choices()):
            with block:
                assert xo.explain("add", x, x).chosen is not None
                check_array(variant, xo.add(x, x), 2 * X, dtype="float32")
        assert len(xo.choices().digest) == 16

    @exercises("broadcast_shapes")
    def test_broadcast_shapes(self) -> None:
        """Shapes broadcast as in NumPy, without an array."""
        for shapes in ([(3, 1), (4,)], [()], [(0, 1), (1, 5)], [(2, 3), (2, 3), (1,)]):
            assert xo.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)
        with pytest.raises(ValueError, match="axis -1"):
            xo.broadcast_shapes((3,), (4,))
