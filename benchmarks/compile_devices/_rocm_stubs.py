"""Stand-ins for the ROCm libraries, which no package index has, so that XLA's plug-in for ROCm can be loaded.

XLA calls them to find GPUs and to run programs, and not to compile. Each function reports that it failed.
"""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

_LIBRARIES = {
    "rocprofiler": "librocprofiler-sdk.so.1",
    "nccl": "librccl.so.1",
    "hipblasLt": "libhipblaslt.so.1",
    "hipblas": "libhipblas.so.3",
    "hipsolver": "libhipsolver.so.1",
    "hipsparse": "libhipsparse.so.4",
    "rocsolver": "librocsolver.so.0",
    "hipfft": "libhipfft.so.0",
    "miopen": "libMIOpen.so.1",
    "rocblas": "librocblas.so.5",
    "rsmi": "librocm_smi64.so.1",
    "__hip": "libamdhip64.so.7",
    "hip": "libamdhip64.so.7",
}
"""The library of the functions with each prefix. The first prefix that fits counts."""
_OTHER = "libhipblaslt.so.1"
"""The library of functions in C++."""
_PYTHONS = ("Py", "_Py")
_FAILURE, _SUCCESS = 100, 0


def make(plug_ins: Iterable[Path], folder: Path) -> None:
    """Write a library for each of those whose functions the parts of the plug-in take from outside."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = _wanted(plug_ins)
    for library in sorted({*_LIBRARIES.values()}):
        versions = wanted.get(library, {})
        names = sorted({name for each in versions.values() for name in each})
        source, script = folder / "stub.c", folder / "stub.map"
        source.write_text("".join(f"long {name}(void) {{ return {_result(name)}; }}\n" for name in names) or "int x;\n")
        given, before = [], ""
        for version in sorted(filter(None, versions)):
            given.append(f"{version} {{ global: {'; '.join(sorted(versions[version]))}; }} {before};\n")
            before = version
        script.write_text("".join(given))
        command = ["gcc", "-shared", "-fPIC", "-w", "-o", folder / library, source, f"-Wl,-soname,{library}"]
        subprocess.run([*command, *([f"-Wl,--version-script={script}"] if given else [])], check=True)


def _wanted(plug_ins: Iterable[Path]) -> dict[str, dict[str, set[str]]]:
    """The names that the plug-in takes from each library, by their version."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    command = ["nm", "--dynamic", "--undefined-only", "--no-sort", "--quiet", *plug_ins]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        kind, symbol = ["", "", *line.split()][-2:]
        name, _, version = symbol.partition("@")
        version = version.lstrip("@")
        if kind == "U" and not version.startswith(("GLIBC", "GCC", "CXXABI")) and not name.startswith(_PYTHONS):
            library = next((each for prefix, each in _LIBRARIES.items() if name.startswith(prefix)), _OTHER)
            found[library][version].add(name)
    return found


def _result(name: str) -> int:
    """What a function returns. Those that XLA calls while it is loaded succeed."""
    return _SUCCESS if name.startswith("__hip") or name == "hipInit" or "Version" in name else _FAILURE
