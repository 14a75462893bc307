"""The variants of the fixture ``xp``: a library, and how its arrays are made and functions are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

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
    """Call a function as the variant does: compiled, without computation, on read-only arrays, or directly."""
    if variant == "jax-jit":
        return _compiled(function, args, kwargs)
    if variant == "numpy-readonly":
        return _without_writes(function, args, kwargs)
    with _without_computation() if variant == "dask-lazy" else nullcontext():
        return function(*args, **kwargs)


def _compiled(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The result under `jax.jit`. Arrays in the arguments are traced; all else is a constant."""
    jax = import_module("jax")
    leaves, structure = jax.tree.flatten((args, kwargs))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]

    def of_arrays(arrays: list[Any]) -> Any:
        traced = {**dict(enumerate(leaves)), **dict(zip(places, arrays, strict=True))}
        given, options = jax.tree.unflatten(structure, traced.values())
        return function(*given, **options)

    return jax.jit(of_arrays)([leaves[i] for i in places])


def _without_writes(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The result for read-only arrays, after a call with copies that can be written and must not change.

    Both are needed: some functions copy an array only if it is read-only.
    """
    named = {**dict(enumerate(args)), **kwargs}
    arrays = {name: x for name, x in named.items() if isinstance(x, np.ndarray)}
    copies = {name: x.copy() for name, x in arrays.items()}
    _call(function, named | copies)
    for name, x in arrays.items():
        try:
            np.testing.assert_array_equal(copies[name], x)
        except AssertionError as error:
            raise AssertionError(f"the function writes to its argument {name!r}: {error}") from None
    return _call(function, named | {name: _read_only_view(x) for name, x in arrays.items()})


def _call(function: Callable[..., Any], named: dict[Any, Any]) -> Any:
    args = [x for name, x in named.items() if isinstance(name, int)]
    return function(*args, **{name: x for name, x in named.items() if isinstance(name, str)})


def _read_only_view(x: Any) -> Any:
    view = x[...]
    view.flags.writeable = False
    return view


@contextmanager
def _without_computation() -> Iterator[None]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise AssertionError("the function computes a lazy array; the variant dask-lazy forbids it")

    with import_module("dask").config.set(scheduler=refuse):
        yield
