"""relayout finds its backend once: a limit on the calls from one of our modules to another."""

import numpy as np
import pytest

import xarrayops as xo
from tests.entered import entered

LIMIT = 12
POOL = "xarrayops._host.threads"


def is_ours(module):
    return module.partition(".")[0] in ("xarrayops", "xarrayops_backends")


def crossings(call):
    """The calls from one of our modules to another: (calling module, called module, function).

    The calls of the pool are shares of the copy itself, most of them in other threads; the caller takes one too.
    """
    found = [each for each in entered(call) if is_ours(each.caller) and is_ours(each.module)]
    return [(each.caller, each.module, each.code.co_name) for each in found if each.caller not in (each.module, POOL)]


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
