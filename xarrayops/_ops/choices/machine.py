"""The store of measurements of this machine."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from xarrayops._core.backends.entry_points import entry_points
from xarrayops._ops.choices.store import Store
from xarrayops._surface import BACKENDS
from xarrayops._system import cache as user_cache, fingerprint

_PACKAGES = (
    *("numba", "ml_dtypes", "xarrayops", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x", "cupy-rocm-5-0"),
    *("cupy-rocm-7-0", "jax-cuda12-plugin", "jax-cuda13-plugin", "jax-rocm7-plugin", "libtpu", "triton"),
)
"""The packages that change the speed of candidates, besides the libraries of the backends."""
_HERE = Path(__file__).parents[2]


@cache
def store() -> Store:
    """The store for the fingerprint of this process."""
    return Store(user_cache.place("choices") / f"{fingerprint.digest(facts())}.jsonl")


def facts() -> dict[str, object]:
    """The facts of the fingerprint."""
    packages = sorted({*entry_points(), *BACKENDS, *_PACKAGES})
    backends = [find_spec(name) for name in sorted({module.partition(".")[0] for module in BACKENDS.values()})]
    folders = [folder for each in backends for folder in (each and each.submodule_search_locations) or ()]
    return fingerprint.facts(packages, [str(_HERE), *folders])
