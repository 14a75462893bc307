"""What a backend module may define, with its laws.

A backend is a module of plain functions for one array library, found through an entry point of the group
``xarrayops.backends`` whose name is the root package of the library's array classes. It imports its library at its top.

Data that a backend must define:

``NAMESPACE``
    A module that follows the Python array API standard, as far as the library has one.
``ARRAY_TYPES``
    The classes whose instances are the library's arrays; subclasses are admitted too.

Data that it may define:

``REFUSED_TYPES``
    A mapping from ``"root.ClassName"`` of a subclass of ``ARRAY_TYPES`` that is no array for our purposes to the `Gap`
    that says why. The name, and not the class: nothing is imported to test a type.
``UNTRACEABLE``
    A mapping from a function's name to the `Gap` that says why the library's own compiler cannot trace it.
``IMMUTABLE``
    True where the library never writes an array's memory, and so may be surprised by one who does.
``WRAPS_INTEGERS``
    True where the library wraps a Python integer that the dtype of the array beside it cannot hold; then
    ``xo.add(x, n)`` and its like look first, and raise as NumPy does.
``NO_STRIDES``
    The `Gap` that says why the library's arrays have no strides, where they have none.
``SHARED_ENVIRONMENT``
    A mapping of environment variables by which a process leaves room on its device for others, as the benchmark needs.
``ENVIRONMENT``
    A tuple of the environment variables that decide on the library's devices, threads, memory, kernels and precision:
    the doctor shows those that are set, and the benchmark records them. ``"XLA_*"`` stands for all that begin so.
``SETTINGS``
    A mapping from the name of a way to set the library up, where that decides what its arrays can hold, to the
    environment variables that do so before it is imported; the exchange matrix runs each of them.
``KNOWN_BAD``
    A tuple of `KnownBad`: versions of the library that are known to fail, for the doctor and the verbs.
``SPARSE``
    A `xarrayops.plugin.sparse.SparseSupport`: the companion module that serves the library's sparse containers.

Functions that it may define:

- any function of the standard, under its own name and with the standard's signature; ``linalg.det`` is called
  ``linalg_det`` and ``fft.fft`` is called ``fft_fft``. What it does not define comes from ``NAMESPACE``.
- the hooks of `Hooks`, each with the signature shown. What it does not define comes from the generic functions, written
  on the standard alone.
- among them ``wrap(verb, function, /)``, by which one function checks or changes all functions of the standard: it is
  given each of them once, when the backend loads, and answers with what serves.
- ``VERB_CANDIDATES = [(name, function, refusal), ...]`` for any standard function or hook VERB (in capitals): the
  kernels that may serve it, best first. ``refusal(call)`` gives None, or the reason why the kernel cannot serve that
  `Call`. The candidates of a hook are followed by the generic function, which serves what they cannot. A function that
  finds as it runs that the library has no code for such a call raises `NotServed`, and the next kernel serves. It may
  have an attribute ``copies``: a function of the `Call` that gives lines on what it copies, for ``explain``; and one
  ``is_traced``: a function that says whether a compiler records the call, for which earlier failures are not looked up.

A name may be bound to ``unsupported("why", instead="...")``: then the function raises, the support matrix shows the
gap, and the tests expect it.

A backend imports from here and from `xarrayops.errors` only, and xarrayops' own backends do the same:

- this module: what hooks take and return (`Array`, `Device`, `Memory`, `Queue`, `Attention`, `Gap`, `FloatLimits`),
  what candidates need (`Call`, `NotServed`, `KnownBad`, `constant_while_tracing`), `unsupported` and `takes_arrays`.
- `xarrayops.plugin.dtypes`: the names of dtypes, their limits, and the functions of NumPy's dtypes.
- `xarrayops.plugin.layout`: views of host memory, and copies in another order of axes.
- `xarrayops.plugin.attention`: which keys a block of queries sees, and the kernel over host memory.
- `xarrayops.plugin.sparse`: the contract of a sparse companion, and the kernels over host memory.
- `xarrayops.plugin.backends`: other backends, by name or by array.
"""

from __future__ import annotations

from xarrayops._protocol.attention import (
    Attention as Attention,
    has_band as has_band,
    has_one_offset as has_one_offset,
)
from xarrayops._protocol.candidates import (
    Call as Call,
    KnownBad as KnownBad,
    NotServed as NotServed,
    constant_while_tracing as constant_while_tracing,
)
from xarrayops._protocol.devices import (
    DEVICE_ATTRIBUTES as DEVICE_ATTRIBUTES,
    Device as Device,
    Memory as Memory,
    Queue as Queue,
    compact_strides as compact_strides,
)
from xarrayops._protocol.hooks import (
    HOOKS as HOOKS,
    WRAPPED_HOOKS as WRAPPED_HOOKS,
    Hooks as Hooks,
    takes_arrays as takes_arrays,
)
from xarrayops._protocol.sparse import SparseSupport as SparseSupport
from xarrayops._protocol.types import (
    Array as Array,
    FloatLimits as FloatLimits,
    Gap as Gap,
    gap_of as gap_of,
    unsupported as unsupported,
)
