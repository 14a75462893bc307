"""The option --list: what the benchmark could measure, without a measurement."""

from __future__ import annotations

import re

from xarrayops._cli import doctor
from xarrayops.bench.__main__ import main
from xarrayops.bench.workloads import WORKLOADS


def test_list_shows_workloads_and_backends(monkeypatch, capsys):
    backends = [
        {"name": "numpy", "available": True},
        {"name": "dask", "available": False, "reason": "not installed", "hint": "pip install dask"},
    ]
    monkeypatch.setattr(doctor, "examine_all", lambda names: backends)
    assert main(["--list"]) == 0
    shown = capsys.readouterr().out
    listed, _, below = shown.partition("Backends")
    assert all(re.search(rf"\b{workload.name}\b", listed) for workload in WORKLOADS)
    assert re.search(r"numpy +yes", below)
    assert re.search(r"dask +no +not installed\. pip install dask", below)
