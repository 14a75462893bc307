"""The parts of the core that a backend may use: other backends, to pass calls to them, and the class of dtype names.

- `backend_by_name` finds a backend by its name, `backend_of` by an array; both load it if necessary.
- ``backend.functions[verb]`` is its function for a verb: a function of the standard or a hook.
- `limited` refuses calls of a function on split arrays that exceed `xarrayops.limits`. `following` gives a
  function or kernel its rule of `xarrayops.plugin.costs`.
- `DTypeName` is the class of `xarrayops.float32` and the like, for compilers that must know it.
"""

from xarrayops._core.backends.dtype_names import DTypeName
from xarrayops._core.backends.find import named as backend_by_name, of as backend_of
from xarrayops._core.backends.registry import Backend as Backend
from xarrayops._core.modes.limits import following as following, limited as limited

__all__ = ["Backend", "DTypeName", "backend_by_name", "backend_of", "following", "limited"]
