"""CUDA sources that run on the CPU: a header maps CUDA's built-ins to C++, and the installed compiler builds them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from xarrayops._system import compiler

HEADER = Path(__file__).with_suffix(".h")
FLAGS = ("-ffp-contract=off", "-w")
"""Without the first one, compilers for some processors contract ``a * b + c``."""


@cache
def kernel(source: str, name: str) -> Any:
    """The kernel of a source as a function of the grid, the block, and ctypes objects for its arguments.

    Its attribute ``at`` takes the addresses of the arguments, as the driver's function does.
    """
    entry = f'extern "C" void run(const unsigned* shape, void** arguments) {{ launch({name}, shape, arguments); }}\n'
    text = f'#include "{HEADER.name}"\n{source}\n{entry}'
    sources = {f"{name}.cc": text, HEADER.name: HEADER.read_text()}
    run = ctypes.CDLL(str(compiler.shared_library(sources, flags=FLAGS, includes=(), key=""))).run

    def at(shape: Sequence[int], addresses: Any) -> None:
        """The call with the grid and the block, and the addresses of the arguments."""
        run((ctypes.c_uint * 6)(*shape), addresses)

    def launch(grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any]) -> None:
        at((*grid, *block), (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments)))

    vars(launch)["at"] = at
    return launch
