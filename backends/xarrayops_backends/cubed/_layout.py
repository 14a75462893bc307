"""Layout: each chunk has its own memory layout; the cubed array itself has none."""

from __future__ import annotations

from xarrayops.plugin import Gap, unsupported

NO_STRIDES = Gap("a cubed array has no strides, but its chunks have", "xo.compute(x), which is a NumPy array")
as_strided = unsupported(NO_STRIDES.why, instead="xo.sliding_window_view, or xo.compute(x)")
pin_memory = unsupported("the chunks of a cubed array are not computed yet", instead="xo.compute(x)")
