"""NumPy's tests of its functions call those of xarrayops.numpy, on NumPy's arrays.

In each module of tests, ``np`` and the functions that it imported from NumPy become ours. Classes, constants, dtypes
and names that ours lacks stay NumPy's. Tests that call none of our functions are left out: they count as skipped.
"""

from __future__ import annotations

import atexit
import inspect
import json
import os
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy._core._rational_tests
import numpy._core._umath_tests
import numpy.ma
import numpy.random
import numpy.testing
import pytest

import xarrayops.numpy as ours
from xarrayops.numpy._ufunc import ufunc

CALLS: Counter[str] = Counter()
MODULES = ("linalg", "fft")
CREATION = {"array", "asarray", "asanyarray", "arange", "zeros", "ones", "empty", "full", "copy", "eye", "linspace"}
"""Functions that tests of other functions call to make their data: they do not make a test one of ours."""


class Led:
    """A function of ours instead of NumPy's, which counts its calls. Outside of tests NumPy's serves."""

    running = False

    def __init__(self, name: str, function: Any, theirs: Any) -> None:
        self._name, self._function, self._theirs = name, function, theirs
        self.__name__, self.__doc__ = theirs.__name__, theirs.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call ours in a test, and NumPy's outside."""
        return self._served()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._served(), name)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self._theirs

    def __hash__(self) -> int:
        return hash(self._theirs)

    def _served(self) -> Any:
        CALLS[self._name] += Led.running
        return self._function if Led.running else self._theirs


def is_function(value: Any) -> bool:
    """Whether a public object of ours is a function or a ufunc."""
    return isinstance(value, ufunc) or inspect.isfunction(value)


def led(theirs: ModuleType, module: Any) -> ModuleType:
    """A module with NumPy's names, in which functions are ours."""
    made = ModuleType(theirs.__name__)
    made.__dict__.update(vars(theirs))
    made.__getattr__ = lambda name: getattr(theirs, name)  # type: ignore[method-assign]
    for name in dir(module):
        value = getattr(module, name)
        if is_function(value) and hasattr(theirs, name):
            setattr(made, name, REPLACED.setdefault(id(getattr(theirs, name)), Led(name, value, getattr(theirs, name))))
    return made


REPLACED: dict[int, Any] = {}
"""Our functions by the identity of NumPy's."""
LED = {"numpy": led(np, ours)} | {f"numpy.{each}": led(getattr(np, each), getattr(ours, each)) for each in MODULES}
for each in MODULES:
    setattr(LED["numpy"], each, LED[f"numpy.{each}"])


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> pytest.Module:
    """Import a module of tests, in which the names of NumPy lead to ours."""
    collected = pytest.Module.from_parent(parent, path=module_path)
    theirs = {name: sys.modules[name] for name in LED}
    sys.modules.update(LED)
    try:
        assert collected.obj is not None
    finally:
        sys.modules.update(theirs)
    return collected


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Run a test; skip it afterwards if it passed without a function of ours."""
    before, Led.running = Counter(CALLS), True
    try:
        result = yield
    finally:
        Led.running = False
    if not (CALLS - before).keys() - CREATION:
        pytest.skip("calls no function of ours")
    return result


@atexit.register
def write() -> None:
    """Write the number of calls for the runner."""
    if "SUITE_CALLS" in os.environ:
        Path(os.environ["SUITE_CALLS"]).write_text(json.dumps({"ours": sum(CALLS.values())}))
