"""CUDA sources that run on the CPU: a header maps CUDA's built-ins to C++, and the installed compiler builds them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from xarrayops._system import compiler

HEADER = Path(__file__).with_suffix(".h")
FLAGS = ("-ffp-contract=off", "-w")
"""Without the first one, compilers for some processors contract ``a * b + c``."""


@cache
def kernel(source: str, name: str) -> Callable[..., None]:
    """The kernel of a source as a function of the grid, the block, and ctypes objects for its arguments."""
    entry = f'extern "C" void run(const unsigned* shape, void** arguments) {{ launch({name}, shape, arguments); }}\n'
    text = f'#include "{HEADER.name}"\n{source}\n{entry}'
    sources = {f"{name}.cc": text, HEADER.name: HEADER.read_text()}
    run = ctypes.CDLL(str(compiler.shared_library(sources, flags=FLAGS, includes=(), key=""))).run

    def launch(grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any]) -> None:
        addresses = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        run((ctypes.c_uint * 6)(*grid, *block), addresses)

    return launch
