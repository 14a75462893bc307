"""The contract of a backend module: what it may define, with laws.

A backend is a module of plain functions for one array library. An entry point of the group ``xarrayops.backends`` names
it; the entry point's name is the root package of the library's array classes. The module imports the library at its
top.

Data that a backend must define:

``NAMESPACE``
    The library's module that follows the Python array API standard most closely.
``ARRAY_TYPES``
    The classes of the library's arrays. Subclasses are accepted too, unless the hook ``refuse_class`` refuses them.

Data that it may define:

``UNTRACEABLE``
    A mapping from a function's name to the `Gap` that says why the library's own compiler cannot trace it.
``IMMUTABLE``
    True if the library never writes the memory of an array, and assumes that nothing else does.
``IGNORES_VALUES``
    True if the library does not raise for invalid values: an index out of bounds, a singular matrix.
``FLUSHES_SUBNORMALS``
    True if the library replaces subnormal numbers by 0.
``READS_CAPTURED_ARRAYS``
    True if functions of the hook ``compiled`` read the current values of captured arrays of the library. Otherwise
    `xarrayops.jit` compares these values at each call.
``COMPILATION_SECONDS``
    How long the library takes to compile a function of a few operations; 1 by default. `xarrayops.jit` uses it until it
    has measured a compilation.
``WRAPS_INTEGERS``
    True if, for a Python integer that the dtype of the array operand cannot hold, the library wraps around or raises
    another error than NumPy. Then functions such as ``xo.add(x, n)`` check the integer.
``CASTS_INTEGERS``
    The names of functions whose integer arguments are cast to the default floating-point dtype before the call:
    functions of `xarrayops.plugin.dtypes.FLOATING_RESULTS` for which the library returns another dtype or raises; and
    ``clip``, whose result is floating-point if a bound is.
``ORDERS_COMPLEX``
    True if the functions that order elements, such as ``sort``, ``max`` and ``less``, order complex numbers as NumPy
    does. Otherwise generic functions serve complex arrays.
``COMPUTES_IN_DOUBLE``
    The names of functions that average or normalise and compute float32 in float64: for a lazy library, which cannot
    look at a result to see that an intermediate one overflowed, as the hook ``has_overflowed`` does.
``CANNOT_OVERFLOW``
    The names of functions that compute half and single precision in float64: their results are not looked at.
``NO_STRIDES``
    If the library's arrays have no strides, the `Gap` that says why.
``SHARED_ENVIRONMENT``
    A mapping of environment variables that let processes share device memory. The benchmark uses it.
``ENVIRONMENT``
    A tuple of the environment variables that affect the library's devices, threads, memory, kernels and precision. The
    doctor shows those that are set, and the benchmark records them. ``"XLA_*"`` matches all with that prefix.
``SETTINGS``
    A mapping from the name of a configuration of the library that affects the dtypes of its arrays to the environment
    variables that select it before the import. The exchange matrix runs each configuration.
``KNOWN_BAD``
    A tuple of `KnownBad`: versions of the library that are known to fail, for the verbs, the doctor, ``explain`` and
    the warning at the first use of the library.
``CALL_TESTS``
    The `CallTests` from which the functions of users' operations are generated: see `xarrayops.operation`. Without
    them every call of an operation looks at all arguments, which takes some microseconds.
``EXTRA``
    The name of the module with the backend's functions that are not in the standard, or of a package that has a module
    for each family. It is imported when one of them is first needed.
``ALTERNATIVES``
    The name of a module with ``KERNELS``, a dict of ``[(name, function, refusal), ...]`` by function or hook: kernels
    that only measured choice uses. A function with the attribute ``has_same_values`` gives the values of the default.
``HOOK_MODULES``
    The names of modules that define hooks, by hook; for example ``{"attention": "mylibrary_xarrayops.attention"}``. A
    module is imported when its hook is first needed.
``SPARSE``
    A `xarrayops.plugin.sparse.SparseSupport`: the companion module that serves the library's sparse containers.

Functions that it may define:

- any function of the standard, with the standard's name and signature; ``linalg.det`` is named ``linalg_det`` and
  ``fft.fft`` is named ``fft_fft``. Functions that it does not define come from ``NAMESPACE``.
- the hooks, with the signatures that `xarrayops.plugin.hooks` lists. Generic functions, which use only functions of the
  standard, serve the hooks that it does not define.
- one hook is ``wrap(verb, function, /)``, which can check or change every function of the standard: it is called for
  each of them when the backend loads, and returns the function to use.
- ``VERB_CANDIDATES = [(name, function, refusal), ...]`` for any standard function or hook VERB (in capitals): the
  kernels that may serve it, best first. ``refusal(call)`` returns None, or the reason why the kernel cannot serve that
  `Call`. For a hook, the generic function comes after the candidates. If a kernel finds, while it runs, that the
  library cannot compute the call, it raises `NotServed`, and the next kernel serves. A kernel may have two attributes:
  ``copies``,
  a function of the `Call` that returns lines about its copies for ``explain``; and ``is_traced``, a function that
  returns whether a compiler traces the call. For a traced call, earlier failures are not looked up.

A name may be set to ``unsupported("why", instead="...")``. Then the function raises, the support matrix shows the gap,
and the tests expect it.

A backend imports from here and from `xarrayops.errors` only, and xarrayops' own backends do the same:

- this module: the types for hooks (`Array`, `Device`, `Memory`, `Queue`, `Index`, `Attention`, `Gap`, `FloatLimits`),
  for candidates (`Call`, `NotServed`, `KnownBad`, `affected`, `constant_while_tracing`), for runs (`RunMode`,
  `ReportingMethods`), and for operations (`Operation`, `CallTests`, `core_dimensions`, `options_of`,
  `written_options`), `unsupported`, `takes_arrays`, `array_roles`, and `EXTRA`, our functions that are not in the
  standard.
- `xarrayops.plugin.dtypes`: the names of dtypes and their limits.
- `xarrayops.plugin.random`: the specification of a draw, and the generator.
- `xarrayops.plugin.sparse`: the contract of a sparse companion.
- `xarrayops.plugin.sharding`: how arrays are split.
- `xarrayops.plugin.costs`: the rules of what operations on split arrays move and hold.
- `xarrayops.plugin.convolution`: the windows of convolutions and pooling.
- `xarrayops.plugin.precision`: a check of the environment for float32 products.
- `xarrayops.plugin.products`: exact products of 8-bit integers.
- `xarrayops.plugin.native`: native kernels of users' operations.
- `xarrayops.plugin.nested`: arrays in nested arguments and results of compiled functions.
- `xarrayops.plugin.lazy`: attributes of a module that are imported at their first use.
- `xarrayops.plugin.export`: the base class of exporters.
- `xarrayops.plugin.generic`: the generic functions, and their reusable parts.
- `xarrayops.plugin.host`: kernels over host memory.
- `xarrayops.plugin.backends`: other backends, by name or by array.
"""

