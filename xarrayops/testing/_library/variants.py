"""The variants of the fixture ``xp``: a library, and how its arrays are made and functions are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial, wraps
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

CREATION = (
    *("arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid"),
    *("ones", "ones_like", "tril", "triu", "zeros", "zeros_like"),
)
"""The functions whose arrays are read-only in the variant numpy-readonly."""
VARIANTS = {
    "numpy": "xarrayops.compat.numpy",
    "numpy-readonly": "xarrayops.compat.numpy",
    "array_api_strict": "array_api_strict",
    "torch": "xarrayops.compat.torch",
    "jax": "jax.numpy",
    "jax-jit": "jax.numpy",
    "dask": "xarrayops.compat.dask.array",
    "dask-lazy": "xarrayops.compat.dask.array",
    "cupy": "xarrayops.compat.cupy",
}
"""The import name of each variant's namespace."""
LACKS = {
    "in-place": frozenset({"numpy-readonly", "jax", "jax-jit"}),
    "values": frozenset({"jax-jit", "dask-lazy"}),
    "data-dependent shapes": frozenset({"jax-jit", "dask", "dask-lazy"}),
    "boolean indexing": frozenset({"jax-jit"}),
}
"""By capability, the variants that lack it. ``values``: `bool`, `float` or `int` of an array."""


def library(variant: str) -> str:
    """The library of a variant, such as jax for jax-jit."""
    return variant.partition("-")[0]


def is_installed(variant: str) -> bool:
    """Whether the variant can run here. CuPy can be imported without a device, and then no call works."""
    name = library(variant)
    if find_spec(name) is None:
        return False
    return name != "cupy" or bool(import_module("xarrayops").backend("cupy").available)


def namespace(variant: str) -> ModuleType:
    """The namespace that tests get."""
    xp = import_module(VARIANTS[variant])
    return _read_only(xp) if variant == "numpy-readonly" else xp


def _read_only(xp: ModuleType) -> ModuleType:
    """A copy of NumPy's namespace whose new arrays cannot be written."""
    copy = ModuleType(xp.__name__, xp.__doc__)
    vars(copy).update({name: value for name, value in vars(xp).items() if name not in ("__spec__", "__loader__")})
    for name in CREATION:
        setattr(copy, name, _locked(getattr(xp, name)))
    return copy


def _locked(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def create(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        for x in made if isinstance(made, tuple | list) else (made,):
            x.flags.writeable = False
        return made

    return create


def call(variant: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function as the variant does: compiled, without computation, or directly.

    Under jax.jit the positional arguments are traced, and keywords are constants.
    """
    if variant == "jax-jit":
        return import_module("jax").jit(partial(function, **kwargs))(*args)
    with _without_computation() if variant == "dask-lazy" else nullcontext():
        return function(*args, **kwargs)


@contextmanager
def _without_computation() -> Iterator[None]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise AssertionError("the function computes a lazy array; the variant dask-lazy forbids it")

    with import_module("dask").config.set(scheduler=refuse):
        yield
