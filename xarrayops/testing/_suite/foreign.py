"""A minimal array library without a backend, and the check that a call refuses its arrays with those of another."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.variant import Variant


@dataclass(frozen=True)
class ForeignDtype:
    """A dtype of the foreign library."""

    name: str


class ForeignArray:
    """An array of the foreign library, without values."""

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


def foreign_arrays(variant: Variant) -> dict[str, Any]:
    """Arrays of libraries other than the variant's, by the name of their library."""
    found: dict[str, Any] = {foreign.__name__: ForeignArray()}
    if not issubclass(np.ndarray, variant.backend.module.ARRAY_TYPES):
        found["numpy"] = np.zeros(2)
    return found


def check_mixed(variant: Variant, verb: str, use: Callable[[Any], Any]) -> None:
    """Check that a call with an array of another library raises, and that the message says what to do instead."""
    for library, foreign in foreign_arrays(variant).items():
        with pytest.raises(xo.MixedBackends) as caught:
            use(foreign)
        for part in (f"xo.{verb}", variant.backend.name, library, "xo.convert("):
            assert part in str(caught.value), f"the message lacks {part!r}: {caught.value}"
