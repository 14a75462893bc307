"""The flags of compilers for CUDA and HIP that select the architectures of devices."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CHOSEN = ("-arch", "--arch", "-gencode", "--generate-code", "--gpu-", "--offload-arch", "--amdgpu-target")
"""The beginnings of a user's own flags for architectures."""
DEFAULTS = {"cuda": ("8.0", "9.0", "10.0"), "rocm": ("gfx90a", "gfx942")}
"""The compute capabilities without a known device."""
_BLACKWELL = (12, 8)
"""The first version of CUDA that compiles for compute capability 10.0."""


def architecture_flags(device: str, capabilities: Sequence[str], flags: Sequence[str], version: str) -> list[str]:
    """The flags for devices with these compute capabilities; none if the user's flags have one.

    ``version`` is the compiler's output about its version. Without a known device the library serves many: it has code
    for the usual ones, and PTX, which the driver compiles for newer ones.
    """
    if device not in DEFAULTS or any(flag.startswith(_CHOSEN) for flag in flags):
        return []
    wanted = sorted(set(capabilities)) or DEFAULTS[device]
    if device == "rocm":
        return [f"--offload-arch={each}" for each in wanted]
    release = re.search(r"release (\d+)\.(\d+)", version)
    if not capabilities and release and tuple(map(int, release.groups())) < _BLACKWELL:
        wanted = wanted[:-1]
    code = [f"arch=compute_{each},code=sm_{each}" for each in map(_name, wanted)]
    ptx = [] if capabilities else ["arch=compute_80,code=compute_80"]
    return [word for each in [*code, *ptx] for word in ("-gencode", each)]


def _name(capability: str) -> str:
    """The architecture of a compute capability: for 9.0 the one with its matrix instructions."""
    name = capability.replace(".", "")
    return f"{name}a" if name == "90" else name
