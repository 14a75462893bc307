"""Other backends, for a backend that passes calls to another library.

- `backend_by_name` finds a backend by its name, `backend_of` by an array; both load it if necessary.
- ``backend.functions[verb]`` is its function for a function of the standard or a hook.
"""

from __future__ import annotations

from xarrayops._core.backends.find import named as backend_by_name, of as backend_of
from xarrayops._core.backends.registry import Backend as Backend

__all__ = ["Backend", "backend_by_name", "backend_of"]
