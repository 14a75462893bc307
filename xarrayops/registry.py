"""Which backend serves a class, a name or a namespace.

Entry points of the group ``xarrayops.backends`` are the only door. An entry point's name is the root package of the
array classes that it may serve; the module that it names decides by ``ARRAY_TYPES``. A class without an entry point is
served through ``__array_namespace__``: the generic road.
"""

from __future__ import annotations

import sys
from functools import cache, partial
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from xarrayops import _generic
from xarrayops._namespace import build_namespace, lookup, offer, origin
from xarrayops._surface import SURFACE
from xarrayops.errors import BackendNotFound, InvalidBackend, MixedBackends, Unsupported
from xarrayops.plugin import HOOKS, Array, Device, Gap, KnownBad, gap_of, unsupported

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import EntryPoint

GROUP = "xarrayops.backends"
SCALARS = frozenset({bool, int, float, complex})
"""Python's own numbers, which belong to no library. Exactly these: a NumPy scalar is a NumPy array."""


class Backend:
    """One array library, as xarrayops uses it.

    Attributes
    ----------
    name : str
        The library's root package, such as ``"torch"``.
    namespace : module
        The array API standard 2025.12 in this library: native dtypes, our completed functions.
    module : module
        The backend module (see `xarrayops.plugin`).
    functions : dict
        What serves each verb and hook, by name.
    origins : dict
        Where each of them comes from, as `explain` says it.
    """

    def __init__(self, name: str, module: ModuleType) -> None:
        self.name = name
        self.module = module
        self.namespace = build_namespace(module)
        self.functions: dict[str, Callable[..., Any]] = {verb: _require(self.namespace, verb) for verb in SURFACE}
        for hook in HOOKS:
            self.functions[hook] = offer(module, hook) or partial(getattr(_generic, hook), self.namespace)
        self.origins = {verb: origin(module, verb) for verb in self.functions}
        for verb, function in self.functions.items():
            gap = gap_of(function)
            if gap is not None:
                self.functions[verb] = _named_gap(name, verb, gap)

    def __repr__(self) -> str:
        return f"<xarrayops backend {self.name}>"

    def devices(self) -> list[Device]:
        """The devices that can be used now."""
        devices: list[Device] = self.functions["devices"]()
        return devices

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the library and of what it runs on."""
        versions: dict[str, str] = self.functions["versions"]()
        return versions

    @property
    def has_entry_point(self) -> bool:
        """Whether the library is known by its name; one on the generic road is named by its namespace module."""
        return self.name in entry_points()

    @property
    def immutable(self) -> bool:
        """Whether the library never writes an array's memory."""
        return bool(getattr(self.module, "IMMUTABLE", False))

    @property
    def shared_environment(self) -> dict[str, str]:
        """Environment variables, to be set before the first array, by which several processes share a device."""
        return dict(getattr(self.module, "SHARED_ENVIRONMENT", {}))

    @property
    def known_bad(self) -> tuple[KnownBad, ...]:
        """Faults of some of the library's versions, as the backend file lists them."""
        return tuple(getattr(self.module, "KNOWN_BAD", ()))

    @property
    def untraceable(self) -> dict[str, Gap]:
        """The functions that the library's own compiler cannot trace (for Dask: that must compute), with the reason."""
        return dict(getattr(self.module, "UNTRACEABLE", {}))

    def native_dtype(self, dtype: Any) -> Any:
        """The native dtype for a standard name; a native dtype itself. A dtype of another library raises."""
        if isinstance(dtype, str):
            try:
                return self.functions["as_dtype"](dtype)
            except ValueError as error:
                raise Unsupported(f"{self.name} has no dtype {dtype!r}: {error}") from None
        if self.functions["dtype_name"](dtype) is None:
            owner = dtype_backend_name(dtype)
            if owner not in (None, self.name):
                raise MixedBackends(
                    f"dtype {dtype} belongs to {owner}, but the call runs on {self.name}. "
                    f'Name the dtype by a string, such as "float32", and it fits every library.'
                )
        return dtype

    def native_device(self, device: Any) -> Any:
        """The native device for a name such as ``"cuda:1"``, or a native device itself."""
        try:
            return self.functions["as_device"](device)
        except (ValueError, TypeError, RuntimeError) as error:
            known = ", ".join(d.name for d in self.devices()) or "none"
            raise Unsupported(f"{self.name} has no device {device!r} (it has: {known}): {error}") from None


def _require(namespace: ModuleType, verb: str) -> Callable[..., Any]:
    function = lookup(namespace, verb)
    assert function is not None, verb
    return function


def _named_gap(name: str, verb: str, gap: Gap) -> Callable[..., Any]:
    """What raises for a gap, with the verb and the library, which a backend file need not repeat."""
    refuse = unsupported(f"xo.{verb} does not serve {name} arrays: {gap.why}", instead=gap.instead)
    vars(refuse)["gap"] = gap
    return refuse


