"""The cell cache of a worker, and the digests that identify workloads and libraries."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from types import ModuleType

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._system import machine
from xarrayops.bench import workload_sources
from xarrayops.bench.measure.answers import WrongAnswer
from xarrayops.bench.measure.cell import CellCache
from xarrayops.bench.place import Place
from xarrayops.bench.workload import Workload

PLACE = Place("numpy", "cpu", "cpu")


def numbers(random, n):
    return (random.standard_normal(n),)


def scale(factor, x):
    return xo.multiply(x, factor)


def workload(function=xo.negative, expected=np.negative):
    return Workload("w", function, numbers, expected, (3, 4, 5))


class TestCellCache:
    def test_a_cell_is_prepared_once(self):
        cells = CellCache()
        cell = cells.get(workload(), PLACE, "float32", 3)
        assert cells.get(workload(), PLACE, "float32", 3) is cell
        assert cells.get(workload(), PLACE, "float64", 3) is not cell
        cells.remove(cell)
        assert cells.get(workload(), PLACE, "float32", 3) is not cell

    def test_the_least_recently_used_is_evicted(self, monkeypatch):
        cells, free = CellCache(), [1 << 30]
        monkeypatch.setattr(machine, "available_bytes", lambda: free[0])
        monkeypatch.setattr(machine, "memory_bytes", lambda: 1 << 30)
        monkeypatch.setattr(machine, "memory_limit_bytes", lambda: None)
        first, second = (cells.get(workload(), PLACE, "float32", n) for n in (3, 4))
        assert cells.get(workload(), PLACE, "float32", 3) is first
        low = iter([(1 << 30) // 4, 1 << 30])
        monkeypatch.setattr(machine, "available_bytes", lambda: next(low))
        cells.get(workload(), PLACE, "float32", 5)
        assert cells.get(workload(), PLACE, "float32", 3) is first
        monkeypatch.setattr(machine, "available_bytes", lambda: None)
        assert cells.get(workload(), PLACE, "float32", 4) is not second

    def test_memory_of_other_programs_does_not_evict_all(self, monkeypatch):
        cells = CellCache()
        kept = [cells.get(workload(), PLACE, "float32", n) for n in (3, 4)]
        monkeypatch.setattr(machine, "available_bytes", lambda: 1)
        cells.get(workload(), PLACE, "float32", 5)
        monkeypatch.undo()
        assert cells.get(workload(), PLACE, "float32", 4) is kept[1]
        assert cells.get(workload(), PLACE, "float32", 3) is not kept[0]

    def test_a_nearly_full_device_evicts_too(self, monkeypatch):
        """The host has memory. An evicted cell is released on the device before its free memory is read again."""
        free, released = [900], []

        def release(place):
            free[0] = 900
            released.append(True)

        monkeypatch.setattr(Place, "free_and_total_bytes", lambda place: [(900, 1000), (free[0], 1000)])
        monkeypatch.setattr(Place, "release", release)
        cells = CellCache()
        first, second = (cells.get(workload(), PLACE, "float32", n) for n in (3, 4))
        assert released == []
        free[0] = 100
        cells.get(workload(), PLACE, "float32", 5)
        assert released == [True]
        assert cells.get(workload(), PLACE, "float32", 4) is second
        assert cells.get(workload(), PLACE, "float32", 3) is not first

    def test_the_library_reports_the_memory_of_an_accelerator(self, monkeypatch):
        functions = xo.backend("numpy").functions
        monkeypatch.setitem(functions, "free_bytes", lambda device: 7)
        monkeypatch.setitem(functions, "device_attributes", lambda device: {"memory_bytes": 9})
        on_device = Place("numpy", "cpu", "cuda")
        assert on_device.free_and_total_bytes()[1:] == [(7, 9)]
        assert len(PLACE.free_and_total_bytes()) == 1
        monkeypatch.setitem(functions, "free_bytes", lambda device: 1 / 0)
        assert on_device.free_and_total_bytes()[1:] == [(None, None)]

    @pytest.mark.parametrize("error", [MemoryError(), RuntimeError("RESOURCE_EXHAUSTED: 3 bytes")])
    def test_a_full_device_is_retried_once(self, error):
        full, attempts = [error], []

        def action(again):
            attempts.append(again)
            if full:
                raise full.pop()
            return {"done": True}

        cells = CellCache()
        first = cells.get(workload(), PLACE, "float32", 3)
        assert cells.retried(action) == {"done": True}
        assert attempts == [False, True]
        assert cells.get(workload(), PLACE, "float32", 3) is not first
        full += [error, error]
        with pytest.raises(type(error)):
            cells.retried(action)
        full += [error]
        with pytest.raises(type(error)):  # the cache is empty
            cells.retried(action)

    def test_other_failures_are_not_retried(self):
        cells = CellCache()
        first = cells.get(workload(), PLACE, "float32", 3)
        with pytest.raises(WrongAnswer):
            cells.retried(lambda again: cells.get(workload(expected=np.positive), PLACE, "float32", 4))
        assert cells.get(workload(), PLACE, "float32", 3) is first


class Negative:
    def __call__(self, x):
        return xo.negative(x)


def test_every_kind_of_callable_has_a_name_and_code():
    named = {"scale(...)": partial(partial(scale), 2.0), "Negative(...)": Negative(), "negative(...)": xo.negative}
    for timed, function in named.items():
        assert workload(function).timed == timed
        definition = next(
            line
            for line in workload_sources.code_of(workload(function)).splitlines()
            if line.startswith(("def", "class"))
        )
        assert timed.removesuffix("(...)") in definition


class TestDigest:
    def test_the_digest_includes_the_arguments_of_a_partial(self):
        halves, thirds = (workload_sources.digest(workload(partial(scale, 1 / n))) for n in (2, 3))
        assert halves != thirds
        assert halves == workload_sources.digest(workload(partial(scale, 0.5)))
        assert workload_sources.digest(workload(partial(scale, object()))) == workload_sources.digest(
            workload(partial(scale, object()))
        )

    def test_the_digest_includes_the_versions_of_packages(self, monkeypatch):
        trained = replace(workload(), packages=("scikit-learn",))
        before = workload_sources.digest(trained)
        monkeypatch.setattr(workload_sources.metadata, "version", lambda package: "another")
        assert before != workload_sources.digest(trained)

    def test_the_library_digest_includes_the_backend(self, tmp_path, monkeypatch):
        folder, core = tmp_path / "a_backend", tmp_path / "core"
        for file in (folder / "__init__.py", folder / "deep" / "_kernels.py", core / "a.py", tmp_path / "alone.py"):
            file.parent.mkdir(exist_ok=True, parents=True)
            file.write_text("one = 1\n")
        (folder / "latin.py").write_bytes(b"# \xe9\n")
        (folder / ".#lock.py").symlink_to("nowhere")
        monkeypatch.setattr(workload_sources, "_CORE", core)
        top, inner, alone = ModuleType("a_backend"), ModuleType("a_backend.inner"), ModuleType("alone")
        top.__path__, alone.__file__ = [str(folder)], str(tmp_path / "alone.py")
        monkeypatch.setitem(sys.modules, "a_backend", top)
        cases = {
            (top, folder / "deep" / "_kernels.py"),
            (inner, folder / "__init__.py"),
            (alone, tmp_path / "alone.py"),
        }
        for backend, file in (*cases, (inner, core / "a.py"), (ModuleType("of no file"), core / "a.py")):
            before = workload_sources.library_digest(backend)
            assert before == workload_sources.library_digest(backend)
            file.write_text(file.read_text() + "# changed\n")
            assert before != workload_sources.library_digest(backend)
