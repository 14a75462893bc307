"""relayout finds its backend once: a limit on the calls from one of our modules to another."""

import sys

import numpy as np
import pytest

import xarrayops as xo

LIMIT = 12


def module_of(frame):
    name = frame.f_globals.get("__name__", "") if frame else ""
    return name if name.partition(".")[0] in ("xarrayops", "xarrayops_backends") else None


def crossings(call):
    """The calls from one of our modules to another: (calling module, called module, function)."""
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
def test_relayout_stays_within_the_limit(shape, pattern):
    x = np.zeros(shape, dtype=np.float32)
    xo.relayout(x, pattern)  # the first call loads the backend and plans the copy
    found = crossings(lambda: xo.relayout(x, pattern))
    assert 5 <= len(found) <= LIMIT, "\n".join(map(" -> ".join, found))
    assert not [step for step in found if step[1] == "xarrayops.standard"], "a step dispatches again"


def test_the_limit_can_be_exceeded():
    """Two calls exceed the limit for one, and a step that dispatches again is detected."""
    x = np.zeros((8, 64, 56, 56), dtype=np.float32)

    def twice():
        xo.relayout(x, "NCHW -> NHWC")
        xo.relayout(x, "NCHW -> NHWC")

    assert len(crossings(twice)) > LIMIT
    assert ("xarrayops.standard", "xarrayops_backends.numpy._guard", "checked") in crossings(lambda: xo.flip(x))
