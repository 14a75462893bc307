"""The names of dtypes, and functions for the dtypes of NumPy, which CuPy, Dask and JAX use too."""

from __future__ import annotations

from xarrayops._core.backends.dtype_names import DTypeName as DTypeName
from xarrayops._generic.arrays import dtype_refusal as dtype_refusal
from xarrayops._host.dtypes import (
    NUMBERS as NUMBERS,
    OBJECTS as OBJECTS,
    as_dtype as as_dtype,
    can_cast as can_cast,
    dtype_name as dtype_name,
    finfo as finfo,
    gap_of as gap_of,
    iinfo as iinfo,
    isdtype as isdtype,
    refuse_discarding as refuse_discarding,
    result_type as result_type,
)
from xarrayops._protocol.dtypes import (
    DTYPE_NAMES as DTYPE_NAMES,
    EXTRA_DTYPES as EXTRA_DTYPES,
    FLOATING_LINALG as FLOATING_LINALG,
    FLOATING_RESULTS as FLOATING_RESULTS,
    INTEGER_LIMITS as INTEGER_LIMITS,
    STANDARD_DTYPES as STANDARD_DTYPES,
)
