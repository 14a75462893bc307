"""What the sparse companion of a backend module may define, with its laws.

A backend whose library has sparse containers names a companion module, by ``SPARSE = SparseSupport(...)``. It is one of
plain functions, like the backend itself, and is imported when the first sparse call needs it.

Data and functions that a companion must define:

``FORMATS``
    The formats, of `FORMATS` here, that the library's containers can hold.
``holds(x, /) -> bool``
    Whether x is one of the library's sparse containers.
``parts(s, /) -> Parts``
    The arrays of a container, as they are: no copy, no check, no value looked at.
``wrap(p, /) -> container``
    The container over such arrays, trusted and not copied. Law: ``parts(wrap(p))`` holds the arrays of p.

What it may define:

``INDEX_DTYPES``
    A mapping from a format to the dtypes of its indices by name, the narrowest first, where they are not `INDICES`.
``dtype_refusal(dtype, /) -> str | None``
    Why no container can hold values of the dtype of that name, with the way out in the text.
``seen(s, /) -> Parts``
    The parts as kernels read them, where ``parts`` would copy: the ``coords`` of coo may be a tuple of ndim arrays
    (nnz,), wherever each of them is.
``values(s, /) -> array``
    The data of the parts, where those would copy or wait for the other arrays.
``is_sound(p, /, *, canonical) -> array``
    Whether the indices of parts on a device are legal, as a boolean array () of the library that has not been waited
    for; False also where only the host can decide. Default: `is_sound` of this module.
``unpadded(p, /) -> Parts``
    Parts in host memory without the entries that only fill a container up, where the library has such.
``untraced(function, /) -> function``
    The function, kept from the library's compiler, where that cannot trace sparse containers.
``VERB_CANDIDATES = [(name, function, refusal), ...]`` for a VERB of `SparseHooks` (in capitals)
    The kernels that may serve it, best first. The host kernels of xarrayops follow them.
"""

from __future__ import annotations

from xarrayops._generic.sparse import is_sound as is_sound
from xarrayops._host.sparse import host as host
from xarrayops._host.sparse.compressed import index_dtype as index_dtype
from xarrayops._protocol.sparse import (
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
