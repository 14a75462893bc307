"""array-api-compat's public interface, with functions of xarrayops where these are quicker or repair a fault.

A package that depends on array-api-compat imports this one instead::

    from xarrayops.compat import array_namespace, device, is_torch_array, size

A namespace, such as `xarrayops.compat.torch`, has the library's own objects for every name beyond the array API
standard. For names of the standard it has array-api-compat's functions, and those of xarrayops in the table `REASONS`.
They serve calls whose arrays are exactly of the library's classes; array-api-compat's function serves all others, and
its errors are those that callers see. The namespace of JAX is `jax.numpy` itself.

`xarrayops.array_namespace` returns other namespaces, which follow the contract of xarrayops.
"""

from array_api_compat import __version__ as __version__

from xarrayops.compat._overlay import vendor as vendor
from xarrayops.compat._reasons import REASONS as REASONS
from xarrayops.compat.common import *
from xarrayops.compat.common import __all__ as __all__
