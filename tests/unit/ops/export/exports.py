"""Shared by the tests of exports."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import xarrayops as xo

random = np.random.default_rng(0)
X = random.normal(size=(6, 4)).astype("float32")
W = random.normal(size=(4, 3)).astype("float32")
NEEDS = {"onnx": ("torch", "onnxscript"), "pt2": ("torch",), "torchscript": ("torch",), "stablehlo": ("jax",)}
"""The packages that each format needs."""


def needed(target: str) -> None:
    """Skip the test where a package is missing."""
    for package in NEEDS[target]:
        pytest.importorskip(package, exc_type=ImportError)


def exported(*arguments: Any, **options: Any) -> xo.Exported:
    """The exported function, without the warning about TorchScript."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return xo.export(*arguments, **options)
