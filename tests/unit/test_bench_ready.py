"""What a worker keeps between rounds: cells, while there is memory for them; and what makes a cell another one."""

from __future__ import annotations

from functools import partial
from types import ModuleType

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.bench import ready, source
from xarrayops.bench.cell import Place
from xarrayops.bench.oracle import WrongAnswer
from xarrayops.bench.ready import ReadyCells
from xarrayops.bench.workloads._contract import Workload

PLACE = Place("numpy", "cpu", "cpu")


def numbers(random, n):
    return (random.standard_normal(n),)


def scale(factor, x):
    return xo.multiply(x, factor)


def workload(function=xo.negative, expected=np.negative):
    return Workload("w", function, numbers, expected, (3, 4, 5))


class TestReadyCells:
    def test_a_cell_is_made_once(self):
        cells = ReadyCells()
        cell = cells.get(workload(), PLACE, "float32", 3)
        assert cells.get(workload(), PLACE, "float32", 3) is cell
        assert cells.get(workload(), PLACE, "float64", 3) is not cell
        cells.forget(cell)
        assert cells.get(workload(), PLACE, "float32", 3) is not cell

    def test_the_longest_unasked_make_room(self, monkeypatch):
        cells, free = ReadyCells(), [1 << 30]
        monkeypatch.setattr(ready._machine, "available_bytes", lambda: free[0])
        monkeypatch.setattr(ready._machine, "memory_bytes", lambda: 1 << 30)
        monkeypatch.setattr(ready._machine, "memory_limit_bytes", lambda: None)
        first, second = (cells.get(workload(), PLACE, "float32", n) for n in (3, 4))
        assert cells.get(workload(), PLACE, "float32", 3) is first
        low = iter([(1 << 30) // 4, 1 << 30])
        monkeypatch.setattr(ready._machine, "available_bytes", lambda: next(low))
        cells.get(workload(), PLACE, "float32", 5)
        assert cells.get(workload(), PLACE, "float32", 3) is first
        monkeypatch.setattr(ready._machine, "available_bytes", lambda: None)
        assert cells.get(workload(), PLACE, "float32", 4) is not second

    @pytest.mark.parametrize("error", [MemoryError(), RuntimeError("RESOURCE_EXHAUSTED: 3 bytes")])
    def test_a_full_device_is_emptied_once(self, error):
        full = []

        def negative(x):
            if full:
                raise full.pop()
            return xo.negative(x)

        cells = ReadyCells()
        first = cells.get(workload(), PLACE, "float32", 3)
        full += [error]
        cell = cells.get(workload(negative), PLACE, "float64", 4)
        assert cells.get(workload(negative), PLACE, "float64", 4) is cell
        assert cells.get(workload(), PLACE, "float32", 3) is not first
        full += [error, error]
        with pytest.raises(type(error)):
            cells.get(workload(negative), PLACE, "float64", 5)

    def test_other_failures_are_no_reason_to_try_again(self):
        cells = ReadyCells()
        first = cells.get(workload(), PLACE, "float32", 3)
        with pytest.raises(WrongAnswer):
            cells.get(workload(expected=np.positive), PLACE, "float32", 4)
        assert cells.get(workload(), PLACE, "float32", 3) is first


class Negative:
    def __call__(self, x):
        return xo.negative(x)


def test_callables_of_every_kind_have_a_name_and_code():
    named = {"scale(...)": partial(partial(scale), 2.0), "Negative(...)": Negative(), "negative(...)": xo.negative}
    for timed, function in named.items():
        assert workload(function).timed == timed
        assert timed.removesuffix("(...)") in source.code_of(workload(function)).splitlines()[0]


class TestDigest:
    def test_what_a_partial_holds_is_its_code(self):
        halves, thirds = (source.digest(workload(partial(scale, 1 / n))) for n in (2, 3))
        assert halves != thirds
        assert halves == source.digest(workload(partial(scale, 0.5)))
        assert source.digest(workload(partial(scale, object()))) == source.digest(workload(partial(scale, object())))

    def test_the_library_is_its_own_code_and_the_backends(self, tmp_path, monkeypatch):
        folder = tmp_path / "a_backend"
        folder.mkdir()
        for name in ("__init__.py", "_kernels.py"):
            (folder / name).write_text("one = 1\n")
        core = tmp_path / "core"
        core.mkdir()
        (core / "a.py").write_text("two = 2\n")
        monkeypatch.setattr(source, "_CORE", core)
        package, module = ModuleType("a_backend"), ModuleType("a_backend")
        package.__file__, package.__path__ = str(folder / "__init__.py"), [str(folder)]
        module.__file__ = str(folder / "__init__.py")
        for backend in (package, module):
            for file in (folder / "_kernels.py", core / "a.py"):
                before = source.library_digest(backend)
                assert before == source.library_digest(backend)
                file.write_text(file.read_text() + "# changed\n")
                assert before != source.library_digest(backend)
