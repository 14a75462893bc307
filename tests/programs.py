"""The programs that JAX and torch.compile keep in memory."""

import gc
import sys


def forget() -> None:
    """Forget the programs of this process: those of a sweep fill 20 GiB."""
    for name, clear in (("jax", "clear_caches"), ("torch._dynamo", "reset")):
        if name in sys.modules:
            getattr(sys.modules[name], clear)()
    gc.collect()
