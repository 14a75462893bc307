"""Dtypes: native ones by name, and the default."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from xarrayops.errors import available_names
from xarrayops.plugin.dtypes import DTYPE_NAMES


def as_dtype(xp: ModuleType, name: str, /) -> Any:
    """The native dtype with that name in the standard. Law: ``dtype_name(as_dtype(name)) == name``."""
    own = {n: getattr(xp, n) for n in DTYPE_NAMES if getattr(xp, n, None) is not None}
    if name not in own:
        raise ValueError(available_names(name, own))
    return own[name]


def dtype_name(xp: ModuleType, dtype: Any, /) -> str | None:
    """The name of a native dtype in the standard; None if the argument is not a dtype of the library."""
    return next((name for name in DTYPE_NAMES if hasattr(xp, name) and _same_dtype(getattr(xp, name), dtype)), None)


def _same_dtype(own: Any, dtype: Any) -> bool:
    """Equality of two dtypes. A NumPy scalar class equals its dtype, and array_api_strict warns of other classes."""
    return (isinstance(own, type) or type(own) is type(dtype)) and own == dtype


def default_floating_dtype(xp: ModuleType) -> Any:
    """The native floating-point dtype of new arrays that are created without a dtype."""
    return xp.__array_namespace_info__().default_dtypes()["real floating"]


def set_default_dtype(xp: ModuleType, name: str | None, /) -> None:
    """Set the library's own default floating-point dtype, if it has such a setting; None restores the original one.

    Called when `xarrayops.set_default` changes a default. Compiled functions must not keep the earlier one.
    """