_by_class: dict[type, Backend] = {}
_by_module: dict[str, Backend] = {}
_by_namespace: dict[str, Backend] = {}
_building = RLock()
"""Held while a backend is built, so that all threads get the same one. What is built already is found without it."""


@cache
def entry_points() -> dict[str, EntryPoint]:
    """The entry points by root package."""
    from importlib import metadata

    found: dict[str, EntryPoint] = {}
    for entry in metadata.entry_points(group=GROUP):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            names = " and ".join(sorted(distribution_name(e) for e in (other, entry)))
            raise InvalidBackend(
                f"both {names} claim the root package {entry.name!r} ({other.value}, {entry.value}). Uninstall one."
            )
    return found


def distribution_name(entry: EntryPoint) -> str:
    """The distribution that an entry point comes from."""
    return entry.dist.name if entry.dist is not None else entry.value


def backend_name(entry: EntryPoint) -> str:
    """The name of the backend that an entry point leads to: of all roots of one module, the module's own."""
    roots = sorted(root for root, other in entry_points().items() if other.value == entry.value)
    own = entry.value.rpartition(".")[2]
    return own if own in roots else roots[0]


def load(entry: EntryPoint) -> Backend:
    """The backend behind an entry point; imported, validated and built once."""
    if entry.value not in _by_module:
        from xarrayops._validation import validate  # it needs inspect, a quarter of the time of `import xarrayops`

        module = import_module(entry.value)  # not under our lock: another thread may hold Python's lock on the module
        with _building:
            if entry.value not in _by_module:
                validate(module)
                _by_module[entry.value] = Backend(backend_name(entry), module)
    return _by_module[entry.value]


def backend_of_class(cls: type) -> Backend | None:
    """The backend that serves a class; None if no entry point does and none was admitted on the generic road."""
    found = _by_class.get(cls)
    if found is None and cls not in SCALARS and cls is not type(None):
        found = _served_by_entry_point(cls)
        if found is not None:
            _by_class[cls] = found
    return found


def _served_by_entry_point(cls: type) -> Backend | None:
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        entry = entry_points().get(root) if root in sys.modules else None
        if entry is not None:
            backend = load(entry)
            if issubclass(cls, backend.module.ARRAY_TYPES) and refused_class(cls, backend) is None:
                return backend
    return None


def refused_class(cls: type, backend: Backend) -> Gap | None:
    """Why a subclass of the library's arrays is none that we serve (``np.matrix``); None if we do."""
    refused: dict[str, Gap] = getattr(backend.module, "REFUSED_TYPES", {})
    names = (f"{base.__module__.partition('.')[0]}.{base.__qualname__}" for base in cls.__mro__)
    return next((refused[name] for name in names if name in refused), None)


def refusal(x: Any) -> Gap | None:
    """Why an object that its library calls an array is none that we serve, or None."""
    for base in type(x).__mro__:
        entry = entry_points().get(base.__module__.partition(".")[0])
        if entry is not None and base.__module__.partition(".")[0] in sys.modules:
            backend = load(entry)
            if isinstance(x, backend.module.ARRAY_TYPES):
                return refused_class(type(x), backend) or backend.functions["refuse"](x)
    return None


def admit(x: Any) -> Backend | None:
    """The backend of an object, admitting its class on the generic road if it has ``__array_namespace__``."""
    found = backend_of_class(type(x))
    conforms = hasattr(type(x), "__array_namespace__")  # asked of the class: np.float32 has the method, and is no array
    if found is None and conforms and refusal(x) is None:
        found = generic_backend(x.__array_namespace__())
        _by_class[type(x)] = found
    return found


def generic_backend(namespace: ModuleType) -> Backend:
    """The backend of a library that has no entry point, named by its namespace."""
    name = namespace.__name__
    if name not in _by_namespace:
        module = ModuleType(f"{name} (the generic road)")
        vars(module).update(NAMESPACE=namespace, ARRAY_TYPES=(type(namespace.empty((0,))),))
        with _building:
            if name not in _by_namespace:
                _by_namespace[name] = Backend(name, module)
        for cls in module.ARRAY_TYPES:
            _by_class.setdefault(cls, _by_namespace[name])
    return _by_namespace[name]


