"""Kernels over host memory, for backends. They take and return NumPy arrays.

Functions for NumPy's dtypes, which CuPy, Dask and JAX use too: `as_dtype`, `can_cast`, `dtype_name`, `finfo`,
`gap_of`, `gap_of_array`, `iinfo`, `isdtype`, `refuse_discarding` and `result_type`; ``NUMBERS`` has the kinds of the
numeric dtypes. `index_dtype` gives the narrowest dtype for indices.

Modules:

- ``attention``: the kernel `attention` and its capability test ``refusal``; ``require_lengths`` raises if a length
  exceeds the sequence.
- ``convolution``: the convolution of float32 or float64 arrays, by BLAS.
- ``elementwise``: the elementwise maximum or minimum of a large array and a number.
- ``onnx``: ``load`` and ``describe`` an ONNX file.
- ``parts``: kernels of measured choice: ``of_elements(ufunc)`` and ``of_rows(function, axis)`` by parts in threads, and
  ``in_one_thread(function, refusal)``.
- ``permute``: ``contiguous(source)`` and ``copy(source, target)`` between strided views, at memory bandwidth.
- ``positions``: ``of_rows(name, x, dtype)``, the results of ``argmax`` or ``argmin`` along the last axis, on all cores.
- ``products``: ``matmul``, ``vecdot`` and ``tensordot`` of narrow floating-point numbers, summed in float32 and rounded
  once; ``matmul_int32``, the exact product of 8-bit integers.
- ``random_numbers``: ``fill(out, draw, key, loops)``, ``block(draw, key, whole, first, shape)``,
  ``permutation(key, size)`` and ``beta_numbers``;
  ``loops_for(size)`` gives the compiled loops, or None.
- ``sparse``: the kernels of sparse matrices, one for each verb of `xarrayops.plugin.sparse`.
- ``sums``: ``sum``, ``mean``, ``var``, ``std`` and ``cumulative_sum`` with a small error; ``EXACT``, the codes of the
  dtypes for which NumPy's own sums are used.
- ``views``: arrays over an address or another array, with any shape and strides.

All are imported at their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xarrayops.plugin.lazy import lazy_attributes

if TYPE_CHECKING:
    from xarrayops._host import (
        attention as attention,
        convolution as convolution,
        elementwise as elementwise,
        onnx as onnx,
        parts as parts,
        permute as permute,
        positions as positions,
        products as products,
        sums as sums,
        views as views,
    )
    from xarrayops._host.dtypes import (
        NUMBERS as NUMBERS,
        as_dtype as as_dtype,
        can_cast as can_cast,
        dtype_name as dtype_name,
        finfo as finfo,
        gap_of as gap_of,
        gap_of_array as gap_of_array,
        iinfo as iinfo,
        isdtype as isdtype,
        refuse_discarding as refuse_discarding,
        result_type as result_type,
    )
    from xarrayops._host.sparse.compressed import index_dtype as index_dtype

_MODULES = (
    "attention",
    "convolution",
    "elementwise",
    "onnx",
    "parts",
    "permute",
    "positions",
    "products",
    "sums",
    "views",
)
_OF_DTYPES = (
    *("NUMBERS", "as_dtype", "can_cast", "dtype_name", "finfo", "gap_of", "gap_of_array", "iinfo", "isdtype"),
    *("refuse_discarding", "result_type"),
)
_LAZY = {
    **{name: (name, "") for name in _MODULES},
    **{name: ("dtypes", name) for name in _OF_DTYPES},
    "random_numbers": ("random.draws", ""),
    "sparse": ("sparse.host", ""),
    "index_dtype": ("sparse.compressed", "index_dtype"),
}
__getattr__ = lazy_attributes(globals(), "xarrayops._host", _LAZY)
