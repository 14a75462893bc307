"""What the sparse companion of a backend module may define, with its laws.

A backend whose library has sparse containers names a companion module with ``SPARSE = SparseSupport(...)``. This is a
module of plain functions, like the backend itself; the first sparse call imports it.

Data and functions that a companion must define:

``FORMATS``
    Those of `FORMATS` that the library's containers support.
``holds(x, /) -> bool``
    Whether x is one of the library's sparse containers.
``parts(s, /) -> Parts``
    The arrays of a container, without a copy or a check, and without reading a value.
``wrap(p, /) -> container``
    The container over these arrays, without a check or a copy. Law: ``parts(wrap(p))`` has the arrays of p.

What it may define:

``INDEX_DTYPES``
    A mapping from a format to the names of its dtypes of indices, the narrowest first. Default: `INDICES`.
``dtype_refusal(dtype, /) -> str | None``
    Why containers cannot hold values of the dtype with that name, and what to do instead; None if they can.
``seen(s, /) -> Parts``
    The parts as kernels read them, if ``parts`` would copy: ``coords`` of coo may be a tuple of ndim arrays (nnz,) that
    are not adjacent in memory.
``values(s, /) -> array``
    The values, if ``seen`` would copy or wait for the other arrays.
``with_values(s, data, /) -> container``
    A container over the indices of s, which is canonical, and other values. Default: by ``seen`` and ``wrap``.
``is_sound(p, /, *, canonical) -> array``
    Whether the indices of parts on an accelerator are valid, as a boolean array of shape () of the library, without
    synchronisation. It may be False for valid parts; then the host checks them. Default: `is_sound` of this module.
``unpadded(p, /) -> Parts``
    Parts in host memory without padding entries, if the library has them.
``untraced(function, /) -> function``
    The function, excluded from the library's compiler, if that cannot trace sparse containers.
``VERB_CANDIDATES = [(name, function, refusal), ...]`` for a VERB of `SparseHooks` or `ELEMENTWISE` (in capitals)
    The kernels that may serve it, best first. The host kernels of xarrayops follow, then its generic functions.
"""

from __future__ import annotations

from xarrayops._generic.sparse import is_sound as is_sound
from xarrayops._host.sparse import host as host
from xarrayops._host.sparse.compressed import index_dtype as index_dtype
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
