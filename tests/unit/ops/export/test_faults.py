"""Exporters with faults: their files are not kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends import find, registry
from xarrayops.errors import Unsupported
from xarrayops.plugin.export import Exporter, Program, Run

random = np.random.default_rng(0)
X = random.normal(size=(6, 6))
W = random.normal(size=(6, 6))
MASK = random.random((6, 6)) < 0.5
DYNAMIC = {"x": {0: "n"}, "mask": {0: "n"}}


def function(x: Any, w: Any, mask: Any) -> Any:
    """A product, a masked mean, and sums: every argument matters."""
    y = xo.matmul(x, w)
    return xo.where(mask, y, 0.0), xo.divide(xo.sum(x, axis=0), x.shape[0]), xo.sum(y, axis=1)


Fault = Callable[[Run, list[Any]], Sequence[Any]]


def _swapped_arguments(run: Run, a: list[Any]) -> Any:
    return run([a[1], a[0], a[2]]) if a[0].shape == a[1].shape else run(a)


def _transposed_weight(run: Run, a: list[Any]) -> Any:
    return run([a[0], a[1].T, a[2]])


def _dropped_mask(run: Run, a: list[Any]) -> Any:
    return run([a[0], a[1], np.ones_like(a[2])])


def _wrong_axis(run: Run, a: list[Any]) -> Any:
    first, second, _ = run(a)
    return first, second, np.resize((a[0] @ a[1]).sum(0), len(a[0]))


def _length_is_a_constant(run: Run, a: list[Any]) -> Any:
    first, _, last = run(a)
    return first, a[0].sum(0) / 6, last


def _kept_axis(run: Run, a: list[Any]) -> Any:
    first, second, last = run(a)
    return first, second, last[:, None]


def _narrowed(run: Run, a: list[Any]) -> Any:
    return [y.astype("float32") for y in run(a)]


def _narrowed_inside(run: Run, a: list[Any]) -> Any:
    return [y.astype("float32").astype("float64") for y in run(a)]


def _swapped_results(run: Run, a: list[Any]) -> Any:
    first, second, last = run(a)
    return (first, last, second) if second.shape == last.shape else (first, second, last)


def _constant(run: Run, a: list[Any]) -> Any:
    fixed = run([X, W, MASK])
    return fixed if a[0].shape == X.shape else run(a)


def _ignored_argument(run: Run, a: list[Any]) -> Any:
    return run([a[0], W, a[2]])


def _one_element(run: Run, a: list[Any]) -> Any:
    first, second, last = run(a)
    return first, second, last * (1 + 1e-9 * (np.arange(len(last)) == 1))


def _first_rows(run: Run, a: list[Any]) -> Any:
    first, second, last = run(a)
    return first, second, np.where(np.arange(len(last)) < 6, last, 0)


def _missing_result(run: Run, a: list[Any]) -> Any:
    return run(a)[:2]


def _fails_elsewhere(run: Run, a: list[Any]) -> Any:
    if len(a[0]) != 6:
        raise RuntimeError("shape mismatch")
    return run(a)


def _negative_zero_branch(run: Run, a: list[Any]) -> Any:
    """The branch that the example took: the sign of its first element."""
    sign = 1.0 if (a[0].flat[0] < 0) == (X.flat[0] < 0) else -1.0
    return [y * sign for y in run(a)]


FAULTS: list[Fault] = [
    _swapped_arguments,
    _transposed_weight,
    _dropped_mask,
    _wrong_axis,
    _length_is_a_constant,
    _kept_axis,
    _narrowed,
    _narrowed_inside,
    _swapped_results,
    _constant,
    _ignored_argument,
    _one_element,
    _first_rows,
    _missing_result,
    _fails_elsewhere,
    _negative_zero_branch,
]


class _Faulty(Exporter):
    """Writes an empty file that represents the function with a fault."""

    name = "faulty"
    target = "onnx"
    library = "numpy"
    fault: ClassVar[Any] = None
    programs: ClassVar[list[Program]] = []

    def obstacle(self, program: Program, /) -> None:
        return None

    def write(self, program: Program, path: Path, /) -> None:
        path.write_bytes(b"")
        self.programs.append(program)

    def load(self, path: Path, /) -> Run:
        assert path.exists()
        program = self.programs[-1]

        def right(arrays: Sequence[Any]) -> Sequence[Any]:
            return program.function(*arrays)

        fault = type(self).fault
        return right if fault is None else lambda arrays: fault(right, list(arrays))


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> type[_Faulty]:
    """The only exporter of all libraries: NumPy's is the faulty one."""
    for name in registry.entry_points():
        try:
            functions = find.named(name).functions
        except xo.errors.XArrayOpsError:
            continue
        monkeypatch.setitem(functions, "exporters", lambda: ())  # type: ignore[arg-type]
    functions = find.named("numpy").functions
    monkeypatch.setitem(functions, "exporters", lambda: (_Faulty(),))  # type: ignore[arg-type]
    monkeypatch.setattr(_Faulty, "fault", None)
    monkeypatch.setattr(_Faulty, "programs", [])
    return _Faulty


def test_the_exporter_without_a_fault(exporter: type[_Faulty], tmp_path: Path) -> None:
    file = xo.export(function, X, W, MASK, target="onnx", path=tmp_path / "f", dynamic=DYNAMIC)
    assert list(file.report.compared) == ["the examples", "other values", "opposite signs", "n = 3", "n = 13", "n = 59"]
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__.strip("_"))
def test_a_fault_is_found(
    fault: Fault, exporter: type[_Faulty], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(exporter, "fault", staticmethod(fault))
    path = tmp_path / "f"
    path.write_text("an older file")
    with pytest.raises(Unsupported, match=r"faulty: (the file|result|it returns|zip)"):
        xo.export(function, X, W, MASK, target="onnx", path=path, dynamic=DYNAMIC)
    assert path.read_text() == "an older file"
    assert [each.name for each in tmp_path.iterdir()] == ["f"], "no unproven file is left"


def test_the_next_exporter_serves(exporter: type[_Faulty], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The reason why the first one does not is in the report."""

    class Second(_Faulty):
        name = "second"
        rank = 1

    monkeypatch.setattr(exporter, "fault", staticmethod(_transposed_weight))
    monkeypatch.setattr(Second, "fault", None)
    functions = find.named("numpy").functions
    monkeypatch.setitem(functions, "exporters", lambda: (Second(), exporter()))  # type: ignore[arg-type]
    file = xo.export(function, X, W, MASK, target="onnx", path=tmp_path / "f", dynamic=DYNAMIC)
    assert file.report.route == "second"
    assert file.report.refused["faulty"].startswith("the file is wrong at the examples: result 0: ")
    assert "faulty was not used: the file is wrong at the examples" in str(file.report)


def test_differences_at_nan_and_at_length_one_are_notes(
    exporter: type[_Faulty], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def odd(run: Run, a: list[Any]) -> Any:
        if len(a[0]) == 1:
            raise RuntimeError("no axis of length 1")
        return run([np.nan_to_num(a[0], nan=0.0), *a[1:]])

    monkeypatch.setattr(exporter, "fault", staticmethod(odd))
    file = xo.export(function, X, W, MASK, target="onnx", path=tmp_path / "f", dynamic=DYNAMIC)
    first, second = file.report.notes
    assert first.startswith("differs at NaN or infinities: ")
    assert second == "it is correct only for n > 1: no axis of length 1"
