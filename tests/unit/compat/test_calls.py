"""Thousands of calls of each namespace and of array-api-compat's: where they differ, and why."""

from __future__ import annotations

from collections import Counter
from importlib import import_module

import numpy as np
import pytest

from tests.unit.compat.calls import calls, described, operands_of_numpy, operands_of_torch, outcome
from xarrayops import compat
from xarrayops._core.backends.namespace import lookup

REDUCTIONS = "linalg.trace cumulative_prod cumulative_sum prod sum"
ELEMENTWISE = "add atan2 copysign divide floor_divide hypot logaddexp maximum minimum multiply nextafter pow subtract"


def is_unsigned(args):
    return str(args[0].dtype).startswith("torch.uint")


def has_rank_zero_and_half(args):
    return any(str(x.dtype) == "torch.float16" for x in args) and any(x.ndim == 0 for x in args)


def is_complex(args):
    return args[0].dtype.kind == "c" if isinstance(args[0], np.ndarray) else args[0].is_complex()


def has_infinity_or_zero(args):
    return any(not np.isfinite(x).all() or not np.all(x) for x in args)


def is_real_with_complex(args):
    return {x.is_complex() for x in args} == {True, False}


def always(args):
    return True


DIFFERENT = {
    "numpy": [
        ("floor_divide", has_infinity_or_zero, "quotients of infinities"),
        ("sign", is_complex, "the sign of a complex infinity is NumPy's, and array-api-compat gives NaN"),
    ],
    "torch": [
        (REDUCTIONS, is_unsigned, "the result of unsigned integers is uint64"),
        (ELEMENTWISE, has_rank_zero_and_half, "promotion depends on dtypes only"),
        ("acos expm1 log1p tanh", is_complex, "special values of complex numbers"),
        ("vecdot", is_real_with_complex, "the sign of zeros in the imaginary part"),
        ("finfo iinfo", always, "the limits have the dtype, and PyTorch's its name"),
    ],
}
"""By library, the functions whose results differ, for which arguments, and why."""
ERRORS = {
    (RuntimeError, ValueError),
    (RuntimeError, IndexError),
    (RuntimeError, NotImplementedError),
    (NotImplementedError, RuntimeError),
    (NotImplementedError, AttributeError),
    (AttributeError, TypeError),
    (AttributeError, ValueError),
    (TypeError, ValueError),
}
"""The classes of errors: array-api-compat's, and ours, which is the usual one of Python where they differ."""
WORK = {
    "numpy": "",
    "torch": "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor clip copysign divide "
    "equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor "
    "matmul maximum minimum multiply not_equal pow repeat std subtract tensordot unique_all var vecdot",
}
"""The functions that give answers where array-api-compat raises."""
OPERANDS = {"numpy": operands_of_numpy, "torch": operands_of_torch}


@pytest.mark.filterwarnings("ignore:Sparse CSR")
@pytest.mark.parametrize("library", OPERANDS)
def test_calls_agree_with_those_of_array_api_compat(library):
    pytest.importorskip(library)
    ours, theirs = (import_module(f"{package}.{library}") for package in ("xarrayops.compat", "array_api_compat"))
    seen = Counter()
    count = 0
    for call in calls(OPERANDS[library]()):
        count += 1
        verb, args, _ = call
        if lookup(ours, verb) is lookup(theirs, verb):
            continue
        got, want = outcome(ours, call), outcome(theirs, call)
        if described(got) == described(want):
            continue
        kind = (
            ("works" if not isinstance(got, type) else "error")
            if isinstance(want, type)
            else ("refused" if isinstance(got, type) else "differs")
        )
        if kind == "differs":
            allowed = any(verb in verbs.split() and of(args) for verbs, of, _ in DIFFERENT[library])
        elif kind == "works":
            allowed = verb in WORK[library].split()
        else:
            allowed = kind == "error" and (want, got) in ERRORS
        assert allowed, (kind, call, want, got)
        seen[kind, verb] += 1
    assert count > 20_000
    assert {verb for kind, verb in seen if kind == "works"} == {*WORK[library].split()}
    listed = {verb for verbs, *_ in DIFFERENT[library] for verb in verbs.split()}
    assert {verb for kind, verb in seen if kind == "differs"} == listed
    assert listed | {*WORK[library].split()} <= compat.REASONS[library].keys()
