"""The identity of an environment."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from xarrayops.bench.run.environment import Identity
from xarrayops.bench.workload_sources import BUILT_IN
from xarrayops.bench.workloads import WORKLOADS

FILE = """
import numpy as np
import xarrayops as xo
from xarrayops.bench import Workload

WORKLOADS = (Workload("work", xo.exp, lambda random, n: (random.standard_normal(n),), np.exp, (9,)),)
"""


@pytest.mark.skipif(os.name != "posix", reason="the path of Python differs")
def test_neither_the_folder_nor_pythonpath_is_imported(tmp_path, monkeypatch):
    package = tmp_path / "xarrayops"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('the wrong one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = Identity.of(sys.executable, [BUILT_IN])
    assert found.digests == Identity.here(WORKLOADS).digests
    assert (found.prefix, found.command[0]) == (sys.prefix, sys.executable)


def test_a_workload_file_imports_its_neighbours(tmp_path, monkeypatch):
    (tmp_path / "neighbour.py").write_text(FILE)
    (tmp_path / "mine.py").write_text("from neighbour import WORKLOADS")
    monkeypatch.chdir(tmp_path)
    assert list(Identity.of(sys.executable, ["mine.py"]).digests) == ["work"]
    (tmp_path / "mine.py").write_text("import nowhere")
    with pytest.raises(ValueError, match=r"with .*, mine.py cannot be imported: ModuleNotFoundError"):
        Identity.of(sys.executable, ["mine.py"])


def test_a_folder_or_an_empty_path_is_refused(tmp_path):
    with pytest.raises(ValueError, match=f"it is a folder, try {tmp_path}/bin/python"):
        Identity.of(str(tmp_path), [])
    with pytest.raises(ValueError, match="an empty path cannot be run"):
        Identity.of("", [])


def test_the_version_of_numpy_does_not_change_the_digest(monkeypatch):
    known = Identity.here(WORKLOADS).digests
    monkeypatch.setattr("inspect.getsource", lambda module: module.__name__)
    names = Identity.here(WORKLOADS).digests
    assert known["sum"] != names["sum"], "the module of xarrayops counts"
    monkeypatch.setattr(np.sum, "__module__", "numpy.another", raising=False)
    assert Identity.here(WORKLOADS).digests == names
