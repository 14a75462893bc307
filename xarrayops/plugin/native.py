"""Native kernels of users' operations, for the hook ``native_kernel``.

- `NativeKernel`: a compiled function over DLPack, which fills the results.
- `eager_kernel`: the kernel for a library whose arrays have values, and `Results`, the shapes and dtypes it allocates.
- `OPTION_TYPES`: the classes of the options that such a function takes.
"""

from __future__ import annotations

from xarrayops._protocol.native import (
    OPTION_TYPES as OPTION_TYPES,
    NativeKernel as NativeKernel,
    Results as Results,
    eager_kernel as eager_kernel,
)
