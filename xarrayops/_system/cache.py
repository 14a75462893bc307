"""The folders of what is kept for the user between runs."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_FOLDER = "XARRAYOPS_CACHE"
"""The environment variable with the folder of the cache."""


def place(name: str) -> Path:
    """The path of a folder of the cache, which may not exist, and may not be writable."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(os.environ.get(_FOLDER) or f"{base}/xarrayops")) / name


def folder(name: str) -> Path:
    """A folder of the cache; a temporary folder of this process if the cache cannot be written."""
    found = place(name)
    with suppress(OSError):
        found.mkdir(parents=True, exist_ok=True)
    return found if os.access(found, os.W_OK) else _own_folder()


@lru_cache
def _own_folder() -> Path:
    import atexit

    found = Path(tempfile.mkdtemp(prefix="xarrayops-"))
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return found
