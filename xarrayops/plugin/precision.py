"""The precision of products, for backends on NVIDIA's devices.

- ``refuse_forced_tf32``: raises if the environment forces TF32 and a product must be IEEE float32.
"""

from __future__ import annotations

from xarrayops._protocol.precision import refuse_forced_tf32 as refuse_forced_tf32
