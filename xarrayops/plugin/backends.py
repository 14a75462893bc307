"""Other backends: for one that hands a call on to the library of what its arrays consist of."""

from __future__ import annotations

from xarrayops._core.registry import (
    Backend as Backend,
    backend_by_name as backend_by_name,
    backend_of as backend_of,
)
