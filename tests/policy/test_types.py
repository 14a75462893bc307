"""What a type checker makes of a user's program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

RESULTS = {
    "xo.unique_all(x)": ("values", "indices", "inverse_indices", "counts"),
    "xo.unique_counts(x)": ("values", "counts"),
    "xo.unique_inverse(x)": ("values", "inverse_indices"),
    "xo.linalg.eig(x)": ("eigenvalues", "eigenvectors"),
    "xo.linalg.eigh(x)": ("eigenvalues", "eigenvectors"),
    "xo.linalg.qr(x)": ("Q", "R"),
    "xo.linalg.slogdet(x)": ("sign", "logabsdet"),
    "xo.linalg.svd(x)": ("U", "S", "Vh"),
}


def complaints(lines: list[str], folder: Path) -> list[str]:
    """What mypy, strict, says of a program that has an array x."""
    program = folder / "program.py"
    program.write_text("\n".join(["import xarrayops as xo", "x = xo.zeros((2, 2))", *lines, ""]))
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(folder)]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    run = subprocess.run([*command, str(program)], env=environment, text=True, capture_output=True)
    return [line.partition(": error: ")[2] for line in run.stdout.splitlines() if ": error: " in line]


def test_results_have_their_fields_and_no_others(tmp_path):
    pytest.importorskip("mypy")
    good = [f"{call}.{field}" for call, fields in RESULTS.items() for field in fields]
    good += [f"{', '.join(f'v{i}' for i in range(len(fields)))} = {call}" for call, fields in RESULTS.items()]
    bad = [f"{call}.neither" for call in RESULTS]
    found = complaints([*good, *bad], tmp_path)
    assert len(found) == len(bad), found
    assert all('has no attribute "neither"' in line for line in found)
