"""Random numbers that are the same on every library, device and chunking, and in compiled functions.

`default_rng` makes a generator with NumPy's methods. `key`, `split`, `fold_in` and `bits` are functions without state,
with the names and results of `jax.random`.
"""

from typing import TYPE_CHECKING, Any

import xarrayops._ops.random.generator as _generator
from xarrayops._ops.random.functions import bits, default_rng, fold_in, key, split

__all__ = ["bits", "default_rng", "fold_in", "key", "split"]

Generator = _generator.Generator
__all__ += ["Generator"]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # a type checker reports missing names itself

    def __getattr__(name: str) -> Any:
        from xarrayops._core.numpy_names import missing

        raise missing(__name__, name)
