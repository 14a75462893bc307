"""The number of our functions that a repeated call enters: look-ups are cached, and misses too."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
import xarrayops.numpy as xnp
from tests.entered import entered

OURS = (str(Path(xo.__file__).parent), str(Path(xo.backend("numpy").module.__file__).parents[1]))
X = np.ones((4, 4))
QUERY = np.ones((1, 2, 4, 8), np.float32)
jitted = xo.jit(lambda x: xo.add(x, 1.0))


def functions(call: Callable[[], Any]) -> list[str]:
    """Our functions that a repeated call enters: comprehensions and lambdas aside."""
    for _ in range(3):
        call()
    codes = [each.code for each in entered(call)]
    ours = [x for x in codes if x.co_filename.startswith(OURS) and not x.co_name.startswith("<")]
    return [f"{Path(x.co_filename).stem}.{x.co_name}" for x in ours]


@pytest.mark.parametrize(
    ("call", "most"),
    [
        pytest.param(lambda: xo.add(X, X), 1, id="add"),
        pytest.param(lambda: xo.zeros((2, 2)), 4, id="zeros"),
        pytest.param(lambda: xo.asarray([1.0, 2.0]), 9, id="asarray"),
        pytest.param(lambda: xo.sparse.from_dense(X), 60, id="from_dense"),
        pytest.param(lambda: jitted(X), 20, id="jit"),
        pytest.param(lambda: xnp.sum(X, 0), 12, id="numpy.sum"),
    ],
)
def test_functions_entered(call, most):
    names = functions(call)
    assert len(names) <= most, names


def test_convert_by_an_array_has_a_shortcut():
    torch = pytest.importorskip("torch")
    target = torch.ones(2)
    names = functions(lambda: xo.convert(X, target))
    assert len(names) <= 6, names


def test_attention_before_its_kernel():
    names = functions(lambda: xo.attention(QUERY, QUERY, QUERY))
    assert names.index("attention.attention") <= 25, names


def test_misses_are_remembered():
    """A class that is not an array is examined once."""
    from xarrayops._core.backends import registry

    class Other:
        pass

    for _ in range(2):
        with pytest.raises(xo.BackendNotFound):
            xo.backend(Other())
    assert registry.refused_class(Other) is None
    assert not any(name.endswith("_libraries_of") for name in functions(lambda: registry.examine(Other)))
