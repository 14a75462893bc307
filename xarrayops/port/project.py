"""Whole folders of programs: which files are programs, a copy of the others, and files that may be replaced."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from xarrayops.port.basics import PortError

_LEFT_OUT = ("__pycache__", ".git", ".ipynb_checkpoints", "node_modules")
_BACKUP = ".bak"


def programs(folder: Path) -> list[Path]:
    """The Python files and notebooks of a folder that mention NumPy, without environments and caches."""
    found = (Path(top, name) for top, _, names in _walk(folder) for name in names if name.endswith((".py", ".ipynb")))
    return sorted(path for path in found if b"numpy" in path.read_bytes())


def is_test(path: Path, folder: Path) -> bool:
    """Whether a file has tests: they keep NumPy, because they say what the program must give."""
    parts = path.relative_to(folder).parts
    is_named = path.name.startswith(("test_", "conftest")) or path.stem.endswith("_test")
    return is_named or not {"tests", "test"}.isdisjoint(parts)


def copied(folder: Path, out: Path) -> None:
    """Copy a folder without environments and caches; the copy must be a new folder, or an empty one, outside of it."""
    if out.resolve().is_relative_to(folder.resolve()):
        raise PortError(f"{out} is in {folder}. Instead: -o with a folder outside of it")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise PortError(f"{out} exists and is not an empty folder. Instead: -o with a new folder")
    try:
        shutil.copytree(folder, out, symlinks=True, dirs_exist_ok=True, ignore=_left_out)
    except OSError as error:
        raise PortError(f"{out} cannot be written: {error}") from None


def replace(contents: dict[Path, bytes], *, backup: bool) -> None:
    """Write new contents over files that are committed in git, or that get a backup; otherwise nothing is written."""
    changed = {path: data for path, data in contents.items() if path.read_bytes() != data}
    if backup:
        copies = {path: path.with_name(path.name + _BACKUP) for path in changed}
        if existing := [str(copy) for copy in copies.values() if copy.exists()]:
            raise PortError(f"backups exist: {', '.join(existing)}. Instead: move them, or -o OUT")
        for path, copy in copies.items():
            shutil.copy2(path, copy)
    elif unsaved := [str(path) for path in changed if not _is_committed(path)]:
        raise PortError(
            f"not committed in git: {_first(unsaved)}. Nothing was written. Instead: commit first, "
            f"--backup, which keeps each original as FILE{_BACKUP}, or -o OUT"
        )
    for path, data in changed.items():
        path.write_bytes(data)


def _is_committed(path: Path) -> bool:
    """Whether git has the file as it is."""
    place = path.resolve()
    for command in (("ls-files", "--error-unmatch"), ("diff", "--quiet", "HEAD")):
        try:
            done = subprocess.run(
                ["git", *command, "--", place.name], cwd=place.parent, capture_output=True, check=False
            )
        except OSError:
            return False
        if done.returncode:
            return False
    return True


def _first(names: Sequence[str], most: int = 5) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _walk(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for top, folders, names in os.walk(folder):
        ignored = _left_out(top, folders)
        folders[:] = [name for name in folders if name not in ignored]
        yield top, folders, names


def _left_out(top: str, names: list[str]) -> set[str]:
    """The folders in a folder that do not belong to the project."""
    return {
        name
        for name in names
        if name in _LEFT_OUT or name.endswith("_cache") or Path(top, name, "pyvenv.cfg").is_file()
    }
