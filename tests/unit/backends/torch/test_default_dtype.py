"""The default dtype of PyTorch is that of new tensors, not of results."""

from __future__ import annotations

import pytest

import xarrayops as xo
from xarrayops._core.backends.namespace import lookup
from xarrayops._surface import EXTRA, ROLES, SURFACE

torch = pytest.importorskip("torch")
NAMES = [name for name in (*SURFACE, *EXTRA) if [*(ROLES.get(name) or {}).values()].count("array") >= 1]


@pytest.fixture
def default():
    yield torch.set_default_dtype
    torch.set_default_dtype(torch.float32)


def dtypes(name, arguments):
    """The dtypes of the results, or the class of the error."""
    try:
        found = lookup(xo, name)(*arguments)
    except Exception as error:
        return type(error)
    return [getattr(x, "dtype", None) for x in (found if isinstance(found, tuple | list) else [found])]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("dtype", ["float32", "complex64", "float16"])
@pytest.mark.parametrize("name", NAMES)
def test_results_do_not_depend_on_it(name, dtype, default):
    x = torch.asarray([[0.5, -1.5, 0.25], [1.0, 0.0, 2.0], [0.125, 3.0, 0.75]], dtype=getattr(torch, dtype))
    for arguments in ((x,), (x, x), (x[0],), (x[0], x[0])):
        default(torch.float32)
        expected = dtypes(name, arguments)
        default(torch.float64)
        assert dtypes(name, arguments) == expected
