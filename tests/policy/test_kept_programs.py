"""Complete compiled programs are kept between test runs, incomplete ones are not."""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

shared_programs = runpy.run_path(str(Path(__file__).parents[1] / "conftest.py"))["_shared_programs_of_jax"]


def test_programs_are_kept_when_a_run_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "")
    kept, folders = tmp_path / "kept", []
    for run in range(2):
        keep = shared_programs(kept)
        folder = Path(os.environ["JAX_COMPILATION_CACHE_DIR"])
        folders.append(folder)
        assert [program.name for program in folder.iterdir()] == ["exp-cache"] * run
        if not run:
            (folder / "exp-cache").write_bytes(b"program")
            (folder / "log-cache").write_bytes(b"")  # its process was killed before it wrote
            assert not list(kept.iterdir()), "a run that does not end keeps nothing"
        keep()
        assert [program.name for program in kept.iterdir()] == ["exp-cache"]
        assert (kept / "exp-cache").read_bytes() == b"program"
    assert not any(folder.exists() for folder in folders)
    assert folders[0] != folders[1], "each run has its own folder"
