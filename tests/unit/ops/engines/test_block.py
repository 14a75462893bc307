"""The block of engines: names, threads and the environment variable."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.modes import tables as modes
from xarrayops._ops.engines import active

X = np.ones((4, 4))


def chosen(verb="sort"):
    return xo.explain(verb, X).chosen


def test_names_are_checked():
    with pytest.raises(TypeError, match="names of backends"):
        xo.engines(np)
    with pytest.raises(xo.BackendNotFound, match="unknown"):
        xo.engines("unknown")


def test_blocks_nest():
    pytest.importorskip("torch", exc_type=ImportError)
    before = modes.active()
    with xo.engines("torch"):
        with xo.engines():
            assert active() == ()
            assert chosen() == "numpy:sort"
        assert chosen() == "torch:sort"
    assert active() == ()
    assert chosen() == "numpy:sort"
    assert modes.active() is before


def test_a_block_is_local_to_its_thread():
    pytest.importorskip("torch", exc_type=ImportError)
    found = []
    with xo.engines("torch"):
        thread = threading.Thread(target=lambda: found.append((active(), chosen())))
        thread.start()
        thread.join()
    assert found == [((), "numpy:sort")]


def test_the_environment_variable():
    pytest.importorskip("torch", exc_type=ImportError)
    code = """
import numpy as np, xarrayops as xo
x = np.asarray([3.0, 1.0])
assert xo.explain("sort", x).chosen == "torch:sort"
result = xo.sort(x)
assert result.base is not None or not result.flags.owndata, "memory of PyTorch"
with xo.engines():
    assert xo.explain("sort", x).chosen == "numpy:sort"
"""
    environment = os.environ | {"XARRAYOPS_ENGINES": "torch"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_explain_says_why_an_engine_is_passed_over():
    pytest.importorskip("torch", exc_type=ImportError)
    backward, integers = X[::-1], np.arange(4)
    with xo.engines("torch"):
        assert xo.explain("sort", backward).candidates[0].copies == (
            f"copies argument 1, {X.nbytes} bytes: negative strides, which PyTorch lacks (pytorch#188023)",
        )
        mixed = xo.explain("add", integers, np.ones(4, dtype="float32"))
        assert mixed.candidates[0].reason == "int64, float32 give float64 in numpy, and float32 in torch"
        assert mixed.chosen == "numpy:add"
        assert "view" in xo.explain("reshape", X, (16,)).candidates[0].reason
        assert [c.name for c in xo.explain("zeros", 3).candidates] == ["numpy:zeros"]
        assert [c.name for c in xo.explain("sort", X).candidates] == ["torch:sort", "numpy:sort"]
