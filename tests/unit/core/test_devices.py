"""The device of an array: one `Device` per device, created once, without waiting for values."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import Device


def test_devices_are_listed_once(monkeypatch):
    made = xo.backend("numpy").__class__("numpy", xo.backend("numpy").module)
    calls = []
    monkeypatch.setitem(made.functions, "devices", lambda: calls.append(1) or [Device("cuda", "cuda:1", "B")])
    assert made.devices() == made.devices() == [Device("cuda", "cuda:1", "B")]
    assert made.device_at("cuda", 1) is made.devices()[0]
    assert made.device_at("cuda", 0) is None
    assert made.device_at("cpu", 0) == Device("cpu", "cpu", "cpu")
    assert calls == [1]


def test_the_device_of_an_array():
    x = np.zeros(3)
    assert xo.backend(x).device_of(x) == Device("cpu", "cpu", "cpu")


def test_arrays_without_a_device():
    torch = pytest.importorskip("torch")
    x = torch.zeros(3, device="meta")
    assert xo.backend(x).device_of(x) is None
    da = pytest.importorskip("dask.array")
    x = da.zeros(3)
    assert xo.backend(x).device_of(x) is None


def test_the_device_of_a_jax_array_is_found_without_waiting():
    jax = pytest.importorskip("jax")
    seen = []

    def traced(v):
        seen.append(xo.backend(v).device_of(v))
        return v

    class Unready:
        """Has the only attribute of a JAX array that may be read without waiting."""

        device = jax.devices("cpu")[0]

    jax.jit(traced)(np.zeros(3))
    assert seen == [None]
    assert xo.backend("jax").device_of(Unready()).kind == "cpu"
