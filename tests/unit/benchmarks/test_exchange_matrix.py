"""The exchange matrix detects faults, survives crashes, and reports both."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo
from benchmarks.exchange_matrix import __main__ as command, containers, report, runner
from benchmarks.exchange_matrix.cells import ALL_KINDS, Cell, Pair, Result, cells, pairs
from benchmarks.exchange_matrix.check import examine
from benchmarks.exchange_matrix.memory_kinds import KINDS, LARGE, CannotBeMade, make, plain
from benchmarks.exchange_matrix.runner import Matrix, run
from benchmarks.exchange_matrix.summary import described, short, summary
from xarrayops._host import views
from xarrayops.errors import ExchangeError
from xarrayops.plugin import Device

ROOT = Path(__file__).parents[3]
NUMPY, STRICT = xo.backend("numpy"), xo.backend(xps)
PAIR = Pair("numpy", "array_api_strict")


class TestKinds:
    @pytest.mark.parametrize("kind", KINDS)
    def test_numpy_makes_every_kind(self, kind):
        x, want = make(NUMPY, "float32", kind)
        assert KINDS[kind].holds(NUMPY.functions["memory"](x))
        assert x.astype("<f4").tobytes() == want.tobytes()

    def test_an_axis_of_extent_1_has_an_unusable_stride(self):
        x, want = make(NUMPY, "float32", "extent 1")
        assert x.shape == want.shape == (1, 6)
        assert x.flags.c_contiguous
        assert x.strides[0] > 2**32
        for copy in (None, False, True):
            assert examine(NUMPY, STRICT, "float32", "extent 1", copy)["outcome"] in ("zero-copy", "copy")

    def test_special_values_come_first(self):
        first = plain("float64").reshape(-1)[:4]
        assert np.signbit(first[0])
        assert first[0] == 0
        assert np.isnan(first[1:3]).all()
        assert first.view("u8")[1] == 0x7FF8000000000001

    def test_what_cannot_be_made(self):
        for library, dtype, kind, why in (
            (NUMPY, "int8", "unaligned", "single bytes are always aligned"),
            (NUMPY, "bool", "big-endian", "one byte order"),
            (STRICT, "float32", "big-endian", "array_api_strict has no such memory"),
            (STRICT, "float16", "C", "no dtype float16"),
        ):
            with pytest.raises(CannotBeMade, match=why):
                make(library, dtype, kind)


class TestContainers:
    @pytest.mark.parametrize("kind", containers.CONTAINERS)
    @pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
    def test_they_have_the_values_of_their_dense_equivalent(self, library, kind):
        pytest.importorskip(library)
        s, want = containers.make(xo.backend(library), "float32", kind)
        assert containers.values(s).tobytes() == want.tobytes()
        assert np.isnan(want).any()

    def test_each_axis_has_its_own_memory(self):
        s, _ = containers.make(NUMPY, "float32", "coo of several heaps")
        row, column = s.coords
        assert row.base is None
        assert column.base is None

    def test_faults_are_detected(self, monkeypatch):
        pytest.importorskip("torch")
        torch, kind = xo.backend("torch"), "coo of several heaps"
        assert examine(NUMPY, torch, "float32", kind, None)["outcome"] == "copy"
        wrap = torch.sparse.wrap
        monkeypatch.setattr(torch.sparse, "wrap", lambda p: wrap(p._replace(data=p.data.flip(0))))
        found = examine(NUMPY, torch, "float32", kind, None)
        assert found["outcome"] == "fault"
        assert "the values differ" in found["reason"]
        monkeypatch.setattr(torch.sparse, "wrap", lambda p: wrap(p._replace(data=p.data.double())))
        assert "the dtype became" in examine(NUMPY, torch, "float32", kind, None)["reason"]

    def test_what_cannot_be_made(self):
        for library, dtype, why in (
            (STRICT, "float32", "sparse"),
            (NUMPY, "float16", "hold no float16"),
        ):
            with pytest.raises(CannotBeMade, match=why):
                containers.make(library, dtype, "csr of several heaps")


def unsigned_zeros(a, device):
    with np.errstate(invalid="ignore"):
        return xps.asarray(np.asarray(a) + 0)


def shuffled(a, device):
    return xps.asarray(np.ascontiguousarray(np.asarray(a)[::-1]))


def refusing(x, memory, host):
    raise BufferError("not today")


def writable(x, memory, host):
    """A writable alias, whatever the flag of the owner."""
    return xps.from_dlpack(views.over(memory.pointer, memory.shape, memory.strides, "<f4", readonly=False, owner=x))


WRONG = {
    "the values differ": {"from_numpy": unsigned_zeros},
    "the values differ when read from its memory": {"from_numpy": shuffled},
    "the dtype became": {"from_numpy": lambda a, device: xps.zeros(a.shape, dtype=xps.float64)},
    "the shape became": {"from_numpy": lambda a, device: xps.asarray(np.asarray(a).reshape(-1))},
    "the result is a": {"from_numpy": lambda a, device: np.array(a)},
    "explain said copy, shares_memory says True": {"from_numpy": lambda a, device: xps.from_dlpack(a)},
    "explain said zero-copy, shares_memory says False": {"alias": lambda x, m, host: xps.asarray(host(), copy=True)},
    "explain said zero-copy, convert refused": {"alias": refusing},
    "convert raised KeyError": {"from_numpy": lambda a, device: {}["a"]},
    "convert raised UserWarning": {"from_numpy": lambda a, device: __import__("warnings").warn("so", stacklevel=1)},
}


class TestFaultsAreDetected:
    @pytest.mark.parametrize("wrong", WRONG)
    def test_of_the_consumer(self, monkeypatch, wrong):
        for name, function in WRONG[wrong].items():
            monkeypatch.setitem(STRICT.functions, name, function)
        found = [examine(NUMPY, STRICT, "float32", "C", copy) for copy in (None, True)]
        faults = [each["reason"] for each in found if each["outcome"] == "fault"]
        assert any(wrong in reason for reason in faults), found

    def test_a_writable_alias_of_read_only_memory(self, monkeypatch):
        monkeypatch.setitem(STRICT.functions, "alias_refusal", lambda memory, forced: None)
        monkeypatch.setitem(STRICT.functions, "alias", writable)
        assert "a writable alias" in examine(NUMPY, STRICT, "float32", "read-only", None)["reason"]

    def test_a_source_that_is_changed(self, monkeypatch):
        def to_numpy(x):
            x[...] = 7
            return x

        monkeypatch.setitem(NUMPY.functions, "to_numpy", to_numpy)
        assert "the source was changed" in examine(NUMPY, STRICT, "float32", "C", True)["reason"]

    def test_a_message_without_alternative(self, monkeypatch):
        monkeypatch.setitem(STRICT.functions, "import_refusal", lambda dtype: "no" if dtype == "int8" else None)
        monkeypatch.setitem(NUMPY.functions, "import_refusal", lambda dtype: None)
        found = examine(NUMPY, STRICT, "int8", "C", None)
        assert found["outcome"] == "fault"
        assert "names no alternative" in found["reason"]

    def test_a_wrong_number_of_bytes(self, monkeypatch):
        monkeypatch.setattr("xarrayops._ops.exchange.plan._nbytes", lambda x, memory: 1)
        assert "explain said 1 bytes" in examine(NUMPY, STRICT, "float32", "C", True)["reason"]

    def test_no_faults(self):
        assert examine(NUMPY, STRICT, "float32", "C", None) == {
            "action": "zero-copy",
            "reason": "both arrays share one memory",
            "nbytes": 0,
            "outcome": "zero-copy",
        }
        assert examine(NUMPY, STRICT, "float32", "read-only", False)["outcome"] == "refused"


DYING = """
import os, time
from benchmarks.exchange_matrix import check, worker

