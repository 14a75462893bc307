"""The worked ports: the tool writes the committed files, and the finished ports compute the same as their originals."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.port.source import PortError
from xarrayops.testing import verify

FOLDER = Path(__file__).parents[3] / "examples" / "porting"
PORTS = {
    "images": ("features", "make_images", (3, 40)),
    "signals": ("analyse", "make_recording", (1, 1)),
    "solver": ("run", "make_plate", (12,)),
}
"""The function of each port, and the call that makes its inputs."""


def loaded(name, file, monkeypatch):
    """A file of a port as a module; it imports its neighbours."""
    monkeypatch.syspath_prepend(FOLDER / name)
    spec = importlib.util.spec_from_file_location(f"{name}_{file}", FOLDER / name / f"{file}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def inputs(name, original):
    _, make, numbers = PORTS[name]
    made = getattr(original, make)(*numbers)
    return made if isinstance(made, tuple) else (made,)


def test_every_folder_is_tested():
    assert {path.name for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(PORTS)


@pytest.mark.parametrize("name", PORTS)
def test_the_tool_writes_what_is_committed(name):
    """If it writes something else, run ``make ports`` and review the change."""
    pytest.importorskip("libcst")
    from xarrayops.port import rewrite

    try:
        result = rewrite(FOLDER / name / "original.py")
    except PortError as error:
        pytest.fail(str(error))
    assert result.text == (FOLDER / name / "rewritten.py").read_text(encoding="utf-8")
    assert "TODO(port)" in result.text


@pytest.mark.parametrize("name", PORTS)
def test_nothing_is_left_to_decide(name):
    text = (FOLDER / name / "port.py").read_text(encoding="utf-8")
    assert "TODO" not in text


@pytest.mark.parametrize("name", PORTS)
def test_what_the_tool_wrote_means_the_same_on_numpy(name, monkeypatch):
    function = PORTS[name][0]
    original, rewritten = (loaded(name, file, monkeypatch) for file in ("original", "rewritten"))
    given = inputs(name, original)
    wanted = getattr(original, function)(*(x.copy() for x in given))
    got = getattr(rewritten, function)(*(x.copy() for x in given))
    for want, found in zip(wanted, got, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("way", ["numpy", "torch:eager", "jax:eager"], ids=lambda way: f"-{way}-")
@pytest.mark.parametrize("name", PORTS)
def test_the_port_is_the_original(name, way, monkeypatch):
    if way != "numpy":
        pytest.importorskip(way.partition(":")[0])
    function = PORTS[name][0]
    original, port = (loaded(name, file, monkeypatch) for file in ("original", "port"))
    report = verify(
        getattr(port, function), *inputs(name, original), expected=getattr(original, function), libraries=[way]
    )
    report.raise_if_different()


@pytest.mark.parametrize("name", PORTS)
def test_the_programs_run(name):
    """Original and port print the same."""
    numbers = [str(number) for number in PORTS[name][2]]
    printed = []
    for command in (("original.py", *numbers), ("port.py", "numpy", *numbers)):
        done = subprocess.run(
            [sys.executable, *command], cwd=FOLDER / name, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1]


def test_the_original_does_not_run_on_torch(monkeypatch):
    """Otherwise there would be nothing to port."""
    pytest.importorskip("torch")
    original = loaded("signals", "original", monkeypatch)
    (recording,) = inputs("signals", original)
    with pytest.raises((TypeError, AttributeError, RuntimeError)):
        original.analyse(xo.convert(recording, "torch"))