def backend_by_name(name: str) -> Backend:
    """The backend of that name.

    Raises
    ------
    BackendNotFound
        No backend has the name, or its library cannot be imported; the message says how to get it.
    """
    entry = entry_points().get(name)
    if entry is None:
        known = ", ".join(sorted({backend_name(e) for e in entry_points().values()})) or "none: is xarrayops installed?"
        raise BackendNotFound(
            f"no backend is named {name!r}; known: {known}. A library without a backend of its own is named by its "
            f"namespace module."
        )
    try:
        return load(entry)
    except InvalidBackend:
        raise
    except ModuleNotFoundError as error:
        raise BackendNotFound(
            f"backend {name!r} needs a library that is missing: {error}. {install_hint(entry)}"
        ) from error
    except Exception as error:  # a broken library may raise anything at import
        raise BackendNotFound(f"backend {name!r} cannot be imported: {error}. {install_hint(entry)}") from error


def install_hint(entry: EntryPoint) -> str:
    """The command that installs what a backend needs: the extras of its distribution that begin with its root."""
    dist, root = entry.dist, backend_name(entry).replace("_", "-")
    extras = [] if dist is None else dist.metadata.get_all("Provides-Extra") or []
    fitting = [e for e in extras if e == root] or [e for e in extras if e.startswith(f"{root}-")]
    commands = [f"pip install '{distribution_name(entry)}[{extra}]'" for extra in fitting]
    return f"Install it: {' or '.join(commands)}" if commands else f"Install {root}."


class BackendStatus(NamedTuple):
    """Whether a backend can be used here, and if not, why and what would help."""

    name: str
    code: str
    backend: Backend | None = None
    reason: str = ""
    hint: str = ""

    @property
    def available(self) -> bool:
        """Whether the code is "ok", and not "not-installed", "broken" or "no-device"."""
        return self.code == "ok"


def names() -> list[str]:
    """The names of all backends that an entry point leads to; imports none of them."""
    return sorted({backend_name(entry) for entry in entry_points().values()})


def statuses() -> list[BackendStatus]:
    """Every backend that an entry point names."""
    return [status(name) for name in names()]


def status(name: str) -> BackendStatus:
    """Whether the backend of that name can be used here; imports no library but its own."""
    entry = entry_points()[name]
    try:
        backend = load(entry)
        devices = backend.devices()
    except ModuleNotFoundError as error:
        reason = f"not installed (no module {error.name})"
        return BackendStatus(name, "not-installed", None, reason, install_hint(entry))
    except InvalidBackend as error:
        return BackendStatus(name, "broken", None, str(error), f"Mend or uninstall {distribution_name(entry)}.")
    except Exception as error:  # a broken library may raise anything at import
        return BackendStatus(name, "broken", None, f"cannot be imported: {error}", install_hint(entry))
    if devices:
        return BackendStatus(name, "ok", backend)
    hint = f"{name} needs an accelerator and its driver."
    return BackendStatus(name, "no-device", backend, "no device that it can use", hint)


def backend_by_namespace(namespace: ModuleType) -> Backend:
    """The backend of a namespace module, such as ``numpy``, ``array_api_compat.torch`` or ``array_api_strict``."""
    for backend in (*_by_module.values(), *_by_namespace.values()):
        if namespace in (backend.namespace, backend.module.NAMESPACE):
            return backend
    root = namespace.__name__.removeprefix("array_api_compat.").partition(".")[0]
    if root in entry_points():
        return backend_by_name(root)
    if not hasattr(namespace, "__array_namespace_info__"):
        raise BackendNotFound(f"module {namespace.__name__} is no namespace of the array API standard.")
    return generic_backend(namespace)


def backend_of(x: Any) -> Backend:
    """The backend of an array, by its class and, where the class does not tell, by the array itself.

    Raises
    ------
    BackendNotFound, Unsupported
        It is no array, or one that we do not serve.
    """
    found = admit(x)
    gap = refusal(x)
    if gap is not None:
        raise Unsupported(str(gap))
    if found is None:
        raise BackendNotFound(f"{describe_class(type(x))} is no array of a known library. Make it one: xo.asarray(x).")
    return refined(found, x)


def refined(backend: Backend, x: Array) -> Backend:
    """The backend of this very array, where its class does not tell: an XLA tensor's."""
    name = backend.functions["refine"](x)
    return backend if name is None else backend_by_name(name)


def describe_class(cls: type) -> str:
    """A class as an error shows it."""
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def dtype_backend_name(dtype: Any) -> str | None:
    """The name of the backend that a native dtype belongs to, judged by its class; None if unknown."""
    cls = dtype if isinstance(dtype, type) else type(dtype)
    root = cls.__module__.partition(".")[0]
    entry = entry_points().get(root)
    if entry is not None:
        return backend_name(entry)
    module = sys.modules.get(root)
    return root if module is not None and hasattr(module, "__array_api_version__") else None


def backend_by_dtype_owner(name: str) -> Backend:
    """The backend that `dtype_backend_name` named: of an entry point, or of a namespace module without one."""
    return backend_by_name(name) if name in entry_points() else generic_backend(sys.modules[name])
