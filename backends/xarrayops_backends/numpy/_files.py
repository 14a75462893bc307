"""Arrays whose memory is a mapped file."""

from __future__ import annotations

from mmap import mmap
from os.path import exists
from typing import Any

import numpy as np


def mapping_of(a: Any) -> Any:
    """The `numpy.memmap` whose file has the values of an array; None if there is none or changes stay in memory."""
    owner = a
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if not isinstance(owner, np.memmap) or not isinstance(owner.base, mmap):
        return None
    is_named = owner.filename is not None and exists(owner.filename)
    return owner if is_named and owner.mode != "c" else None
