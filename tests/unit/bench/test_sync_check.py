"""The check that timing waits for a library, on simulated devices of any speed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import xarrayops as xo
from xarrayops.bench.measure import timing


class Simulated:
    """A device with simulated time: a rate of elements, and the times to launch, to read and to start threads."""

    def __init__(self, monkeypatch, rate, *, waits=True, launch_s=1e-5, read_s=2e-4, threads_s=0.0):
        self.now, self.pending, self.longest = 0.0, 0.0, 0.0
        self.rate, self.waits, self.launch_s, self.read_s, self.threads_s = rate, waits, launch_s, read_s, threads_s
        monkeypatch.setattr(timing, "perf_counter", lambda: self.now)
        monkeypatch.setattr(timing, "timed", self.timed)
        monkeypatch.setattr(timing, "smallest_call", lambda *place: launch_s)
        monkeypatch.setattr(xo, "arange", lambda count, *range_, **options: SimpleNamespace(size=count))
        monkeypatch.setattr(xo, "convert", self.convert)

    def convert(self, x, to, device=None):
        if x is self:
            self.now += self.pending + self.read_s
            self.pending = 0.0
        return x

    def __getitem__(self, index):
        return self

    def timed(self, function, arrays):
        start, work_s = self.now, self.threads_s + arrays[0].size / self.rate
        self.now += self.launch_s
        self.pending += work_s
        self.longest = max(self.longest, work_s)
        if self.waits:
            self.now += self.pending + 2e-5
            self.pending = 0.0
        return self.now - start, (self,)


@pytest.mark.parametrize("rate", [1e6, 1e7, 1e8, 1e9, 5e9, 2e10, 5e10])
class TestSynchronisation:
    def test_a_synchronised_library_passes(self, monkeypatch, rate):
        device = Simulated(monkeypatch, rate)
        found = timing.check_synchronisation("gpu", "cuda:0")
        assert found["scaling_s"][2] >= 3.5 * found["scaling_s"][0], "the work dominates the overhead"
        assert found["scaling_s"][0] > (0.005 if rate < 1e10 else 0.001)
        assert device.longest < 1.2, "the check is short on a slow device"

    def test_a_library_without_synchronisation_fails(self, monkeypatch, rate):
        Simulated(monkeypatch, rate, waits=False)
        with pytest.raises(timing.NotSynchronised, match="could be read after"):
            timing.check_synchronisation("gpu", "cuda:0")


def test_a_slow_reading_passes(monkeypatch):
    """Reading an element of a JAX array on a GPU takes as long as a short sort."""
    Simulated(monkeypatch, 5e9, read_s=3e-4)
    assert timing.check_synchronisation("jax", "cuda:0")["launch_s"] == 1e-5


@pytest.mark.parametrize("waits", [True, False])
def test_threads_that_start_slowly(monkeypatch, waits):
    """PyTorch on 16 cores: products of 1x, 2x and 4x the work took 8 ms each."""
    Simulated(monkeypatch, 1e9, waits=waits, threads_s=8e-3)
    if waits:
        assert timing.check_synchronisation("torch", "cpu")["launch_s"] == 1e-5
    else:
        with pytest.raises(timing.NotSynchronised):
            timing.check_synchronisation("torch", "cpu")


def test_a_disturbance_passes(monkeypatch):
    device, times = Simulated(monkeypatch, 1e7), []
    timed = device.timed

    def disturbed(function, arrays):
        device.now += 0.3 * (len(times) < 12)
        times.append(device.now)
        seconds, product = timed(function, arrays)
        return seconds + 0.3 * (len(times) < 12), product

    monkeypatch.setattr(timing, "timed", disturbed)
    assert timing.check_synchronisation("numpy", "cpu")["launch_s"] == 1e-5


def test_numpy_passes():
    assert timing.check_synchronisation("numpy", "cpu")["launch_s"] > 0
