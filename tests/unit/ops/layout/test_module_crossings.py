"""How often a call of relayout, which finds its backend once, passes from one of our modules to another."""

import sys

import numpy as np
import pytest

import xarrayops as xo

LIMIT = 12


def module_of(frame):
    name = frame.f_globals.get("__name__", "") if frame else ""
    return name if name.partition(".")[0] in ("xarrayops", "xarrayops_backends") else None


def crossings(call):
    """The calls from a function of one of our modules to a function of another: (caller, called, function)."""
    found = []

    def watch(frame, event, argument):
        caller, called = module_of(frame.f_back), module_of(frame)
        if event == "call" and caller and called and caller != called:
            found.append((caller, called, frame.f_code.co_name))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (8, 64, 56, 56)])
@pytest.mark.parametrize("pattern", ["NCHW -> NHWC", "NCHW -> NCHW16c"])
def test_relayout(shape, pattern):
    x = np.zeros(shape, dtype=np.float32)
    xo.relayout(x, pattern)  # the first call loads the backend and plans the copy
    found = crossings(lambda: xo.relayout(x, pattern))
    assert 5 <= len(found) <= LIMIT, "\n".join(map(" -> ".join, found))
    assert not [step for step in found if step[1] == "xarrayops.standard"], "a step dispatches anew"


def test_the_count_can_fail():
    """The same steps by the public functions pass through dispatch each time."""
    x = np.zeros((8, 64, 56, 56), dtype=np.float32)

    def by_public_functions():
        parts = xo.permute_dims(xo.contiguous(x), (0, 2, 3, 1))
        return xo.contiguous(xo.relayout(parts, "NHWC -> NCHW"))

    by_public_functions()
    assert len(crossings(by_public_functions)) > LIMIT
