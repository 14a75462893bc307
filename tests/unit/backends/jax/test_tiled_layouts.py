"""Arrays of TPUs have tiled layouts, which no other library reads: `explain` says that they go through the host."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._ops.exchange import convert
from xarrayops.plugin import Device

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from xarrayops_backends.jax import _exchange  # noqa: E402


@pytest.fixture
def tiled(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An array as on a TPU: its layout is tiled, and its device is no host."""
    x = jnp.ones((8, 128), "float32")
    layout = SimpleNamespace(tiling=((8, 128),), major_to_minor=(0, 1))
    monkeypatch.setattr(type(x), "format", SimpleNamespace(layout=layout))
    monkeypatch.setattr(convert, "_shortcuts", {})  # of arrays of the host
    tpu = Device("tpu", "tpu:0", object(), "TPU v5 lite")
    monkeypatch.setattr(type(xo.backend("jax")), "device_of", lambda self, y: tpu if y is x else None)
    return x


def test_no_other_library_sees_the_memory(tiled: Any) -> None:
    assert _exchange.memory(tiled) is None


@pytest.mark.parametrize("library", ["numpy", "torch", "dask"])
def test_explain_says_that_it_goes_through_the_host(tiled: Any, library: str) -> None:
    pytest.importorskip(library)
    plan = xo.explain("convert", tiled, library)
    assert plan.action == "copy"
    assert "the host, 4096 bytes" in plan.reason
    np.testing.assert_array_equal(xo.convert(xo.convert(tiled, library), "numpy"), np.ones((8, 128)))
    with pytest.raises(xo.errors.ExchangeError):
        xo.convert(tiled, library, copy=False)
