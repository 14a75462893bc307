"""The contents of the namespaces, and their names.

The files of this package are executed once as modules of `xarrayops.compat`, and once for each place that `vendor`
serves, as modules of that place: predicates compare the names of modules, and pickles contain them.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.namespace import EXTENSIONS, Namespace, lookup
from xarrayops._generic import NAMESPACES
from xarrayops._surface import MAIN_NAMESPACE_ALIASES
from xarrayops.compat._guard import CLASSES, checks, guarded
from xarrayops.compat._reasons import ARRAYS, REASONS

ROOT = __name__.rpartition(".")[0]
PLACES = {ROOT}
"""The packages that have these namespaces as modules."""
IDENTITY = {*vars(ModuleType("")), "__builtins__", "__cached__", "__dir__", "__file__", "__getattr__", "__path__"}
"""What a module has of its own, whatever its contents are."""


def vendor(name: str) -> None:
    """Give a package the modules and the functions of `xarrayops.compat`, under its own name.

    The package replaces a vendored array-api-compat. Its namespaces have its name, such as
    ``package.array_api_compat.torch``, and its `array_namespace` returns them. Its file ``__init__.py`` is::

        from xarrayops.compat import vendor

        vendor(__name__)

    Parameters
    ----------
    name : str
        The package, which is being imported.
    """
    place = sys.modules[name]
    place.__path__ = [str(Path(__file__).parent)]
    PLACES.add(name)
    common, root = import_module(f"{name}.common"), sys.modules[ROOT]
    vars(place).update({key: getattr(common, key) for key in common.__all__}, __version__=root.__version__)
    vars(place)["__all__"] = root.__all__


def is_namespace(xp: ModuleType, library: str) -> bool:
    """Whether a module is a namespace of a library: its own, or one of xarrayops, array-api-compat or a place."""
    name = xp.__name__
    if name == library:
        return True
    if "." not in name:  # the name of another library
        return False
    if name.startswith(NAMESPACES):
        return name.removeprefix(NAMESPACES) == library.partition(".")[0]
    place = name.removesuffix(f".{library}")
    # A namespace of masked arrays has the name of its base with a prefix, and no package has the name of its place.
    is_vendored = place in PLACES or (
        place.rpartition(".")[2] == "array_api_compat" and hasattr(sys.modules.get(place), "array_namespace")
    )
    return place != name and is_vendored


class Devices(tuple[Any, ...]):
    """The devices of a library, to which a list can be added: array-api-compat returned a list before 1.16."""

    def __add__(self, others: Any) -> Any:
        return [*self, *others] if isinstance(others, list) else tuple(self) + others


def fill(contents: dict[str, Any], path: str) -> None:
    """Fill a module with the contents of array-api-compat's module of the same path, and with functions of xarrayops.

    ``contents`` are the globals of the module, and ``path`` its name below the package.
    """
    full_name = contents["__spec__"].name
    place = full_name.removesuffix(f".{path}")
    theirs = import_module(f"array_api_compat.{path}")
    contents.update({name: value for name, value in vars(theirs).items() if name not in IDENTITY})
    contents["__getattr__"] = partial(_attribute, theirs, full_name)
    contents["__dir__"] = theirs.__dir__
    library, _, extension = (path, "", "") if path in CLASSES else path.rpartition(".")
    if place == ROOT:
        contents["__name__"] = path
    _take_ours(contents, full_name, library, extension)
    if not extension:
        for each in EXTENSIONS:
            contents[each] = import_module(f"{full_name}.{each}")
        for _, _, name in (verb.rpartition(".") for verb in MAIN_NAMESPACE_ALIASES):
            if name in REASONS[library]:
                vars(contents["linalg"])[name] = contents[name]
        contents["__array_namespace_info__"] = _information(theirs.__array_namespace_info__)
    sys.modules[full_name].__class__ = Namespace


def _attribute(theirs: ModuleType, module: str, name: str) -> Any:
    try:
        return getattr(theirs, name)
    except AttributeError:
        raise AttributeError(f"module {module!r} has no attribute {name!r}, like array-api-compat's") from None


def _information(base: type) -> type:
    class Information(base):  # type: ignore[misc]
        __doc__ = base.__doc__

        def devices(self) -> Devices:
            return Devices(super().devices())

    Information.__name__ = Information.__qualname__ = base.__name__
    return Information


def _take_ours(contents: dict[str, Any], module: str, library: str, extension: str) -> None:
    """Replace the functions of a namespace or of an extension that `REASONS` lists."""
    served = checks(library) if REASONS[library] else {}
    for verb, reason in REASONS[library].items():
        of, _, name = verb.rpartition(".")
        if of == extension:
            ours = lookup(find.named(library.partition(".")[0]).namespace, verb)
            assert ours is not None
            contents[name] = guarded(verb, ours, contents[name], served[reason.calls], served[ARRAYS], module)
