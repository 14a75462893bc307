"""Exported functions, against the same steps in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import Unsupported
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.table import exercises
from xarrayops.testing._suite.variant import Variant, depends_on

ROWS = sample("float32", (6, 4))
W = sample("float32", (4, 3), seed=1)


def projected(x: Any, w: Any) -> Any:
    """A product of centred rows, and the positions of the maxima."""
    return xo.matmul(xo.subtract(x, xo.mean(x, axis=0)), w), xo.argmax(x, axis=1)


class ExportSuite:
    """Files of functions."""

    @depends_on()
    @exercises("export")
    @pytest.mark.parametrize("target", ["stablehlo", "pt2", "onnx"])
    def test_exported(self, variant: Variant, target: Literal["stablehlo", "pt2", "onnx"], tmp_path: Path) -> None:
        """Axis 0 may have another length than in the example; without an exporter the error says what to install."""
        x, w = variant.make(ROWS), variant.make(W)
        path = tmp_path / "f"
        try:
            file = xo.export(projected, x, w, target=target, path=path, dynamic={"x": {0: "n"}})
        except Unsupported as error:
            if "install" not in str(error):
                raise
            assert not path.exists()
            return
        more = np.concatenate([ROWS, ROWS[::-1] + 1])
        product, positions = file(variant.make(more), w)
        wide = more.astype("float64")
        check_array(variant, product, (wide - wide.mean(axis=0)) @ W, dtype="float32", ulps=64, normwise=True)
        check_array(variant, positions, np.argmax(more, axis=1), dtype=None)
