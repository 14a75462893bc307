"""A library that is no one's: what calls must refuse to mix with."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any


@dataclass(frozen=True)
class ForeignDtype:
    """A dtype of the foreign library."""

    name: str


class ForeignArray:
    """An array of the foreign library: no more than a class that says so."""

    dtype = ForeignDtype("float64")
    device = "foreign"
    shape = (2,)
    ndim = 1

    def __array_namespace__(self, api_version: str | None = None) -> ModuleType:
        """The foreign namespace."""
        return foreign


foreign = ModuleType("xarrayops_foreign")
vars(foreign).update(
    __array_api_version__="2025.12",
    __array_namespace_info__=lambda: SimpleNamespace(devices=lambda: ("foreign",)),
    empty=lambda shape, **options: ForeignArray(),
    float64=ForeignArray.dtype,
)
for _class in (ForeignArray, ForeignDtype):
    _class.__module__ = foreign.__name__
sys.modules.setdefault(foreign.__name__, foreign)


def foreigners(variant: Any) -> dict[str, Any]:
    """Arrays that are not of the variant's library, by that library's name; NumPy's scalars are NumPy arrays."""
    import numpy as np

    found: dict[str, Any] = {foreign.__name__: ForeignArray()}
    if not issubclass(np.ndarray, variant.backend.module.ARRAY_TYPES):
        found["numpy"] = np.zeros(2)
    return found
