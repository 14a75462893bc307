"""How a call of a user's operation is tested on NumPy arrays."""

from xarrayops.plugin import CallTests

CALL_TESTS = CallTests(
    order={"C": "{x}.flags.c_contiguous", "F": "{x}.flags.f_contiguous"},
    device={"cpu": "True"},
    address="{x}.ctypes.data",
)
