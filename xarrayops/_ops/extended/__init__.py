"""Functions that the standard lacks, under NumPy's names and with NumPy's meaning.

Each module here is generated from a section of tools/extended.pyi, and imported when one of its functions is needed.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from xarrayops._surface import TOPICS


def module_of(name: str) -> ModuleType:
    """The module with a function of `EXTENDED` at the top level."""
    return import_module(f"{__name__}.{TOPICS[name]}")
