"""The examples run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


def run(script, *arguments):
    command = [sys.executable, str(EXAMPLES / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_preprocess_digits():
    pytest.importorskip("sklearn")
    done = run("preprocess_digits.py", "numpy")
    assert done.returncode == 0, done.stderr
    assert "numpy        explained variance 20.7%" in done.stdout
    assert "same scores" in done.stdout


def test_digits_graph():
    """The same labels and ranks on every library that has sparse matrices."""
    pytest.importorskip("sklearn")
    done = run("digits_graph.py")
    assert done.returncode == 0, done.stderr
    served = [line for line in done.stdout.splitlines() if " edges, " in line]
    assert any(line.startswith("numpy") for line in served)
    for line in served:
        assert float(line.partition("within ")[2].partition(",")[0]) < 1e-4, line
        assert float(line.partition("edges, ")[2].partition("%")[0]) > 90, line
        assert line.partition("centres ")[2] == served[0].partition("centres ")[2]


def test_quantized_digits():
    """A quarter of the bytes, the same bits on every library, and the accuracy of float32."""
    pytest.importorskip("sklearn")
    done = run("quantized_digits.py")
    assert done.returncode == 0, done.stdout + done.stderr
    first, *lines = done.stdout.splitlines()
    wide, narrow = (int(word) for word in first.split() if word.isdigit())
    assert 3.5 < wide / narrow < 4
    assert any(line.startswith("numpy") for line in lines)
    assert all("the same bits as NumPy" in line for line in lines)


def test_induction_transformer():
    """It continues as the text did before, with the same scores on every library."""
    done = run("induction_transformer.py", "abcdefgh abcdefgh abc")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("numpy") for line in lines)
    for line in lines:
        assert "'defgh abcdefgh abcdefgh abcdefgh abcdefg'" in line, line
        assert float(line.partition("within ")[2].split()[0]) < 1e-3, line


def test_mixed_precision():
    """The same accuracy in every precision; in float16 the first scales are too high."""
    pytest.importorskip("sklearn")
    done = run("mixed_precision.py")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) % 3 == 0
    for line in lines:
        dtype, right = line.split()[1:3]
        assert float(right.rstrip("%")) > 90, line
        left_out = int(line.partition("right, ")[2].split()[0])
        assert (left_out > 0) == (dtype == "float16"), line


def test_larger_than_memory(tmp_path, monkeypatch):
    """The variances and quantiles of all files on Dask, and of rows of the first file on JAX, are NumPy's."""
    for library in ("dask", "distributed", "jax"):
        pytest.importorskip(library)
    # On a busy machine the threads of one collective operation start far apart, and XLA would abort.
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_collective_call_terminate_timeout_seconds=600")
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(n, 6)).astype("float32") * [9, 7, 5, 1, 1, 1] + 3 for n in (803, 1000, 641)]
    for i, part in enumerate(parts):
        np.save(tmp_path / f"{i}.npy", part.astype("float32"))
    done = run("larger_than_memory.py", "--folder", str(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("    variances")]
    found = np.asarray([line[1:4] + line[5:] for line in lines], float)
    wanted = []
    for x in (np.concatenate(parts), parts[0][:800], parts[0][:800]):
        variances = np.linalg.svd(x - x.mean(0), compute_uv=False)[:3] ** 2 / (len(x) - 1)
        wanted.append([*variances, *np.quantile(x[:, 0], (0.05, 0.5, 0.95))])
    np.testing.assert_allclose(found[:, :3], np.asarray(wanted)[:, :3], atol=0.06)
    np.testing.assert_allclose(found[:, 3:], np.asarray(wanted)[:, 3:], atol=6e-4)
    if sys.platform == "linux":
        assert "peak memory of the workers" in done.stdout
