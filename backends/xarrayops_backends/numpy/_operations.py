"""How a call of a user's operation is tested on NumPy arrays."""

from ctypes import c_size_t

from xarrayops.plugin import CallTests

_DATA = object.__basicsize__
"""Where an array holds the address of its first element: the first field after the head that all objects have.

Compiled extensions read it there (``PyArray_DATA``), so it is part of NumPy's binary interface. ``x.ctypes.data`` and
``x.__array_interface__`` take twenty times as long.
"""
CALL_TESTS = CallTests(
    order={"C": "{x}.flags.c_contiguous", "F": "{x}.flags.f_contiguous"},
    device={"cpu": "True"},
    address=f"_word(id({{x}}) + {_DATA}).value",
    names={"_word": c_size_t.from_address},
)
