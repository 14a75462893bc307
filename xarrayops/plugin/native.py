"""The definitions of `xarrayops._protocol`."""

from __future__ import annotations

from xarrayops._protocol.native import (
    OPTION_TYPES as OPTION_TYPES,
    NativeKernel as NativeKernel,
    Results as Results,
    eager_kernel as eager_kernel,
)
