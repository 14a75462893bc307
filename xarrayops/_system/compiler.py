"""Shared libraries from C++ and CUDA sources, built with the installed compiler and kept in the user's cache.

Nothing is downloaded. The cache key includes all inputs of the build, so a change of the sources, the flags or the
compiler builds a new library. Processes may build the same library at the same time: each builds in a separate folder
and moves the finished file into the cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from xarrayops._system import cache, machine
from xarrayops.errors import BuildError

CPP, CUDA = (".cc", ".cpp", ".cxx"), (".cu",)
HEADERS = (".h", ".hh", ".hpp", ".cuh", ".inl")
"""The suffixes of sources, by which the compiler is chosen. Headers are not compiled themselves."""
FLAGS = ("-std=c++17", "-O3", "-shared")


def uses_cuda(names: Sequence[str]) -> bool:
    """Whether sources with these names need the CUDA compiler."""
    return any(name.endswith(CUDA) for name in names)


@lru_cache
def find(*, cuda: bool) -> tuple[str, ...] | None:
    """The command of the compiler; None if there is none.

    For C++ it is the environment variable CXX, else c++, g++ or clang++; for CUDA it is NVCC, else nvcc, also in
    CUDA_HOME.
    """
    if cuda:
        home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
        names = [os.environ.get("NVCC", ""), "nvcc", f"{home}/bin/nvcc" if home else ""]
    else:
        names = [os.environ.get("CXX", ""), "c++", "g++", "clang++"]
    commands = [shlex.split(name) for name in names if name]
    return next((tuple(command) for command in commands if shutil.which(command[0])), None)


def missing(*, cuda: bool) -> str:
    """The message if there is no compiler."""
    if cuda:
        return "no CUDA compiler was found: neither $NVCC nor nvcc. Instead: install the CUDA toolkit, or set NVCC"
    return "no C++ compiler was found: neither $CXX, c++, g++ nor clang++. Instead: install one, or set CXX"


@lru_cache
def version(command: tuple[str, ...]) -> str:
    """The output of a compiler about its version."""
    found = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return found.stdout + found.stderr


def shared_library(sources: Mapping[str, str], *, flags: Sequence[str], includes: Sequence[str], key: str) -> Path:
    """The shared library of these sources, built unless it is in the cache.

    Parameters
    ----------
    sources : mapping of str to str
        The text of each file by its name. All are in one folder; files that are not headers are compiled.
    flags : sequence of str
        Further flags of the compiler.
    includes : sequence of str
        Folders of headers.
    key : str
        The versions of those headers.

    Raises
    ------
    BuildError
        There is no compiler, or it failed; the message has the command and the compiler's output.
    """
    is_cuda = uses_cuda(list(sources))
    command = find(cuda=is_cuda)
    if command is None:
        raise BuildError(missing(cuda=is_cuda))
    position = ("-Xcompiler", "-fPIC") if is_cuda else ("-fPIC",)
    undefined = ("-undefined", "dynamic_lookup") if platform.system() == "Darwin" else ()
    whole = (*command, *FLAGS, *position, *undefined, *(f"-I{each}" for each in includes), *flags)
    depends_on_cpu = any("native" in flag for flag in flags)
    determined_by = [
        sorted(sources.items()),
        [*command, *FLAGS, *position, *flags],
        version(command),
        [platform.system(), platform.machine(), key],
        [machine.cpu_model(), sorted(machine.cpu_flags())] if depends_on_cpu else [],
    ]
    digest = hashlib.sha256(json.dumps(determined_by).encode()).hexdigest()[:32]
    folder = cache.folder("native")
    built = folder / f"{Path(next(iter(sources))).stem}-{digest}.so"
    if not built.exists():
        with tempfile.TemporaryDirectory(prefix=".building-", dir=folder) as work:
            os.replace(_compiled(Path(work), whole, sources), built)
    return built


def _compiled(work: Path, command: Sequence[str], sources: Mapping[str, str]) -> Path:
    """Build the library in a private folder."""
    for name, text in sources.items():
        (work / name).write_text(text, encoding="utf-8")
    built = work / "built.so"
    names = [name for name in sources if not name.endswith(HEADERS)]
    whole = [command[0], *(str(work / name) for name in names), *command[1:], "-o", str(built)]
    done = subprocess.run(whole, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr + done.stdout).replace(f"{work}{os.sep}", "")
        shown = shlex.join(whole).replace(f"{work}{os.sep}", "")
        raise BuildError(f"the compiler failed with exit status {done.returncode}\n$ {shown}\n{said}".rstrip())
    return built
