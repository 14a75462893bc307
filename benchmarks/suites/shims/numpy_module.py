"""NumPy's tests of its functions call those of xarrayops.numpy, on NumPy's arrays.

In each module of tests, ``np`` and the functions that it imported from NumPy become ours. Classes, constants, dtypes and
names that ours lacks stay NumPy's. Tests that call none of our functions are left out of the counts: they are skipped.
"""

from __future__ import annotations

import atexit
import functools
import inspect
import json
import os
from collections import Counter
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import xarrayops.numpy as ours
from xarrayops.numpy._ufunc import ufunc

CALLS: Counter[str] = Counter()
MODULES = ("linalg", "fft")
CREATION = {"array", "asarray", "asanyarray", "arange", "zeros", "ones", "empty", "full", "copy", "eye", "linspace"}
"""Functions that tests of other functions call to make their data: they do not make a test one of ours."""


def counted(name: str, function: Any) -> Any:
    """Our function, which counts its calls."""
    if isinstance(function, ufunc):
        return Counted(name, function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        CALLS[name] += 1
        return function(*args, **kwargs)

    return call


class Counted:
    """One of our ufuncs, which counts its calls."""

    def __init__(self, name: str, function: ufunc) -> None:
        self._name, self._function = name, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        CALLS[self._name] += 1
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        CALLS[self._name] += 1
        return getattr(self._function, name)


def is_function(value: Any) -> bool:
    return isinstance(value, ufunc) or inspect.isfunction(value)


def led(theirs: ModuleType, module: Any) -> ModuleType:
    """A module with NumPy's names, in which functions are ours."""
    made = ModuleType(theirs.__name__)
    made.__dict__.update(vars(theirs))
    made.__getattr__ = lambda name: getattr(theirs, name)  # type: ignore[method-assign]
    for name in dir(module):
        value = getattr(module, name)
        if is_function(value) and hasattr(theirs, name):
            setattr(made, name, REPLACED.setdefault(id(getattr(theirs, name)), counted(name, value)))
    return made


REPLACED: dict[int, Any] = {}
"""Our functions by the identity of NumPy's."""
NUMPY = led(np, ours)
for each in MODULES:
    setattr(NUMPY, each, led(getattr(np, each), getattr(ours, each)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Lead the names of the modules of tests to ours, after NumPy has made the parameters of the tests."""
    for module in {item.module for item in items}:  # type: ignore[attr-defined]
        for name, value in list(vars(module).items()):
            if value is np:
                setattr(module, name, NUMPY)
            elif any(value is getattr(np, each) for each in MODULES):
                setattr(module, name, getattr(NUMPY, value.__name__.rpartition(".")[2]))
            elif callable(value) and id(value) in REPLACED:
                setattr(module, name, REPLACED[id(value)])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Run a test; skip it afterwards if it passed without a function of ours."""
    before = Counter(CALLS)
    result = yield
    if not (CALLS - before).keys() - CREATION:
        pytest.skip("calls no function of ours")
    return result


@atexit.register
def write() -> None:
    if "SUITE_CALLS" in os.environ:
        with open(os.environ["SUITE_CALLS"], "w") as file:
            json.dump({"ours": sum(CALLS.values())}, file)
