"""Exchange: a cubed array is a plan and has no memory. Export computes the values; import copies them."""

from __future__ import annotations

from typing import Any

import cubed
import numpy as np

from xarrayops.plugin import Array, Memory
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._blocks import xp as _xp
from xarrayops_backends.cubed._devices import compute


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """A later write would change the result of the plan."""
    return "a cubed array is a plan, which must not depend on memory that may change"


def to_numpy(x: Array, /) -> Any:
    """The computed values."""
    return compute(x)[0]


def from_numpy(a: Any, device: Any, /) -> Array:
    """A plan over a private copy in native byte order, in chunks that cubed chooses."""
    spec = getattr(device, "spec", None) or _blocks.SPEC.get()
    a = np.array(a, dtype=a.dtype.newbyteorder("="), copy=True)
    # cubed keeps at most a megabyte in the plan itself
    return _xp.asarray(a, spec=spec) if a.nbytes <= 10**6 else cubed.from_array(a, spec=spec)
