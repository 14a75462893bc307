"""Shared libraries from C++, CUDA and HIP sources, built with the installed compiler and kept in the user's cache.

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
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from xarrayops._system import cache, machine
from xarrayops._system.architectures import architecture_flags
from xarrayops.errors import BuildError, install_command

HEADERS = (".h", ".hh", ".hpp", ".cuh", ".inl")
"""The suffixes of headers, which are not compiled themselves."""
FLAGS = ("-std=c++17", "-O3", "-shared")


class Language(NamedTuple):
    """A language of sources, and its compilers.

    Attributes
    ----------
    name : str
        In messages.
    suffixes : tuple of str
        The suffixes of its sources.
    device : str
        The kind of device whose memory the compiled functions take.
    variable : str
        The environment variable with the command of the compiler.
    commands : tuple of str
        The names of compilers.
    homes, folder : tuple of str, str
        Environment variables with the folder of a toolkit, and the folder of an installed one; empty if there is none.
    """

    name: str
    suffixes: tuple[str, ...]
    device: str
    variable: str
    commands: tuple[str, ...]
    homes: tuple[str, ...] = ()
    folder: str = ""


LANGUAGES = (
    Language("HIP", (".hip",), "rocm", "HIPCC", ("hipcc",), ("ROCM_HOME", "ROCM_PATH", "HIP_PATH"), "/opt/rocm"),
    Language("CUDA", (".cu",), "cuda", "NVCC", ("nvcc",), ("CUDA_HOME", "CUDA_PATH"), "/usr/local/cuda"),
    Language("C++", (".cc", ".cpp", ".cxx"), "cpu", "CXX", ("c++", "g++", "clang++")),
)
HIP, CUDA, CPP = LANGUAGES
SUFFIXES = tuple(suffix for language in reversed(LANGUAGES) for suffix in language.suffixes)


def language_of(names: Sequence[str]) -> Language:
    """The language whose compiler builds sources with these names: the host compiler does not know the other two."""
    return next((each for each in LANGUAGES if any(name.endswith(each.suffixes) for name in names)), CPP)


@lru_cache
def find(language: Language) -> tuple[str, ...] | None:
    """The command of the compiler; None if there is none.

    It is the command in the environment variable, else an installed program, also in the folder of a toolkit, else,
    for CUDA, the program of NVIDIA's Python packages.
    """
    named = [os.environ.get(language.variable, ""), *language.commands]
    homes = [os.environ.get(name, "") for name in language.homes]
    folders = [Path(home, "bin") for home in (*homes, language.folder) if home]
    programs = [*(folder / name for folder in folders for name in language.commands), *_packaged(language)]
    commands = [*(shlex.split(name) for name in named if name), *([str(program)] for program in programs)]
    return next((tuple(command) for command in commands if shutil.which(command[0])), None)


def _packaged(language: Language) -> list[Path]:
    """The compilers of the packages nvidia-cuda-nvcc and so on, the newest first."""
    spec = find_spec("nvidia") if language.device == "cuda" else None
    folders = spec.submodule_search_locations or [] if spec else []
    return sorted((path for folder in folders for path in Path(folder).glob("cu*/bin/nvcc")), reverse=True)


def missing(language: Language) -> str:
    """The message if there is no compiler."""
    several = ", ".join(language.commands)
    found = f"no {language.name} compiler was found: neither ${language.variable} nor {several}"
    packaged = f", {install_command('native-cuda')}" if language.device == "cuda" else ""
    return f"{found}. Instead: install one{packaged}, or set {language.variable}"


@lru_cache
def version(command: tuple[str, ...]) -> str:
    """The output of a compiler about its version."""
    found = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return found.stdout + found.stderr


def shared_library(
    sources: Mapping[str, str],
    *,
    flags: Sequence[str],
    includes: Sequence[str],
    key: str,
    capabilities: Sequence[str] = (),
) -> Path:
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
    capabilities : sequence of str
        The compute capabilities of the devices, such as "9.0" or "gfx942"; empty if they are unknown.

    Raises
    ------
    BuildError
        There is no compiler, or it failed; the message has the command and the compiler's output.
    """
    language = language_of(list(sources))
    command = find(language)
    if command is None:
        raise BuildError(missing(language))
    position = ("-Xcompiler", "-fPIC") if language.device == "cuda" else ("-fPIC",)
    undefined = ("-undefined", "dynamic_lookup") if platform.system() == "Darwin" else ()
    flags = (*architecture_flags(language.device, capabilities, flags, version(command)), *flags)
    whole = (*command, *FLAGS, *position, *undefined, *(f"-I{each}" for each in includes), *flags)
    is_native = any("native" in flag for flag in flags)
    determined_by = [
        sorted(sources.items()),
        [*command, *FLAGS, *position, *flags],
        version(command),
        [platform.system(), platform.machine(), key],
        [machine.cpu_model(), sorted(machine.cpu_flags()), sorted(capabilities)] if is_native else [],
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
