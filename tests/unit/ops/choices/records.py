"""Records of measurements, made without measuring."""

from __future__ import annotations

import numpy as np

import xarrayops as xo
from xarrayops._ops.choices.measurements import Measurements
from xarrayops._ops.choices.verdicts import decided

DATE = "2026-11-20"


def call(*shape, verb="sort", dtype="float64", layout="C", library="numpy", **kwargs):
    """The description of a call on one array."""
    array = {"shape": [*shape], "dtype": dtype, "layout": layout}
    return {"verb": verb, "library": library, "args": [array], "kwargs": kwargs}


def record(description, ratios, process, candidate="torch:sort", *, exact=True, default="numpy:sort", **more):
    """One record: what a process measured for one candidate."""
    names = {"default": default, "candidate": candidate, "process": process, "date": DATE}
    return {"call": description, "ratios": [float(ratio) for ratio in ratios], "exact": exact, **names, **more}


def proved(description, gain=2.0, **more):
    """The records of two processes that agree, and of a check."""
    both = [record(description, np.full(15, gain), process, **more) for process in "ab"]
    return [*both, checked(description, **more)]


def checked(description, ratio=1.0, **more):
    """The record of a check."""
    return record(description, np.full(15, ratio), "check", check=True, **more)


def measurements(records, *, only_exact=True):
    """What a block uses, for some records."""
    return Measurements(decided(records, only_exact=only_exact), "records of a test")


def pinned(monkeypatch, records, *, only_exact=True):
    """A block of `xo.measured` with the choices of some records."""
    from xarrayops._ops.choices import block

    monkeypatch.setattr(block, "_of_machine", lambda numerics: measurements(records, only_exact=only_exact))
    return xo.measured()
