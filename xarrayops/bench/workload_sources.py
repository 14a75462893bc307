"""The sources of workloads: modules and files, each with a tuple ``WORKLOADS``."""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module, metadata, util
from pathlib import Path
from types import ModuleType
from typing import Any

from xarrayops.bench.workload import Workload

BUILT_IN = "xarrayops.bench.workloads"
_FILES = "_workloads_"
_ORACLES = ("numpy", "scipy")
_CORE = Path(__file__).parents[1]


def load(sources: Sequence[str]) -> tuple[Workload, ...]:
    """The workloads of some modules, given by dotted name, and files, given by a path that ends in ``.py``.

    Raises
    ------
    ValueError
        A source cannot be imported or has no workloads, or two workloads share a name.
    """
    found: dict[str, Workload] = {}
    for source in sources:
        try:
            _add(source, found)
        except ValueError:
            sys.modules.pop(_name(source), None)  # a faulty file is not left half imported
            raise
    return tuple(found.values())


def _add(source: str, found: dict[str, Workload]) -> None:
    try:
        listed = tuple(_module(source).WORKLOADS)
    except AttributeError:
        raise ValueError(f"{source} has no WORKLOADS; define a tuple of xarrayops.bench.Workload") from None
    except Exception as error:  # a user's file may raise anything
        raise ValueError(f"{source} cannot be imported: {type(error).__name__}: {error}") from error
    for workload in listed:
        if not isinstance(workload, Workload):
            raise ValueError(f"WORKLOADS of {source} contains {workload!r}, which is not an xarrayops.bench.Workload")
        if workload.name in found:
            raise ValueError(f"{source} and another source both define a workload {workload.name!r}; rename one")
        found[workload.name] = workload


def _module(source: str) -> ModuleType:
    if not source.endswith(".py"):
        return import_module(source)
    path, name = Path(source).resolve(), _name(source)
    spec = util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    module = util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # last, so that the file can import its neighbours but not hide a library
    sys.modules[name] = module  # inspect needs it to find the source of functions
    spec.loader.exec_module(module)
    return module


def _name(source: str) -> str:
    """The module name of a file, which no library uses."""
    return f"{_FILES}{hashlib.sha256(str(Path(source).resolve()).encode()).hexdigest()[:8]}"


def file_of(workload: Workload) -> str:
    """The file that defines a workload; empty if a module does."""
    files = [module for name, module in sys.modules.items() if name.startswith(_FILES)]
    return next((str(file.__file__) for file in files if workload in file.WORKLOADS), "")


def code_of(workload: Workload) -> str:
    """The source code of what is timed, or its description if there is no source."""
    try:
        return inspect.getsource(workload.plain_function)
    except (OSError, TypeError):
        return workload.timed


def digest(workload: Workload) -> str:
    """A digest of the code of a workload, with the modules of its function and inputs and its packages' versions.

    Functions of NumPy and SciPy, which are common oracles, count by name only.
    """
    parts = [repr(workload.sizes), *map(_version, workload.packages)]
    for function in (workload.function, workload.inputs, workload.expected, workload.arrange):
        while isinstance(function, partial):
            parts += [_stable_repr(function.args), _stable_repr(function.keywords)]
            function = function.func
        module = inspect.getmodule(function)
        known = module is None or module.__name__.partition(".")[0] in _ORACLES
        try:
            parts.append(_stable_repr(function) if known or module is None else inspect.getsource(module))
        except (OSError, TypeError):
            parts.append(workload.timed)
    return _hashed(parts)


def library_digest(backend: ModuleType) -> str:
    """A digest of the code of xarrayops and of the backend's top-level package, in which backends share code."""
    top = sys.modules.get(backend.__name__.partition(".")[0], backend)
    folders = [_CORE, *map(Path, getattr(top, "__path__", ()))]
    files = [file for folder in folders for file in sorted(folder.rglob("*.py")) if file.is_file()]
    files += [] if len(folders) > 1 or not getattr(top, "__file__", None) else [Path(str(top.__file__))]
    return _hashed(file.read_bytes().decode(errors="replace") for file in files)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # then the workload cannot run
        return ""


def _stable_repr(value: Any) -> str:
    """The repr without memory addresses, which differ between processes."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _hashed(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
