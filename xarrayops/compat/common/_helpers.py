"""The helpers of array-api-compat: its own functions but for namespaces, which know those of this package.

This file is also the module of a vendored package, under its name: `xarrayops.compat.vendor`. So it imports the
namespaces next to it by relative imports.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from types import ModuleType
from typing import Any

import array_api_compat.common._helpers as _theirs
from array_api_compat.common._helpers import (
    __all__ as __all__,
    device as device,
    is_array_api_obj as is_array_api_obj,
    is_cupy_array as is_cupy_array,
    is_dask_array as is_dask_array,
    is_dpnp_array as is_dpnp_array,
    is_dpnp_namespace as is_dpnp_namespace,
    is_jax_array as is_jax_array,
    is_lazy_array as is_lazy_array,
    is_mparray_array as is_mparray_array,
    is_mparray_namespace as is_mparray_namespace,
    is_ndonnx_array as is_ndonnx_array,
    is_ndonnx_namespace as is_ndonnx_namespace,
    is_numpy_array as is_numpy_array,
    is_pydata_sparse_array as is_pydata_sparse_array,
    is_pydata_sparse_namespace as is_pydata_sparse_namespace,
    is_torch_array as is_torch_array,
    is_writeable_array as is_writeable_array,
    size as size,
    to_device as to_device,
)

from xarrayops._core.backends.find import NON_ARRAY_TYPES as _NON_ARRAY_TYPES
from xarrayops.compat._guard import CLASSES as _CLASSES
from xarrayops.compat._overlay import is_namespace as _is_namespace

_SCALAR_CLASSES = {"numpy": "generic"}
"""The class of the scalars of a library that count as its arrays."""


def _compat_module_name() -> str:
    return __name__.removesuffix(".common._helpers")


def __getattr__(name: str) -> Any:
    return getattr(_theirs, name)


def array_namespace(*xs: Any, api_version: str | None = None, use_compat: bool | None = None) -> ModuleType:
    """The namespace of the arrays' library: of this package, or the library's own where it follows the standard.

    Parameters
    ----------
    *xs : array, Python scalar or None
        At least one array; scalars and None belong to any library.
    api_version : str, optional
        The version of the standard that the caller needs.
    use_compat : bool, optional
        True requires a namespace of this package, and False the library's own. By default, the library's own namespace
        is returned only if it follows the standard.

    Returns
    -------
    module

    Raises
    ------
    TypeError
        No argument is an array, one is neither an array nor a scalar, or the arrays belong to several libraries.
    ValueError
        The version is not supported, or this package has no namespace for the library.
    """
    if api_version is None and use_compat is None:
        found = None
        for x in xs:
            cls: Any = type(x)
            if cls in _NON_ARRAY_TYPES:
                continue
            xp = _of_class(cls)
            # JAX has gradients of integers that are NumPy arrays with a dtype of kind "V".
            if xp is None or (found is not None and xp is not found) or getattr(x.dtype, "kind", "") == "V":
                break
            found = xp
        else:
            if found is not None:
                return found
    xp = _theirs.array_namespace(*xs, api_version=api_version, use_compat=use_compat)
    name = xp.__name__
    library = name.removeprefix("array_api_compat.")
    return _namespace(library) if library != name and library in _CLASSES else xp


get_namespace = array_namespace


@lru_cache(100)
def _of_class(cls: type) -> ModuleType | None:
    """The namespace of this package for the arrays of a class, or None: array-api-compat has the answer."""
    for library, array in _CLASSES.items():
        module = sys.modules.get(library)
        names = (array, _SCALAR_CLASSES[library]) if library in _SCALAR_CLASSES else (array,)
        if module is not None and issubclass(cls, tuple(getattr(module, name, ()) for name in names)):
            return _namespace(library)
    return None


def _namespace(library: str) -> ModuleType:
    """The namespace of this package for a library. torch.compile traces statements, but not `import_module`."""
    if library == "numpy":
        from .. import numpy

        return numpy
    if library == "torch":
        from .. import torch

        return torch
    if library == "cupy":
        from .. import cupy

        return cupy
    from ..dask import array

    return array


def is_numpy_namespace(xp: ModuleType) -> bool:
    """Whether a module is NumPy's namespace: NumPy itself, or that of xarrayops or of any array-api-compat."""
    return _is_namespace(xp, "numpy")


def is_cupy_namespace(xp: ModuleType) -> bool:
    """Whether a module is CuPy's namespace: CuPy itself, or that of xarrayops or of any array-api-compat."""
    return _is_namespace(xp, "cupy")


def is_torch_namespace(xp: ModuleType) -> bool:
    """Whether a module is PyTorch's namespace: PyTorch itself, or that of xarrayops or of any array-api-compat."""
    return _is_namespace(xp, "torch")


def is_dask_namespace(xp: ModuleType) -> bool:
    """Whether a module is Dask's namespace: dask.array itself, or that of xarrayops or of any array-api-compat."""
    return _is_namespace(xp, "dask.array")


def is_jax_namespace(xp: ModuleType) -> bool:
    """Whether a module is JAX's namespace: jax.numpy itself, or that of xarrayops."""
    return _is_namespace(xp, "jax.numpy") or _theirs.is_jax_namespace(xp)


def is_array_api_strict_namespace(xp: ModuleType) -> bool:
    """Whether a module is the namespace of array-api-strict: its own, or that of xarrayops."""
    return _is_namespace(xp, "array_api_strict")
