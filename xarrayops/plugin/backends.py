"""Other backends: for one that hands a call on to another library.

- `backend_by_name` finds a backend by its name, `backend_of` by an array; both load it if need be.
- ``backend.functions[verb]`` is what serves a function of the standard or a hook there.
"""

from __future__ import annotations

from xarrayops._core.registry import (
    Backend as Backend,
    backend_by_name as backend_by_name,
    backend_of as backend_of,
)
