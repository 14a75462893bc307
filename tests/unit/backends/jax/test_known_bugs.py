"""Programs that known bugs of XLA break, each compiled in another process, and what users learn of the bugs."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from xarrayops_backends.jax import _compiler

from tests.unit.backends.jax.known_bug_programs import OUR_WAYS, programs
from xarrayops.plugin import affected

SCRIPT = Path(__file__).parent / "known_bug_programs.py"
ROOT = Path(__file__).parents[4]
FLAG = "--xla_cpu_experimental_ynn_fusion_type="
SAMPLE = 1, 61
"""The first program of a sample, and the step, which has no common factor with the numbers of dtypes, shapes and ways.
A version with the bugs ends the process in one of them, and others are wrong."""
EVERYTHING = 0, 1


def process(*arguments: str, flags: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def faults(way: str, first: int, step: int, flags: str = "") -> list[str]:
    """The programs with wrong values, and those that end the process; after one of these, the others run anew."""
    found: list[str] = []
    count = len(list(programs()))
    while first < count:
        done = process(str(SCRIPT), way, str(first), str(step), flags=flags)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        names = dict(lines[::2])
        found += [f"{names[i]}: {wrong} wrong" for i, wrong in lines[1::2] if wrong]
        if done.returncode == 0:
            break
        assert lines, done.stderr
        assert "Traceback" not in done.stderr, done.stderr[-2000:]
        found.append(f"{lines[-1][1]}: exit status {done.returncode}")
        first = lines[-1][0] + step
    return found


@pytest.mark.more_in_sweeps
def test_our_programs(sweeping):
    for way in OUR_WAYS if sweeping else ["in turn"]:
        assert faults(way, *(EVERYTHING if sweeping else SAMPLE)) == []


@pytest.mark.more_in_sweeps
def test_programs_of_users_with_the_flag(sweeping):
    assert faults("jax.jit", *(EVERYTHING if sweeping else SAMPLE), flags=FLAG) == []


FIRST_USE = """
import jax.numpy as jnp, xarrayops as xo
from xarrayops._cli import doctor
x = jnp.ones(3)
xo.sum(x), xo.max(x)
print(xo.explain("sum", x))
print(doctor.examine("jax")["known_bad"])
"""


@pytest.mark.parametrize("flags", ["", FLAG])
def test_users_learn_of_a_bad_version(flags):
    version = _compiler.jaxlib_version.__version__
    is_told = bool(affected(_compiler.CPU_BUGS, {"jaxlib": version})) and not flags
    done = process("-c", FIRST_USE, flags=flags)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"RuntimeWarning: jaxlib {version}") == is_told
    assert done.stdout.count(f"WARNING: jaxlib {version}") == is_told, "explain"
    assert done.stdout.splitlines()[-1].count(f"jaxlib {version}") == is_told, "the doctor"
    line = f'export XLA_FLAGS="$XLA_FLAGS {FLAG}"'
    assert (done.stderr.count(line), done.stdout.count(line)) == (is_told, 2 * is_told)


@pytest.mark.parametrize(
    ("flags", "is_off"),
    [
        ("", False),
        (FLAG, True),
        (f"{FLAG}all", False),
        (f"{FLAG} {FLAG}reduce", False),
        (f"--other=1 {FLAG} --xla_x=2", True),
    ],
)
def test_the_flag_in_the_environment(monkeypatch, flags, is_off):
    monkeypatch.setenv("XLA_FLAGS", flags)
    assert _compiler._has_no_fusion() == is_off


@pytest.mark.parametrize("version", ["0.10.0", "0.10.1", "0.10.2", "0.11.0", "0.11.1", "0.12.0"])
def test_our_extra_excludes_the_bad_versions(version):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["jax"]
    is_bad = bool(affected(_compiler.CPU_BUGS, {"jaxlib": version}))
    assert {Requirement(each).name for each in extras} == {"jax", "jaxlib"}
    assert all(Requirement(each).specifier.contains(version) != is_bad for each in extras)


def test_programs_are_compiled_in_one_place():
    """Programs of another call of `jax.jit` would have no options. Exports are programs of users; a GPU needs none."""
    folder = ROOT / "backends" / "xarrayops_backends" / "jax"

    def uses_jit(path: Path) -> bool:
        nodes = ast.walk(ast.parse(path.read_text()))
        return not {"jax.jit", "_jax.jit"}.isdisjoint(ast.unparse(n) for n in nodes if isinstance(n, ast.Attribute))

    others = {"_compiler.py", "_exchange.py", "_export.py", "fused_primitives.py"}
    assert {path.name for path in folder.rglob("*.py") if uses_jit(path)} == others
