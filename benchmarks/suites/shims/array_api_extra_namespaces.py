"""array-api-extra finds our namespaces.

Its test harness, and ``lazy_apply``, which is about libraries more than about namespaces, also recognise the libraries
behind them. The other functions do not, so that they call nothing but the namespace.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import array_api_compat
import pytest

import xarrayops as xo

LIBRARY = os.environ["SUITE_LIBRARY"]
FIXTURES = ("library", "da", "jnp", "torch")
"""The fixtures of the suite that stand for a library."""
PACKAGE = "array_api_extra"
COMPAT = f"{PACKAGE}._lib._compat"
RECOGNISING = [importlib.import_module(f"{PACKAGE}.{name}") for name in ("testing._testing", "_lazy")]


def array_namespace(*arrays: Any, api_version: str | None = None, use_compat: bool | None = None) -> Any:
    """Our namespace of the arrays. Other objects get the answer of array-api-compat, which the suite expects."""
    kept = [x for x in arrays if array_api_compat.is_array_api_obj(x)]
    return xo.array_namespace(*kept) if kept else array_api_compat.array_namespace(*arrays)


def recognises(library: str) -> Callable[[Any], bool]:
    """A function that also recognises our namespace of a library."""
    original = getattr(array_api_compat, f"is_{library}_namespace")
    return lambda xp: original(xp) or getattr(xp, "__name__", "") == f"xarrayops.namespaces.{library}"


def recognising_compat() -> ModuleType:
    """array-api-extra's module of helpers, which recognises our namespaces."""
    module = ModuleType(COMPAT)
    vars(module).update(vars(sys.modules[COMPAT]))
    for library in ("numpy", "torch", "jax", "dask"):
        setattr(module, f"is_{library}_namespace", recognises(library))
    return module


for module_name, loaded in list(sys.modules.items()):
    if module_name.startswith(PACKAGE) and hasattr(loaded, "array_namespace"):
        loaded.array_namespace = array_namespace
for loaded in RECOGNISING:
    loaded._compat = recognising_compat()


def library_of(item: pytest.Item) -> str:
    """The library that a test runs on; tests without one run on NumPy alone."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    backend = next((params[name] for name in FIXTURES if name in params), None)
    return "numpy" if backend is None else backend.modname.partition(".")[0]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests on one library."""
    config.hook.pytest_deselected(items=[item for item in items if library_of(item) != LIBRARY])
    items[:] = [item for item in items if library_of(item) == LIBRARY]


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Any:
    """Torch's device. The suite takes it from the module, and a namespace of the standard has no devices by name."""
    if fixturedef.argname != "device" or LIBRARY != "torch":
        return None
    import torch

    device = torch.device("meta")
    fixturedef.cached_result = (device, fixturedef.cache_key(request), None)
    return device
