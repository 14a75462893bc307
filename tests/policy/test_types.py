"""Type checkers infer the array type of results from the array type of arguments."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from xarrayops._surface import CREATION, SURFACE

ROOT = Path(__file__).resolve().parents[2]

HEADER = """
from typing import assert_type
import numpy as np
import numpy.typing as npt
import xarrayops as xo
N = npt.NDArray[np.float64]
"""
ARRAYS = {
    "numpy": ("", "N", "np.zeros((2, 2))"),
    "torch": ("import torch", "torch.Tensor", "torch.zeros((2, 2))"),
}
"""For each library: the import statement, the type of its arrays, and an array."""

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
NAMED = {call.removeprefix("xo.").removesuffix("(x)") for call in RESULTS}
TUPLES = ("broadcast_arrays(x, x)", "meshgrid(x, x)", "nonzero(x)", "unstack(x)")
UNARY = [verb for verb, text in SURFACE.items() if text == "(x, /)" and verb not in (*NAMED, "nonzero")]
BINARY = [verb for verb, text in SURFACE.items() if text == "(x1, x2, /)"]
OF_SCALARS = [verb for verb in BINARY if verb not in ("matmul", "linalg.outer", "linalg.solve")]
CREATING = {
    "arange": "3",
    "asarray": "[1.0]",
    "eye": "2",
    "fft.fftfreq": "3",
    "fft.rfftfreq": "3",
    "from_dlpack": "x",
    "full": "(2, 2), 1.0",
    "linspace": "0, 1, 3",
    "geomspace": "1, 2, 3",
    "logspace": "1, 2, 3",
    "kaiser": "3, 14.0",
    **dict.fromkeys(("bartlett", "blackman", "hamming", "hanning"), "3"),
    "random.key": "0",
    "shard": "x, None",
}
"""The arguments of creation functions, except those that take only a shape."""
SAME = [
    *(f"{verb}(x)" for verb in UNARY),
    *(f"{verb}(x, x)" for verb in BINARY),
    *(f"{verb}(x, {number})" for verb in OF_SCALARS for number in ("2", "1.5", "True")),
    *(f"{verb}({number}, x)" for verb in OF_SCALARS for number in ("2", "1.5", "1j")),
    *(f"{verb}({CREATING.get(verb, '(2, 2)')}, like=x)" for verb in CREATION if verb != "random.default_rng"),
    *("sum(x, axis=0)", "argmax(x)", "zeros_like(x)", 'astype(x, "float64")', "clip(x, 0.0, None)", "clip(x, max=x)"),
    *("concat([x, x])", "stack((x, x))", "take(x, xo.argsort(x))", "where(x, x, 0.0)", "where(x, 1.0, 0.0)"),
    *("permute_dims(x, (1, 0))", "linalg.vector_norm(x, ord=1)", "fft.fft(x)", "diff(x, prepend=x)"),
    *('relayout(x, "a b -> b a")', 'contiguous(x, "F")', 'with_memory_format(x, "channels_last")'),
    *("as_strided(x, (2,), (1,))", "pin_memory(x)", 'einsum("ij->", x)', "at(x)[0].add(1.0)", "at(x)[0].set(x)"),
    *(
        'pad(x, 2, "edge")',
        "quantile(x, 0.5)",
        "median(x, axis=0)",
        "segment_sum(x, xo.argsort(x))",
        "interp(1.0, x, x)",
    ),
    *("attention(x, x, x, causal=True)", 'to_device(x, "cpu")', "convert(0.0, x)"),
]
"""Calls whose result has the type of x."""


def mypy(program: Path) -> list[str]:
    """The errors that ``mypy --strict`` finds in a program, one line each."""
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(program.parent)]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    run = subprocess.run([*command, str(program)], env=environment, text=True, capture_output=True)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return [line for line in run.stdout.splitlines() if ": error: " in line]


def pyright(program: Path) -> list[str]:
    """The errors that pyright finds, as basedpyright, which includes its own Node."""
    settings = {"extraPaths": [str(ROOT)], "typeCheckingMode": "standard"}
    (program.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    run = subprocess.run([*command, "--project", str(program.parent)], text=True, capture_output=True)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found = json.loads(run.stdout)["generalDiagnostics"]
    return [f"{each['range']['start']['line'] + 1}: {each['message']}" for each in found if each["severity"] == "error"]


@pytest.fixture(params=[("mypy", mypy), ("basedpyright", pyright)], ids=["mypy", "pyright"])
def errors(request, tmp_path):
    """A function that returns the errors of a type checker for lines of code with an array x."""
    package, check = request.param
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install {package}")

    def find(library, lines):
        statement, kind, array = ARRAYS[library]
        program = tmp_path / "program.py"
        program.write_text("\n".join([HEADER, statement, f"x: {kind} = {array}", *lines, ""]))
        return check(program)

    return find


@pytest.mark.parametrize("library", ARRAYS)
def test_results_have_the_type_of_the_arguments(library, errors):
    pytest.importorskip(library)
    kind = ARRAYS[library][1]
    lines = [f"assert_type(xo.{call}, {kind})" for call in SAME]
    lines += [f"assert_type(xo.{call}, tuple[{kind}, ...])" for call in TUPLES]
    lines += [f"assert_type({call}.{field}, {kind})" for call, fields in RESULTS.items() for field in fields]
    lines += [f"assert_type(xo.attention(x, x, x, return_lse=True), tuple[{kind}, {kind}])"]
    assert errors(library, lines) == []


def test_results_have_only_their_fields(errors):
    good = [f"{', '.join(f'v{i}' for i in range(len(fields)))} = {call}" for call, fields in RESULTS.items()]
    bad = [f"{call}.neither" for call in RESULTS]
    found = errors("numpy", [*good, *bad])
    assert len(found) == len(bad), found
    assert all("neither" in line for line in found)


def test_a_wrong_type_is_an_error(errors):
    unknown = ["xo.concatenate([x])", "xo.linalg.multi_dot(x)", "xo.sparse.matmul(x, x)"]
    refused = ["xo.sum(x, 0)", "xo.sum(x, ..., 0)", "xo.add(x, x, out=None)", "xo.std(x, ddof=None)", "xo.where(x)"]
    refused += ["xo.zeros(3, 4)", "xo.zeros((3, 4), order=None)", "xo.unique(x, True)", "xo.squeeze(x)"]
    wrong = ["assert_type(xo.exp(x), int)", "xo.exp(x, x)", "xo.sort(x, axes=0)", *unknown, *refused]
    found = errors("numpy", wrong)
    lines = {re.search(r"(\d+): ", error)[1] for error in found}
    assert len(lines) == len(wrong), found


def test_numpys_names_have_their_parameters(errors):
    good = ["xp.sum(x, 0, keepdims=True)", "xp.nanmax(x, axis=(0, 1))", "xp.std(x, 0, ddof=1)"]
    good += ["xp.quantile(x, 0.5, axis=0)", "xp.cumulative_sum(x, axis=0)", "xp.fft.rfft(x, 8)", "xp.fft.fft2(x)"]
    wrong = ["xp.sum(x, axes=0)", "xp.nanmax(x, dtype=None)", "xp.std(x, correct=1)", "xp.quantile(x)"]
    wrong += ["xp.cumulative_sum(x, 0)", "xp.fft.rfft(x, m=8)", "xp.fft.fft2(x, axis=0)", "xp.prod()"]
    found = errors("numpy", ["import xarrayops.numpy as xp", *good, *wrong])
    first = HEADER.count("\n") + 5 + len(good)
    lines = {int(re.search(r"(\d+): ", error)[1]) for error in found}
    assert lines == set(range(first, first + len(wrong))), found
