"""The command lines without rich and threadpoolctl print plain text, and the doctor a hint."""

from __future__ import annotations

import subprocess
import sys

import pytest

from xarrayops._cli import plain

BLOCKED = "import runpy, sys\nfor name in ('rich', 'threadpoolctl', 'packaging'):\n    sys.modules[name] = None\n"


def run(tmp_path, module, *arguments, status=0):
    program = f"{BLOCKED}sys.argv = {[module, *arguments]!r}\nrunpy.run_module({module!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done


def test_the_doctor(tmp_path):
    done = run(tmp_path, "xarrayops", "doctor")
    assert "Backends" in done.stdout
    assert "numpy" in done.stdout
    assert done.stdout.count("[cli]") == 1
    assert not done.stderr


def test_the_benchmark(tmp_path):
    done = run(
        tmp_path, "xarrayops.bench", "--backends", "numpy", "--workloads", "matmul", "--budget", "4", "--out", "out"
    )
    assert "matmul" in done.stdout
    assert "See out/report.html" in done.stdout
    assert "[cli]" not in done.stdout + done.stderr
    assert (tmp_path / "out" / "report.html").exists()
    listed = run(tmp_path, "xarrayops.bench", "--list")
    assert "what is timed" in listed.stdout


def test_the_check_of_a_program(tmp_path):
    (tmp_path / "program.py").write_text("import numpy as np\n")
    done = run(tmp_path, "xarrayops.port", "check", "program.py")
    assert "torch: ready" in done.stdout
    assert not done.stderr


def test_products_without_control_of_the_threads(tmp_path):
    program = (
        f"{BLOCKED}import numpy as np, xarrayops as xo\n"
        "x = np.ones((2, 4, 256, 64), np.float32)\n"
        "out = xo.attention(x, x, x)\n"
        "np.testing.assert_allclose(out, 1, rtol=1e-5)\n"
        "half = xo.matmul(x.astype('float16'), x.mT.astype('float16'))\n"
        "assert (half == 64).all()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_long_cells_have_several_lines():
    table = plain.Table(title="title")
    table.add_column("name")
    table.add_column("count", justify="right")
    table.add_row(plain.Text("a b c d e f g h i j k l m n o p"), "7")
    table.add_section()
    table.add_row("x\ny", "12")
    lines = list(table.lines(25))
    assert lines[:3] == ["", "title", "name              count"]
    assert all(len(line) <= 25 for line in lines)
    assert lines[-2:] == ["x                    12", "y"]
    assert lines[3].endswith(" 7")


def test_text_of_parts():
    assert str(plain.Text.assemble("a", ("b", "bold"), plain.Text("c"))) == "abc"


@pytest.mark.parametrize("stderr", [False, True])
def test_the_console_prints_to_its_stream(capsys, stderr):
    plain.Console(stderr=stderr).print(plain.Text("line"), "more")
    assert capsys.readouterr()[stderr] == "line\nmore\n"
