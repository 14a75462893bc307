"""What the contract leaves to the libraries: each row of its table still differs, as the table says."""

import platform
import re
from pathlib import Path

import numpy as np
import pytest

import xarrayops as xo

PAGE = Path(__file__).parents[3] / "docs" / "contract.md"
LIBRARIES = ("numpy", "torch", "jax", "dask")
ROW = re.compile(r"^\| (?P<what>.+?) \| `(?P<call>xo\..+?)` \| (?P<found>.+?) \|$", re.MULTILINE)
ROWS = {found["call"]: found["found"].split(" | ")[:4] for found in ROW.finditer(PAGE.read_text())}
"""The values that the page gives for the four libraries, by the call."""

ORDERING = ("xo.topk", "xo.argsort", "xo.argpartition")
"""Functions whose order of equal elements depends on the instructions that NumPy finds on the processor."""


class Calls:
    """xo, with arrays of one library for lists."""

    def __init__(self, library, functions=xo):
        self.library, self.functions = library, functions

    def __getattr__(self, name):
        function = getattr(self.functions, name)
        return lambda *args, **options: function(*map(self.array, args), **options)

    def array(self, given, dtype=None):
        return xo.convert(np.asarray(given, dtype), self.library) if isinstance(given, list) else given


def values(call, library):
    """The values of a call as the page shows them; "error" if it raises."""
    xo_of = Calls(library)
    dtypes = ("int8", "uint8", "uint32", "int32", "float32", "float64")
    scope = {name: lambda given, name=name: xo_of.array(given, name) for name in dtypes}
    try:
        found = eval(call, scope | {"xo": xo_of, "inf": np.inf, "nan": np.nan})
        parts = [
            np.asarray(xo.convert(xo.compute(x), "numpy")) for x in (found if isinstance(found, tuple) else [found])
        ]
    except (ArithmeticError, RuntimeError, ValueError, TypeError):
        return "error"
    return ", ".join(str(value) for value in parts[-1].reshape(-1))


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:var:UserWarning")
@pytest.mark.parametrize("call", ROWS)
def test_a_row_of_the_contract(call):
    jax = pytest.importorskip("jax")
    for library in LIBRARIES:
        pytest.importorskip(library)
    with jax.enable_x64(True):
        found = [values(call, library) for library in LIBRARIES]
    assert len(set(found)) > 1
    if platform.machine() == "x86_64" and not call.startswith(ORDERING):
        assert found == ROWS[call]


def test_the_table_is_read():
    assert len(ROWS) >= 25
