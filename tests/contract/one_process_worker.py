"""Changes a process by the actions that are given, and runs a part of the contract in it: ACTION ... START STEP.

Exports trace libraries with functions replaced, compilation fills their caches, and the modes set their switches. The
tests that follow must not see any of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import xarrayops as xo

LIBRARIES = ("torch", "jax", "dask", "numpy")


def two(library: str) -> Any:
    return xo.asarray([1e-8, 1.0], dtype="float32", backend=library)


def function(x: Any) -> Any:
    return xo.expm1(x) + xo.log1p(x) + xo.sum(xo.softmax(xo.sort(x)))


def refused(x: Any) -> Any:
    """Neither compiled nor exported: it needs a value."""
    return x if float(function(x)[0]) > 0 else -x


def export() -> None:
    with TemporaryDirectory() as folder:
        for library in LIBRARIES:
            for target in ("onnx", "stablehlo", "pt2"):
                for each in (function, refused, lambda x: xo.real(xo.fft.fft(x))):
                    with suppress(xo.XArrayOpsError):
                        xo.export(each, two(library), target=target, path=f"{folder}/exported")


def jit() -> None:
    for library in LIBRARIES:
        for each in (function, refused):
            with suppress(xo.XArrayOpsError):
                xo.jit(each)(two(library))
        with suppress(xo.XArrayOpsError):
            xo.vmap(xo.grad(lambda x: xo.sum(function(x))))(xo.stack([two(library)] * 2))


def precision() -> None:
    for library in LIBRARIES:
        x = xo.ones((4, 4), dtype="float32", backend=library)
        for mode in (xo.precision(products="tf32"), xo.autocast("bfloat16")):
            with suppress(ValueError), mode:
                xo.matmul(x, x)
                raise ValueError


def strict() -> None:
    for library in LIBRARIES:
        with suppress(xo.XArrayOpsError), xo.strict(transfers=0):
            np.asarray(xo.sum(two(library)))


def profile() -> None:
    with xo.profile(show=False):
        for library in LIBRARIES:
            float(xo.sum(function(two(library))))


ACTIONS: dict[str, Callable[[], None]] = {each.__name__: each for each in (export, jit, precision, strict, profile)}


class Part:
    """Selects one test in STEP."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        start, step = map(int, sys.argv[-2:])
        items[:] = items[start::step]


if __name__ == "__main__":
    for action in sys.argv[1:-2]:
        ACTIONS[action]()
    options = ("-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=short", "--every-test")
    sys.exit(pytest.main([*options, "tests/contract/test_contract.py"], plugins=[Part()]))
