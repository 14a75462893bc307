"""How CuPy multiplies: in IEEE float32, unless the environment selects TF32 for the whole program."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array
from xarrayops.plugin.precision import refuse_forced_tf32


def product_precision(products: str, /, *arrays: Array) -> AbstractContextManager[Any]:
    """Without ``CUPY_TF32`` all products are IEEE float32, even if TF32 is allowed."""
    refuse_forced_tf32(products)
    if products == "ieee" and os.environ.get("CUPY_TF32", "0") not in ("", "0"):
        raise Unsupported(
            'CUPY_TF32 makes CuPy multiply float32 in TF32. Instead: start the program without it, or products="tf32"'
        )
    return nullcontext()
