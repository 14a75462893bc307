"""Random numbers that are the same on every library, device and chunking, and in compiled functions.

`default_rng` makes a generator with NumPy's methods. `key`, `split`, `fold_in` and `bits` are functions without state,
with the names and results of `jax.random`.
"""

from typing import TYPE_CHECKING, Any

from xarrayops._ops.random.functions import bits, default_rng, fold_in, key, split
from xarrayops._ops.random.generator import Generator

__all__ = ["Generator", "bits", "default_rng", "fold_in", "key", "split"]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a type checker reports missing names itself

    def __getattr__(name: str) -> Any:
        from xarrayops._core.numpy_names import missing

        raise missing(__name__, name)
