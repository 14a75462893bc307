"""The model of a call on devices that are not here: its figures, its ranges, and what the command prints."""

import json
from pathlib import Path

import pytest

from xarrayops.port import PortError, check
from xarrayops.port.__main__ import main
from xarrayops.port.basics import DEVICES
from xarrayops.port.source import Program
from xarrayops.port.trace import model, operations
from xarrayops.port.trace.rates import Rates
from xarrayops.port.trace.record import Operation
from xarrayops.port.trace.run import run

RESULTS = Path(__file__).parents[3] / "benchmarks"
PROGRAM = """import numpy as np

def distances(x):
    d = x[:, None] - x[None]
    return np.sqrt((d * d).sum(axis=2))

def total(x):
    s = 0.0
    for v in x:
        s += float(v)
    return s

def main(x):
    return total(distances(x)[0])
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def operation(kind, nbytes=0, flops=0, name="", dtype="float64", elements=0, rows=0):
    return Operation(1, kind, nbytes, flops, nbytes, False, name, dtype, elements, rows)


def test_every_device_has_a_source_of_its_vendor_and_all_figures():
    assert {*model.devices()} == {*DEVICES}
    for known in model.devices().values():
        assert "nvidia.com/" in known["source"] or "www.amd.com/" in known["source"]
        assert known["float32"] > known["float64"] > 0
        assert known["memory"] > known["transfer"] > 0


def test_an_addition_takes_its_memory_traffic_and_a_launch():
    seconds = model.Machine.published("h100").seconds(operation(operations.ELEMENTWISE, 3 * 8 * 10**8, name="add"))
    assert seconds == pytest.approx(5e-6 + 2.4e9 / 3.35e12 / 0.6)


def test_a_product_takes_its_arithmetic_by_dtype():
    card = model.Machine.published("rtx4090")
    double, single = (
        card.seconds(operation(operations.PRODUCT, 8, 10**13, "matmul", dtype)) for dtype in ("float64", "float32")
    )
    assert double == pytest.approx(1e13 / 1.29e12 / 0.6, rel=1e-3)
    assert single == pytest.approx(1e13 / 82.6e12 / 0.6, rel=1e-3)


def test_the_number_of_kernels_is_that_of_the_function():
    assert model.kernels_of(operation(operations.SCAN, 8, name="cumsum")) == 3, "NumPy's name of cumulative_sum"
    small = operation(operations.SORT, 8, name="median")
    assert model.kernels_of(small) == model._counted()["kernels"]["median"] > 1
    assert model.Machine.published("a100").seconds(small) > model.kernels_of(small) * 5e-6
    assert model.kernels_of(operation(operations.VIEW, 8)) == 0


@pytest.fixture
def cpu():
    """A CPU with 10 GB/s, calls of 1 us, and 20e9 operations per second."""
    points = {(kind, False): ((0.0, 1e-6), (1e9, 0.1)) for kind in operations.KINDS}
    return model.Machine.of_rates(Rates("numpy", "cpu", points, 0.0, None))


def test_short_rows_and_functions_without_vectors_cost_more_on_a_cpu(cpu):
    long, short = (operation(operations.REDUCTION, 8000, elements=1000, rows=rows) for rows in (1, 500))
    assert cpu.seconds(short) > 5 * cpu.seconds(long)
    card = model.Machine.published("h100")
    assert card.seconds(short) == card.seconds(long)
    plain, slow = (operation(operations.MATH, 24000, name=name, elements=1000) for name in ("exp", "logaddexp"))
    assert cpu.seconds(slow) > 5 * cpu.seconds(plain)
    assert cpu.seconds(operation(operations.JOIN, 8, name="meshgrid")) > cpu.seconds(operation(operations.JOIN, 8))


def test_sorting_takes_more_for_each_element_of_a_longer_array(cpu):
    few, many = (cpu.seconds(operation(operations.SORT, 16 * n, elements=n)) / n for n in (2**16, 2**22))
    assert many / few == pytest.approx(22 / 16, rel=0.01)


@pytest.mark.parametrize(
    ("code", "elements", "rows"),
    [
        ("np.sum(x, axis=1)", 3000, 1000),
        ("np.sum(x)", 3000, 0),
        ("np.max(x.T, axis=1)", 3000, 1000),
        ("np.searchsorted(x[:, 0], np.ones(5))", 5, 0),
    ],
)
def test_what_is_counted_of_an_operation(tmp_path, code, elements, rows):
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\n\ndef f(x):\n    return {code}\n")
    counted = run(Program.read(path), "f(np.ones((1000, 3)))").operations
    (found,) = (each for each in counted if each.kind in (operations.REDUCTION, operations.SEARCH))
    assert (found.elements, found.rows) == tuple(pytest.approx(each, rel=0.34) for each in (elements, rows))


def test_no_function_has_more_kernels_than_the_compilers_allow():
    rows = json.loads((RESULTS / "compile_devices" / "kernels.json").read_text())["rows"]
    ours = model._counted()["kernels"]
    assert len(ours) > 150
    assert all(ours[name] <= rows[name]["kernels"] for name in ours.keys() & rows.keys() - {"trace"})


def test_the_factor_is_the_error_that_was_measured():
    assert model.factor() == json.loads((RESULTS / "results" / "port_model.json").read_text())["summary"]["factor"]


def test_functions_stay_or_pay(program):
    report = check(program, "main(np.ones((1000, 20)))", device="h100")
    found = {each.name.partition(" (")[0]: each for each in report.models}
    assert found["distances"].verdict.startswith("pays by")
    assert found["total"].verdict == "stays"
    assert found["total"].reason.startswith("waits for values")
    assert not report.forecasts
    for each in report.models:
        assert each.high_s / each.low_s == pytest.approx(model.factor() ** 2)


def test_all_that_is_printed_of_a_device_says_model(program, capsys):
    assert main(["check", str(program), "--call", "main(np.ones((50, 3)))", "--for", "mi300x"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "MI300X" in line or "amd.com" in line]
    assert len(lines) >= 3
    assert all("model" in line for line in lines)


def test_a_device_needs_a_call(program, capsys):
    assert main(["check", str(program), "--for", "h100"]) == 2
    assert "--call" in capsys.readouterr().err
    with pytest.raises(PortError, match="--call"):
        check(program, device="h100")
