"""Random numbers on CUDA and HIP devices: the source of one kernel, its arguments and its grid.

A backend compiles the source at run time, with NVRTC or hipRTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from xarrayops.plugin.distributions import CENTRAL, FAR, FORMATS, TAIL, signed_int64
from xarrayops.plugin.random import GROUPS, PARITY, ROTATIONS, Draw

NAME = "xarrayops_draw"
"""The name of the kernel in the compiled source."""
KEYS = Draw("keys", "uint64")
"""Keys instead of numbers: each element is the two words of a key, in their order in memory."""
THREADS = 256
"""The number of threads of a block."""
_MOST = 1 << 14, 1 << 15
"""The largest grid. A thread computes several elements if there are more."""
_INTEGERS = {"8": "unsigned char", "16": "unsigned short", "32": "unsigned int", "64": "unsigned long long"}


@cache
def source(kind: str, dtype: str) -> str:
    """The source of the kernel for a kind of draw and a dtype."""
    bits = Draw(kind, dtype).bits
    real = "double" if bits == 64 else "float"
    width = dtype.lstrip("uintfloa")
    form = FORMATS[f"float{bits}"]
    constants = {
        "BITS": bits,
        "DRAWN": kind,
        "NUMBER": real if dtype.startswith("float") else _INTEGERS[width],
        "PARITY": f"{PARITY}u",
        "GROUPS": GROUPS,
        "ROTATIONS": _listed(_listed(each) for each in ROTATIONS),
        "BIAS": form.bias,
        "MANTISSA": form.mantissa,
        "LOWEST": f"{form.lowest}ll",
        "DIGITS": form.digits,
        "UNIT": f"({real}){(2.0**-form.digits).hex()}",
        "NORMAL": form.normal,
        "HALF": f"(1ll << {form.normal - 1})",
        "UNIT_OF_NORMAL": f"({real}){(2.0**-form.normal).hex()}",
        "CENTRAL": CENTRAL.hex(),
        "TAIL_FROM": TAIL.hex(),
        "FAR_FROM": FAR.hex(),
    }
    arrays = {
        **dict(zip(("CENTRE", "CENTRE_BELOW"), form.centre, strict=True)),
        **dict(zip(("TAIL", "TAIL_BELOW"), form.tail, strict=True)),
        **dict(zip(("FAR", "FAR_BELOW"), form.far, strict=True)),
        "LOG": form.log,
        "LN2": form.ln2,
    }
    lines = [
        *(f"#define {name} {value}" for name, value in constants.items()),
        *(f"__device__ const {real} {name}[] = {_listed(x.hex() for x in xs)};" for name, xs in arrays.items()),
    ]
    return "\n".join([*lines, Path(__file__).with_suffix(".cu").read_text(encoding="utf-8")])


def _listed(values: Any) -> str:
    """A list in C."""
    return f"{{{', '.join(map(str, values))}}}"


def arguments(draw: Draw, words: Sequence[int], count: int, size: int) -> tuple[int | float, ...]:
    """The arguments after the three addresses of the results, the keys and the counters.

    Parameters
    ----------
    draw : Draw
        The distribution.
    words : sequence of int
        The two words of the key, which are used if the address of the keys is 0.
    count, size : int
        The number of keys, and the number of elements for each.
    """
    limits = signed_int64(draw.low % (1 << 64)), signed_int64(draw.width % (1 << 64))
    return (*words, count, size, *limits, float(draw.loc), float(draw.scale))


def grid(count: int, size: int) -> tuple[int, int, int]:
    """The number of blocks for each axis."""
    return min(-(-size // THREADS), _MOST[0]), min(count, _MOST[1]), 1
