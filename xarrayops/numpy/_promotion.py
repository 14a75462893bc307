"""NumPy's dtype rules by name: the promotion of several dtypes, and the defaults of Python numbers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import chain

from xarrayops._core.modes.defaults import floating_dtype

NUMBERS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
"""NumPy's default dtypes by class of Python number, the narrowest first."""
KINDS = {
    name: (kind, int(bits))
    for kind, sizes in (("int", "8 16 32 64"), ("uint", "8 16 32 64"), ("float", "16 32 64"), ("complex", "64 128"))
    for bits in sizes.split()
    for name in [f"{kind}{bits}"]
} | {"bool": ("bool", 8)}
"""The kind and the number of bits of NumPy's dtypes, by name."""
RANKS = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}
"""The order of the kinds: a cast to a lower one needs ``casting="unsafe"``."""


def name_of_default(cls: type) -> str | None:
    """The dtype of new arrays of Python numbers; None for the library's default integers and booleans.

    It is NumPy's default, unless `xarrayops.use` or `xarrayops.set_default` has a floating-point dtype.
    """
    name = floating_dtype()
    if name is None:
        return NUMBERS[cls]
    if cls is complex:
        return "complex128" if name == "float64" else "complex64"
    return name if cls is float else None


def promoted(names: Iterable[str | None], numbers: Iterable[type] = ()) -> str | None:
    """NumPy's common dtype of arrays with these dtypes and of Python numbers; None for dtypes that NumPy lacks."""
    known = [KINDS[name] for name in names if name in KINDS]
    if not known or len(known) < len(list(chain(names))):
        return None
    kind, bits = reduce(_pair, known)
    for cls in numbers:
        kind, bits = _with_number(kind, bits, cls)
    return "bool" if kind == "bool" else f"{kind}{bits}"


def _pair(a: tuple[str, int], b: tuple[str, int]) -> tuple[str, int]:
    """The common dtype of two."""
    (low, low_bits), (high, high_bits) = sorted((a, b), key=lambda each: RANKS[each[0]])
    if low == high:
        return low, max(low_bits, high_bits)
    if low == "bool":
        return high, high_bits
    if high == "complex":
        return high, max(high_bits, 2 * (low_bits if low == "float" else max(32, _floating_bits(low_bits))))
    if high == "float":
        return high, max(high_bits, _floating_bits(low_bits))
    unsigned, signed = (low_bits, high_bits) if low == "uint" else (high_bits, low_bits)
    bits = max(signed, 2 * unsigned)
    return ("int", bits) if bits <= 64 else ("float", 64)


def _floating_bits(bits: int) -> int:
    """The bits of the floating-point dtype that holds integers of that many bits."""
    return min(2 * bits, 64)


def _with_number(kind: str, bits: int, cls: type) -> tuple[str, int]:
    """The common dtype with a Python number, which is weakly typed."""
    if RANKS[kind] >= RANKS[_KIND_OF_NUMBER[cls]]:
        return kind, bits
    if cls is complex and kind == "float":
        return "complex", max(64, 2 * bits)
    return KINDS[NUMBERS[cls]]


_KIND_OF_NUMBER = {bool: "bool", int: "int", float: "float", complex: "complex"}


def casts(source: str | None, target: str | None, casting: str) -> bool:
    """Whether ``casting`` allows the cast; dtypes that NumPy lacks may be cast."""
    if casting not in ("no", "equiv", "safe", "same_kind", "same_value", "unsafe"):
        raise ValueError(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got {casting!r})")
    if casting == "unsafe" or source == target or source not in KINDS or target not in KINDS:
        return True
    if casting in ("no", "equiv"):
        return False
    if casting == "safe":
        return promoted([source, target]) == target
    rank, target_rank = RANKS[KINDS[source][0]], RANKS[KINDS[target][0]]
    return rank < target_rank or (rank == target_rank and (KINDS[source][0], KINDS[target][0]) != ("int", "uint"))
