"""jit and devices: signatures carry them, and the check compares large arrays on their device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._ops import agreement
from xarrayops.errors import Unsupported

GPUS = ("gpu:0", "gpu:1")


@pytest.fixture
def library(entries, claim, monkeypatch):
    """A stand-in library with two simulated GPUs, and the log of its copies."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "standins" / "devices"))
    entries(claim("mutable_devices", "mutable_devices_xarrayops", "doubles"))
    yield xo.backend("mutable_devices").namespace
    for name in list(sys.modules):
        if name.startswith(("mutable_devices", "two_devices", "backend_of_devices")):
            del sys.modules[name]


@pytest.fixture
def torch():
    return pytest.importorskip("torch", exc_type=ImportError)


class TestSignatures:
    def test_each_device_has_its_own(self, library):
        f = xo.jit(lambda x, y=None: x + 1, when="never")
        for device in (*GPUS, *GPUS):
            f(library.asarray([1.0], device=device))
            f(library.asarray([1.0], device="gpu:0"), y=[library.asarray([1.0], device=device)])
        assert len(f.ledger) == 4
        assert f.ledger[0].signature == "x=float64[1] on gpu:0"

    def test_meta_and_cpu(self, torch):
        f = xo.jit(lambda x: x + 1, when="never")
        for device in ("cpu", "meta", "cpu", "meta"):
            f(torch.empty(2, device=device))
        first, second = f.ledger
        assert first.signature == "x=float32[2]"
        assert second.reason == "x float32[2] -> float32[2] on meta"

    @pytest.mark.parametrize("options", [{}, {"static": "k"}])
    def test_constant_arrays_of_two_devices(self, library, options):
        k = library.asarray([1.0], device="gpu:0")
        f = xo.jit(lambda x, k: x, when="never", **options)
        x = library.asarray([1.0], device="cpu")
        for each in (k, k.to_device("gpu:1")):
            f(x, each)
        assert len(f.ledger) == 2

    def test_captured_arrays_of_two_devices(self, library):
        k = library.asarray([1.0], device="gpu:0")
        f = xo.jit(lambda x: (x, k), when="never")
        x = library.asarray([1.0], device="cpu")
        f(x)
        k = k.to_device("gpu:1")
        f(x)
        assert len(f.ledger) == 2

    def test_two_devices_of_cupy(self, standin_environment):
        """Its devices have no hash."""
        code = """
import cupy, xarrayops as xo
def call(x, k=None):
    return x + 1
f, g = xo.jit(call), xo.jit(call, static="k")
x = cupy.ones(1)
for device in (0, 1, 0, 1):
    with cupy.cuda.Device(device):
        f(cupy.ones(1)), g(x, cupy.ones(1))
print([each.signature for each in f.ledger], len(g.ledger))
"""
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=standin_environment, capture_output=True, text=True, check=False)
        assert done.stdout == "['x=float64[1] on cuda:0', 'x=float64[1] on cuda:1'] 2\n", done.stdout + done.stderr

    def test_devices_without_hash(self, library, monkeypatch):
        class Device(str):
            __slots__ = ()
            __hash__ = None

        f = xo.jit(lambda x: x, when="never")
        for device in GPUS * 2:
            x = library.asarray([1.0], device=device)
            x.device = Device(device)
            f(x)
        assert len(f.ledger) == 2

    def test_two_devices_of_jax(self):
        pytest.importorskip("jax", exc_type=ImportError)
        code = """
import jax, xarrayops as xo
f = xo.jit(lambda x: x + 1)
for device in jax.devices() * 2:
    assert f(jax.device_put(jax.numpy.ones(1, "float32"), device)).devices() == {device}
print([each.signature for each in f.ledger])
"""
        environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        assert done.stdout == "['x=float32[1]', 'x=float32[1] on cpu:1']\n", done.stdout + done.stderr


class TestLargeArguments:
    @pytest.fixture(autouse=True)
    def small_limit(self, monkeypatch):
        monkeypatch.setattr(agreement, "LARGE", 8)

    @pytest.mark.parametrize("shape", [(9,), (3, 4), (2, 30)])
    def test_nothing_large_is_copied_to_the_host(self, library, shape):
        from two_devices import recorded

        x = library.full(shape, np.nan, device="gpu:1")
        y = library.asarray(x, copy=True)
        with recorded() as events:
            assert agreement.first_written({"x": x}, {"x": y}) is None
            y[(-1,) * len(shape)] = 1.0
            assert agreement.first_written({"x": x}, {"x": y}) == "x"
        assert not [event for event in events if event.target == "cpu" and event.nbytes > 1]

    @pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "bfloat16", "float8_e5m2", "complex64"])
    def test_values_reach_the_host_only_if_they_differ(self, torch, without_inductor, monkeypatch, dtype):
        sizes = []
        numpy = torch.Tensor.numpy
        monkeypatch.setattr(
            torch.Tensor, "numpy", lambda x, **options: (sizes.append(x.numel()), numpy(x, **options))[1]
        )
        x = torch.ones(4, 5).to(getattr(torch, dtype))
        f = xo.jit(lambda x: xo.reshape(x, (-1,)))
        assert f(x).shape == (20,)
        assert f.ledger[0].compiled_calls == 1
        assert x.numel() not in sizes

    def test_a_write_is_found(self, torch, without_inductor):
        def writes(x, y):
            y[3, 4] += 1
            return x

        x, y = torch.zeros(9), torch.zeros(4, 5)
        with pytest.raises(Unsupported, match="it writes to y"):
            xo.jit(writes)(x, y)
        assert not y.any()

    def test_results_that_differ_are_compared_on_the_host(self, torch, without_inductor):
        calls = []

        def counts(x):
            calls.append(x)
            return x + len(calls)

        with pytest.raises(Unsupported, match="two calls with the same arguments differ"):
            xo.jit(counts)(torch.zeros(9))
