"""Shared by the unit tests. NumPy and array_api_strict are always installed; tests of other libraries import them."""

import queue
import subprocess
import sys
from contextlib import suppress
from functools import partial
from types import ModuleType, SimpleNamespace
from unittest import mock

import array_api_strict
import pytest
from hypothesis import HealthCheck, settings

from xarrayops import plugin
from xarrayops._core.backends import entry_points, registry
from xarrayops._ops.exchange import convert
from xarrayops._system.process import Worker

settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any speed")


@pytest.fixture
def entries(registry_memory):
    """Replace the installed entry points by made-up claims; until the test ends the registry forgets what it loaded."""
    import importlib.metadata

    def install(*claims):
        patched.setattr(importlib.metadata, "entry_points", lambda *, group: [c for c in claims if c.group == group])
        patched.setattr(entry_points, "BACKENDS", {})  # ours are known without their entry points
        registry.entry_points.cache_clear()

    registry.entry_points.cache_clear()
    for memory in registry_memory:
        memory.clear()
    with pytest.MonkeyPatch.context() as patched, mock.patch.dict(convert._shortcuts, clear=True):
        yield install
    # Only now are the installed entry points back: a thread that asks before would keep the made-up ones for all tests.
    registry.entry_points.cache_clear()


class Distribution:
    """The attributes of the distribution of an entry point."""

    def __init__(self, name, extras=()):
        self.name = name
        self.metadata = self
        self._extras = list(extras)

    def get_all(self, field):
        assert field == "Provides-Extra"
        return self._extras or None


class Claim:
    """An entry point of a distribution that is not installed."""

    group = "xarrayops.backends"

    def __init__(self, name, value, dist=None):
        self.name = name
        self.value = value
        self.dist = dist


@pytest.fixture
def claim():
    return lambda name, value, dist="some-package", extras=(): Claim(name, value, Distribution(dist, extras))


@pytest.fixture
def backend_module(monkeypatch):
    """Make a backend module of array_api_strict with the given members, importable under its name."""

    def make(name="made_up_backend", **members):
        module = ModuleType(name)
        module.__file__ = f"{name}.py"
        vars(module).update(NAMESPACE=array_api_strict, ARRAY_TYPES=(type(array_api_strict.zeros(1)),))
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return make


@pytest.fixture
def backend(backend_module):
    """A backend of array_api_strict with some members, which is not registered."""
    return lambda **members: registry.Backend("made_up", backend_module(**members))


@pytest.fixture
def run():
    """Run code in a fresh interpreter and give its output."""

    def run(code, **environment):
        import os

        command = [sys.executable, "-W", "error", "-c", code]
        done = subprocess.run(command, env=os.environ | environment, text=True, capture_output=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture
def hanging(monkeypatch, tmp_path):
    """A file that a worker makes before it hangs: the time of its answer is then over, and not before.

    ``hanging.seen`` counts how often that was.
    """
    mark = SimpleNamespace(path=tmp_path / "hanging", seen=0)

    def line(self, seconds):
        while True:
            try:
                return self._answers.get(timeout=0.01)
            except queue.Empty:
                if mark.path.exists():
                    with suppress(queue.Empty):  # answers made before the hang may still be in the pipe
                        return self._answers.get(timeout=1.0)
                    mark.path.unlink()
                    mark.seen += 1
                    raise

    monkeypatch.setattr(Worker, "_line", line)
    return mark


@pytest.fixture
def without_inductor(monkeypatch):
    """Compile by Dynamo alone, for tests of which calls share a program: Inductor's code takes seconds for each.

    It does nothing without PyTorch.
    """
    with suppress(ImportError):
        import torch

        monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))


@pytest.fixture
def unsupported():
    return plugin.unsupported