def examine(producer, consumer, dtype, kind, copy):
    if (kind, copy) == ("F", None):
        os.abort()
    if (kind, copy) == ("empty", None):
        open(os.environ["HANGING"], "w").close()
        time.sleep(1000)
    if (kind, copy) == ("0-d", None):
        raise KeyError("what")
    return check.examine(producer, consumer, dtype, kind, copy)

if __name__ == "__main__":
    worker.main(examine)
"""


class TestRun:
    def test_a_crash_is_attributed_to_its_cell(self, tmp_path, hanging):
        (tmp_path / "dying_worker.py").write_text(DYING)
        path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
        reported = []
        matrix = run(
            [PAIR._replace(environment=(("PYTHONPATH", path), ("HANGING", str(hanging.path))))],
            list(cells(["float32"])),
            lambda pair, done: reported.append(done),
            module="dying_worker",
        )
        found = {(result.cell.kind, result.cell.copy): result for result in matrix.results}
        assert len(found) == len(reported) == 3 * len(ALL_KINDS)
        assert found["F", None].outcome == "crashed"
        assert "SIGABRT" in found["F", None].reason
        assert found["empty", None].outcome == "timeout"
        assert found["0-d", None].outcome == "fault"
        assert "KeyError" in found["0-d", None].reason
        others = [r.outcome for key, r in found.items() if key not in {("F", None), ("empty", None), ("0-d", None)}]
        assert set(others) == {"zero-copy", "copy", "refused"}
        assert matrix.versions.keys() >= {"numpy", "array_api_strict"}

    def test_a_worker_that_never_starts(self):
        matrix = run([PAIR], [Cell("int8", "C", None)], module="no_such_module")
        assert [result.outcome for result in matrix.results] == ["crashed"]

    def test_large_memory_is_skipped_where_there_is_none(self, monkeypatch):
        monkeypatch.setattr(runner.machine, "available_bytes", lambda: 2**30)
        (result, *_) = run([PAIR], [Cell("uint8", LARGE, None)]).results
        assert result.outcome == "skipped"
        assert "1.0 are free" in result.reason

    def test_every_pair_is_tried_with_large_memory_of_one_dtype(self):
        found = [cell for cell in cells(large=True) if cell.kind == LARGE]
        assert found == [Cell("uint8", LARGE, copy) for copy in (None, False, True)]
        assert not [cell for cell in cells() if cell.kind == LARGE]

    def test_settings(self):
        settings = {"on": {"B": "1"}, "off": {"B": "0"}}
        settled = SimpleNamespace(shared_environment={"A": "1"}, settings=settings, devices=list)
        found = list(pairs({"x": settled, "y": None}))
        assert [p.label for p in found] == [
            *("x -> x (on)", "x -> x (off)", "x -> y (on)", "x -> y (off)", "y -> x (on)", "y -> x (off)", "y -> y")
        ]
        assert dict(found[1].environment) == {"A": "1", "B": "0"}

    def test_arrays_come_from_every_device_of_a_producer(self):
        devices = [Device("cpu", "cpu", 0), Device("cuda", "cuda:0", 1), Device("cuda", "cuda:1", 2)]
        gpus = SimpleNamespace(shared_environment={}, settings={}, devices=lambda: devices)
        labels = [p.label for p in pairs({"x": gpus, "y": None}, producers=["x"], consumers=["y"])]
        assert labels == ["x -> y", "x on cuda:0 -> y", "x on cuda:1 -> y"]
        (row,) = summary(Matrix([Result(Pair("x", "y", device="cuda:1"), Cell("int8", "C", None), "copy")]))["pairs"]
        assert row["producer"] == "x on cuda:1"

    def test_a_result_on_another_device_is_a_fault(self, monkeypatch):
        here, there = Device("cpu", "cpu", "here"), Device("cpu", "cpu:1", "there")
        monkeypatch.setattr(type(STRICT), "device_of", lambda self, x: here)
        monkeypatch.setattr(type(STRICT), "device_at", lambda self, kind, index: there)
        found = examine(NUMPY, STRICT, "float32", "C", None)
        assert found["outcome"] == "fault"
        assert "not on cpu:1" in found["reason"]


def matrix_of(*outcomes):
    results = [Result(PAIR, Cell("int8", "C", None), outcome, "why. Instead: no") for outcome in outcomes]
    return Matrix(results, {"numpy": "2"}, "a machine")


class TestCommandLine:
    @pytest.mark.parametrize(
        ("outcomes", "status"), [(["copy", "refused"], 0), (["copy", "fault"], 1), (["crashed"], 1)]
    )
    def test_exit_status(self, monkeypatch, capsys, outcomes, status):
        monkeypatch.setattr(command, "run", lambda *args, **kwargs: matrix_of(*outcomes))
        assert command.main(["--producer", "numpy", "--consumer", "numpy"]) == status
        printed = capsys.readouterr().out
        assert f"{len(outcomes)} cells: 1 {outcomes[0]}" in printed
        assert ("FAULT: numpy -> array_api_strict, int8, C, copy=None: why" in printed) is ("fault" in outcomes)

    def test_interrupted(self, monkeypatch, capsys):
        def interrupt(*args, **kwargs):
            raise KeyboardInterrupt

        monkeypatch.setattr(command, "run", interrupt)
        assert command.main(["--producer", "numpy"]) == 130
        assert "Interrupted" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--producer", "nunpy"], "no library 'nunpy'"),
            (["--dtype", "float23"], "no dtype 'float23'"),
            (["--kind", "round"], "no kind of memory 'round'"),
            (["--timeout", "0"], "'0' is not a positive duration"),
            (["--timeout", "-1"], "'-1' is not a positive duration"),
            (["--timeout", "nan"], "'nan' is not a positive duration"),
        ],
    )
    def test_invalid_arguments(self, capsys, arguments, message):
        with pytest.raises(SystemExit) as ended:
            command.main(arguments)
        assert ended.value.code == 2
        assert message in capsys.readouterr().err

    def test_a_small_matrix(self, tmp_path, capsys):
        chosen = ["--producer", "numpy,array_api_strict", "--consumer", "array_api_strict", "--dtype", "float32,bool"]
        status = command.main([*chosen, "--kind", "C,negative strides,big-endian", "--out", str(tmp_path)])
        printed = capsys.readouterr().out
        assert status == 0, printed
        assert "numpy -> array_api_strict" in printed
        assert "36 cells" in printed
        lines = [json.loads(line) for line in (tmp_path / "exchange.jsonl").read_text().splitlines()]
        assert len(lines) == 36
        assert lines[0] == {
            "producer": "numpy",
            "consumer": "array_api_strict",
            "setting": "",
            "device": "",
            "dtype": "bool",
            "kind": "C",
            "copy": None,
            "outcome": "zero-copy",
            "reason": "both arrays share one memory",
            "action": "zero-copy",
            "nbytes": 0,
        }
        found = json.loads((tmp_path / "exchange.json").read_text())
        assert found["cells"] == 36
        assert "## From numpy" in (tmp_path / "exchange.md").read_text()


class TestReport:
    def test_descriptions_of_cells(self):
        made = {(d, k) for d in ("int8", "float32", "float64") for k in ("C", "F", "empty")}

        def of(*dtypes):
            return {cell for cell in made if cell[0] in dtypes}

        def kind(*kinds):
            return {cell for cell in made if cell[1] in kinds}

        assert described(made, made) == "everything"
        assert described(of("int8"), made) == "int8"
        assert described(of("int8", "float32"), made) == "int8, float32"
        assert described(kind("C", "F"), made) == "C, F"
        assert described(kind("C") | of("int8"), made) == "C; int8"
        assert described({("int8", "C")}, made) == "C (int8)"
        assert described({("float32", "C"), ("float64", "C")}, made, {"int8"}) == "C"

    def test_reasons_without_the_dtype(self):
        assert short("memory of >i4, a byte order. Instead: copy=None", "int32") == "memory of [dtype], a byte order"
        assert short("it has no dtype int8: it has bool", "int8") == "it has no dtype [dtype]"

    def test_the_page_shows_faults(self):
        page = report.markdown(summary(matrix_of("crashed")))
        assert "| array_api_strict | - | - | crashed: everything: why | - |" in page

    def test_the_page_in_the_documentation_is_current(self):
        found = json.loads((ROOT / "benchmarks" / "results" / "exchange.json").read_text())
        assert (ROOT / "docs" / "results" / "exchange.md").read_text() == report.markdown(found)
        assert not {"fault", "crashed", "timeout"} & found["counts"].keys()


def test_a_refused_dtype_has_an_alternative():
    with pytest.raises(ExchangeError, match=r"Instead: xo\.astype"):
        xo.convert(np.ones(1, dtype="float16"), xps)
