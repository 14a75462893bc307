"""Where workloads come from: modules and files, each with its ``WORKLOADS``."""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

from xarrayops.bench.workload import Workload

BUILT_IN = "xarrayops.bench.workloads"
_FILES = "_workloads_"
_ORACLES = ("numpy", "scipy")
_CORE = Path(__file__).parents[1]


def load(sources: Sequence[str]) -> tuple[Workload, ...]:
    """The workloads of modules, named as in an import, and of files, whose names end in ``.py``; names are unique.

    Raises
    ------
    ValueError
        A source cannot be imported or holds no workloads, or two share a name; the message says which and why.
    """
    found: dict[str, Workload] = {}
    for source in sources:
        try:
            _add(source, found)
        except ValueError:
            sys.modules.pop(_name(source), None)  # what a faulty file left there is nobody's workload
            raise
    return tuple(found.values())


def _add(source: str, found: dict[str, Workload]) -> None:
    try:
        listed = tuple(_module(source).WORKLOADS)
    except AttributeError:
        raise ValueError(f"{source} has no WORKLOADS: a tuple of xarrayops.bench.Workload is looked for") from None
    except Exception as error:  # whatever a file of the user's raises
        raise ValueError(f"{source} cannot be imported: {type(error).__name__}: {error}") from error
    for workload in listed:
        if not isinstance(workload, Workload):
            raise ValueError(f"{source} has {workload!r} among its WORKLOADS; make it an xarrayops.bench.Workload")
        if workload.name in found:
            raise ValueError(f"{source} has a workload {workload.name!r}, and so has another source; rename one")
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
        sys.path.append(str(path.parent))  # it may import its neighbours, which hide no library
    sys.modules[name] = module  # inspect finds the source of functions through it
    spec.loader.exec_module(module)
    return module


def _name(source: str) -> str:
    """What a file is called among the modules, as no library is."""
    return f"{_FILES}{hashlib.sha256(str(Path(source).resolve()).encode()).hexdigest()[:8]}"


def file_of(workload: Workload) -> str:
    """The file that a workload was loaded from; empty if it came from a module."""
    files = [module for name, module in sys.modules.items() if name.startswith(_FILES)]
    return next((str(file.__file__) for file in files if workload in file.WORKLOADS), "")


def code_of(workload: Workload) -> str:
    """The source of what is timed, or what is said of it where that is no function of Python."""
    try:
        return inspect.getsource(workload.plain_function)
    except (OSError, TypeError):
        return workload.timed


def digest(workload: Workload) -> str:
    """Changes when the code of a workload does: that of its function's and its inputs' whole modules.

    Of what is NumPy's or SciPy's, as oracles often are, the name says enough.
    """
    parts = [repr(workload.sizes)]
    for function in (workload.function, workload.inputs, workload.expected, workload.arrange):
        while isinstance(function, partial):
            parts += [_told(function.args), _told(function.keywords)]
            function = function.func
        module = inspect.getmodule(function)
        known = module is None or module.__name__.partition(".")[0] in _ORACLES
        try:
            parts.append(_told(function) if known or module is None else inspect.getsource(module))
        except (OSError, TypeError):
            parts.append(workload.timed)
    return _hashed(parts)


def library_digest(backend: ModuleType) -> str:
    """Changes when the code of xarrayops does, or that of the backend's top package, in which backends share code."""
    top = sys.modules.get(backend.__name__.partition(".")[0], backend)
    folders = [_CORE, *map(Path, getattr(top, "__path__", ()))]
    files = [file for folder in folders for file in sorted(folder.rglob("*.py")) if file.is_file()]
    files += [] if len(folders) > 1 or not getattr(top, "__file__", None) else [Path(str(top.__file__))]
    return _hashed(file.read_bytes().decode(errors="replace") for file in files)


def _told(value: Any) -> str:
    """Its repr without addresses, which differ from process to process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _hashed(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
