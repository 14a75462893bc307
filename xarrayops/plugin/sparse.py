"""The definitions of `xarrayops._protocol`."""

from __future__ import annotations

from xarrayops._protocol.sparse import (
    ELEMENTWISE as ELEMENTWISE,
    FORMATS as FORMATS,
    INDICES as INDICES,
    VERBS as VERBS,
    Compaction as Compaction,
    Container as Container,
    Parts as Parts,
    SparseHooks as SparseHooks,
    SparseSupport as SparseSupport,
    names_of_arrays as names_of_arrays,
)