from xarrayops._surface import EXTRA as EXTRA
from xarrayops.errors import install_command as install_command
from xarrayops.plugin.arrays import (
    DEVICE_ATTRIBUTES as DEVICE_ATTRIBUTES,
    Array as Array,
    Device as Device,
    FloatLimits as FloatLimits,
    Gap as Gap,
    Memory as Memory,
    Queue as Queue,
    compact_strides as compact_strides,
    gap_of as gap_of,
    unsupported as unsupported,
)
from xarrayops.plugin.attention import Attention as Attention, has_band as has_band, has_one_offset as has_one_offset
from xarrayops.plugin.candidates import (
    Call as Call,
    KnownBad as KnownBad,
    NotServed as NotServed,
    affected as affected,
    constant_while_tracing as constant_while_tracing,
)
from xarrayops.plugin.hooks import (
    WRAPPED_HOOKS as WRAPPED_HOOKS,
    array_roles as array_roles,
    takes_arrays as takes_arrays,
)
from xarrayops.plugin.indexing import Index as Index, Selection as Selection
from xarrayops.plugin.operations import (
    CallTests as CallTests,
    Operation as Operation,
    core_dimensions as core_dimensions,
    options_of as options_of,
    written_options as written_options,
)
from xarrayops.plugin.runs import ReportingMethods as ReportingMethods, RunMode as RunMode
from xarrayops.plugin.sparse import SparseSupport as SparseSupport
