"""The doctor reports correct facts, and a broken library does not crash it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata

import pytest

from xarrayops._cli import doctor
from xarrayops._core.backends import registry
from xarrayops._system import machine
from xarrayops.errors import InvalidBackend
from xarrayops.plugin import Device, KnownBad, install_command

ABSENT = "raise ModuleNotFoundError(\"No module named '{0}'\", name='{0}')"
BROKEN = {
    "torch": "import os; os.abort()",
    "jax": "raise RuntimeError('jaxlib is of another version')",
    "dask": ABSENT.format("dask"),
    "cupy": ABSENT.format("cupy"),
    "torch_xla": ABSENT.format("torch_xla"),
}


@pytest.fixture
def broken_libraries(tmp_path):
    """An environment in which every library but NumPy is missing or broken."""
    for name, source in BROKEN.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(source)
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


def run_doctor(environment, *arguments):
    command = [sys.executable, "-m", "xarrayops", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


def test_broken_and_missing_libraries_have_different_reasons(broken_libraries):
    done = run_doctor(broken_libraries, "--json")
    assert done.returncode == 0, done.stderr
    found = {backend["name"]: backend for backend in json.loads(done.stdout)["backends"]}
    assert found["numpy"]["available"]
    assert found["numpy"]["devices"] == [{"kind": "cpu", "name": "cpu", "label": ""}]
    assert not any(found[name]["available"] for name in BROKEN)
    assert "ends the process" in found["torch"]["reason"]
    assert "jaxlib is of another version" in found["jax"]["reason"]
    assert found["dask"]["reason"] == "not installed (no module dask)"
    assert "pip install" in found["dask"]["hint"]


def test_text_names_every_backend_and_how_to_get_it(broken_libraries):
    done = run_doctor({**broken_libraries, "COLUMNS": "200"})
    assert done.returncode == 0, done.stderr
    for name in (*BROKEN, "numpy", install_command("dask"), "Python", "OpenMP"):
        assert name in done.stdout


def test_optional_packages_are_shown(monkeypatch, capsys):
    """Installed ones with their version, missing ones with the command."""
    real = doctor.metadata.version

    def version(name):
        if name == "numba":
            raise doctor.metadata.PackageNotFoundError(name)
        return "1.2.3" if name in ("scipy", "ml_dtypes", "libcst") else real(name)

    monkeypatch.setattr(doctor.metadata, "version", version)
    monkeypatch.setattr(doctor, "examine_all", lambda names: [])
    monkeypatch.setenv("COLUMNS", "200")
    known = doctor.diagnose()
    found = {package["name"]: package for package in known["optional"]}
    assert found.keys() == {"SciPy", "numba", "ml_dtypes", "LibCST"}
    assert found["SciPy"]["version"] == "1.2.3"
    assert found["numba"]["hint"] == install_command("fast")
    doctor.show(known)
    text = capsys.readouterr().out
    for each in ("SciPy", "1.2.3", "numba", "not installed", install_command("fast"), "bfloat16"):
        assert each in text


def test_the_extras_of_optional_packages_install_them():
    declared = metadata.metadata("xarrayops").get_all("Requires-Dist")
    for distribution, extra, _ in doctor.OPTIONAL.values():
        name = distribution.replace("_", "-")
        assert any(each.startswith(name) and f'extra == "{extra}"' in each.replace("'", '"') for each in declared), name


def test_settings_are_shown_and_a_wrong_one_is_a_warning(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "examine_all", lambda names: [])
    monkeypatch.setenv("XARRAYOPS_THREADS", "3")
    monkeypatch.setenv("XARRAYOPS_BACKEND", "numpi")
    known = doctor.diagnose()
    assert known["settings"]["XARRAYOPS_THREADS"] == "3"
    (warning,) = known["warnings"]
    assert "did you mean 'numpy'?" in warning
    assert "XARRAYOPS_BACKEND is set to it" in warning
    doctor.show(known)
    assert "XARRAYOPS_THREADS=3" in capsys.readouterr().out
    monkeypatch.delenv("XARRAYOPS_BACKEND")
    assert doctor.diagnose()["warnings"] == []


def test_the_evidence_for_accelerators_is_shown(monkeypatch, capsys):
    devices = [{"kind": kind, "name": kind, "label": kind} for kind in ("cpu", "cuda")]
    found = {"name": "torch", "available": True, "devices": devices}
    monkeypatch.setattr(doctor, "examine_all", lambda names: [found])
    known = doctor.diagnose()
    all_kinds, line = known["evidence"]
    assert "jax: cuda run and compiled" in all_kinds, "also of kinds that this machine lacks"
    assert line.startswith("xarrayops with torch on cuda: run on NVIDIA")
    doctor.show(known)
    text = capsys.readouterr().out
    assert all_kinds in text
    assert line in text


def test_the_environment_of_every_library_is_shown(broken_libraries):
    """Only NumPy can be imported; the other libraries list no variables."""
    done = run_doctor({**broken_libraries, "OPENBLAS_CORETYPE": "HASWELL", "XARRAYOPS_THREADS": "2"}, "--json")
    settings = json.loads(done.stdout)["settings"]
    assert (settings["OPENBLAS_CORETYPE"], settings["XARRAYOPS_THREADS"]) == ("HASWELL", "2")


def test_diagnosis_leaves_out_unknown_facts(monkeypatch):
    monkeypatch.setattr(registry, "names", lambda: ["numpy"])
    monkeypatch.setattr(machine, "cpu_model", lambda: None)
    monkeypatch.delenv("XARRAYOPS_THREADS", raising=False)
    known = doctor.diagnose()
    assert "cpu" not in known["machine"]
    assert "XARRAYOPS_THREADS" not in known["settings"]
    assert known["machine"]["cpus"] == os.cpu_count()
    assert all(pool["loaded_with"] == ["numpy"] for pool in known["pools"])
    doctor.show(known)


@pytest.mark.parametrize(
    ("flags", "kernel", "warns"),
    [
        (machine._AVX512, "Haswell", True),
        (machine._AVX512, "Zen", True),
        (machine._AVX512, "SkylakeX", False),
        ({"avx2"}, "Haswell", False),
        ({"avx512f"}, "Haswell", False),
    ],
)
def test_openblas_on_avx2_kernels(monkeypatch, flags, kernel, warns):
    monkeypatch.setattr(machine, "cpu_flags", lambda: frozenset(flags))
    warning = machine.slow_openblas([{"internal_api": "openblas", "architecture": kernel}, {"internal_api": "openmp"}])
    assert (warning is not None) == warns
    if warning:
        assert "OPENBLAS_CORETYPE=SKYLAKEX" in warning
        assert kernel in warning


@pytest.mark.parametrize(
    ("version", "device", "hit"),
    [
        ("2.5.1", "cuda", True),
        ("2.5.0rc1", "cuda", True),
        ("2.6.0", "cuda", False),
        ("2.5.1+cu124", "cuda", True),
        ("2.5.1", "cpu", False),
        ("no version", "cuda", False),
    ],
)
def test_known_bad_versions(version, device, hit):
    fault = KnownBad("torch", ">=2.5.dev0,<2.6", "cuda", "wrong sums", "pytorch#1")
    found = doctor.bugs_here([fault], {"torch": version}, [Device(device, device, device)])
    assert bool(found) == hit
    if found:
        assert "wrong sums" in found[0]
        assert "pytorch#1" in found[0]


def test_known_bug_of_any_device():
    fault = KnownBad("numpy", "<3", "any", "c", "i")
    assert doctor.bugs_here([fault], {"numpy": "2.4"}, [Device("cpu", "cpu", "cpu")])


def test_a_backend_that_two_distributions_claim_is_a_warning(monkeypatch, capsys):
    def names():
        raise InvalidBackend("two distributions claim the root package torch")

    monkeypatch.setattr(registry, "names", names)
    known = doctor.diagnose()
    assert known["backends"] == []
    assert known["warnings"] == ["two distributions claim the root package torch"]
    doctor.show(known)
    assert "WARNING: two distributions claim" in capsys.readouterr().out


def test_a_library_that_hangs_is_reported(tmp_path, monkeypatch):
    (tmp_path / "dask.py").write_text("import time\ntime.sleep(600)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(doctor, "TIMEOUT_S", 1.0)
    (found,) = doctor.examine_all(["dask"])
    assert not found["available"]
    assert found["reason"] == "importing it and listing its devices takes more than 1 s"
    assert found["hint"] == "To see the error: python -c 'import dask'"


def test_the_memory_limit_of_a_container_is_shown(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "examine_all", lambda names: [])
    monkeypatch.setattr(machine, "facts", lambda: {"os": "Linux", "memory_bytes": 2**34, "memory_limit_bytes": 2**33})
    doctor.show(doctor.diagnose())
    assert "16.0 GiB memory (limited to 8.0 GiB)" in capsys.readouterr().out
