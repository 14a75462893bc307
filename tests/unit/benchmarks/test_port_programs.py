"""The script that rewrites public programs and runs them before and after, on programs of the same form."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "port_programs.py"
PROGRAMS = {
    "pure": "def f(x, n):\n    y = np.zeros_like(x)\n    for i in range(n):\n        y[i] = x[i] * i\n    return y\n",
    "writes": "def f(x, n):\n    x[:n, 0] = 0\n",
    "reshaped": "def f(x, n):\n    y = x[:, :] * 1.0\n    y.shape = 4 * n\n    return y\n",
    "stuck": "def f(x, n):\n    return x[:, :].view(np.int64)[:n]\n",
}
INIT = "import numpy as np\n\n\ndef initialize(n):\n    return np.arange(4.0 * n).reshape(n, 4)\n"


@pytest.fixture
def checkout(tmp_path):
    for name, text in PROGRAMS.items():
        folder = tmp_path / "npbench" / "benchmarks" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(INIT)
        (folder / f"{name}_numpy.py").write_text(f"import numpy as np\n\n\n{text}")
        described = {
            "short_name": name,
            "relative_path": name,
            "module_name": name,
            "func_name": "f",
            "parameters": {"S": {"n": 100}},
            "init": {"func_name": "initialize", "input_args": ["n"], "output_args": ["x"]},
            "input_args": ["x", "n"],
        }
        (tmp_path / "bench_info").mkdir(exist_ok=True)
        (tmp_path / "bench_info" / f"{name}.json").write_text(json.dumps({"benchmark": described}))
    return tmp_path


def test_programs_are_run_before_and_after(checkout):
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    out = checkout / "port.json"
    source = (checkout / "npbench" / "benchmarks" / "reshaped" / "reshaped_numpy.py").read_bytes()
    edits = [[r"y\.shape = (.*)$", r"y = np.reshape(y, \1)"]]
    patches = checkout / "patches.json"
    patches.write_text(json.dumps({"reshaped": {"sha256": hashlib.sha256(source).hexdigest(), "edits": edits}}))
    command = [sys.executable, SCRIPT, "--npbench", checkout, "--patches", patches, "--out", out]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 3, ended.stderr
    assert "less than 60 %" in ended.stderr
    result = json.loads(out.read_text())
    rows = {row["name"]: row for row in result["programs"]["numpy"]}
    assert rows["pure"]["outcomes"] == {"numpy": "same", "torch": "same", "jax": "same"}
    assert rows["writes"]["outcomes"] == {"numpy": "same", "torch": "same", "jax": "raises"}
    assert rows["writes"]["writes_arguments"]
    assert rows["writes"]["announced"]
    assert rows["stuck"]["outcomes"]["torch"] == "raises"
    assert rows["stuck"]["announced"]
    assert rows["reshaped"]["outcomes"] == {"numpy": "same", "torch": "raises", "jax": "raises"}
    assert rows["reshaped"]["edited_outcomes"] == {"numpy": "same", "torch": "same", "jax": "same"}
    for way, summary in result["summary"].items():
        assert summary["changed_meaning"] == [], way
        assert summary["write_no_argument"] == 3
    assert result["summary"]["numpy"]["of_these_run_everywhere"] == 1
    assert result["summary"]["numpy"]["of_these_run_after_edits_by_hand"] == 2
    returned = {row["name"]: row for row in result["programs"]["return_arguments"]}
    assert returned["writes"]["outcomes"] == {"numpy": "same", "torch": "same", "jax": "same"}
    assert returned["writes"]["returned"] == ["f"]
