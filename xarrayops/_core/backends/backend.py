# Long: one class, the interface to a library.
"""A backend: one array library, as xarrayops uses it."""

from __future__ import annotations

import os
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xarrayops._core.backends.complex_order import ORDERING, ordering_complex
from xarrayops._core.backends.creation_values import CREATING, requiring_fit
from xarrayops._core.backends.entry_points import dtype_backend_name, module_of
from xarrayops._core.backends.integer_inputs import casting_integers
from xarrayops._core.backends.namespace import (
    COMPLETED,
    GENERIC,
    Functions,
    Implementation,
    build_namespace,
    extra_module,
    hook_module,
    hook_modules,
    implementation_of_extra,
    implementation_of_function,
    implementation_of_hook,
)
from xarrayops._core.backends.narrow_inputs import IN_SINGLE, without_overflow
from xarrayops._core.backends.resolved import computed_once, known_as, owners, publish, resolved
from xarrayops._generic.hooks import HOOKS
from xarrayops._surface import BACKENDS, EXTRA, SURFACE
from xarrayops.errors import MixedBackends, Unsupported
from xarrayops.plugin.arrays import Array, Device, Gap, gap_of, unsupported
from xarrayops.plugin.candidates import Kernel, KnownBad, constant_while_tracing
from xarrayops.plugin.dtypes import COMPLEX_OF, DTYPE_NAMES, FLOATING_DTYPES, REAL_OF, checked_kind
from xarrayops.plugin.precision import CHECKED, Plan, Policy, plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from xarrayops._core.backends.sparse_backend import SparseBackend

_OF_CLASS = {
    bool: ("bool", ""),
    int: ("int64", "integral"),
    float: ("float64", "real floating"),
    complex: ("complex128", "complex floating"),
}
"""The dtype of each class of Python's numbers, and the kind of the default dtype of a library that lacks it."""


class Backend:
    """The functions that serve the arrays of one library.

    Attributes
    ----------
    name : str
        The library's root package, such as ``"torch"``.
    key : str
        A name that no other object has.
    namespace : module
        The functions of the array API standard 2025.12 for this library, with its native dtypes.
    module : module
        The backend module (see `xarrayops.plugin`).
    functions : dict
        The function of each verb and hook, by name. Functions of tools/extra.pyi, and hooks in modules that the backend
        imports when it needs them, are added at their first use.
    origins : dict
        Where each of these functions comes from, in the words of `explain`.
    sparse_classes : str
        The package that defines the classes of sparse containers; empty if the library has no such classes.
    has_sparse_layouts : bool
        Whether an instance of the library's array classes may be a sparse container.
    refuse, refine, returned : function or None
        These hooks; None if the backend does not define them: the generic ones do nothing.
    immutable : bool
        Whether the library never writes to the memory of an array.
    ignores_values : bool
        Whether the library ignores invalid values, such as an index out of bounds, instead of raising.
    flushes_subnormals : bool
        Whether the library replaces subnormal numbers by 0.
    reads_captured_arrays : bool
        Whether compiled functions read the current values of arrays that are not arguments.
    compilation_seconds : float
        The estimated time to compile a small function, used until it is measured.
    no_strides : Gap or None
        Why the library's arrays have no strides; None if they have strides.
    known_bad : tuple of KnownBad
        The known faults of some versions of the library, as the backend lists them.
    """

    def __init__(self, name: str, module: ModuleType) -> None:
        self.name = name
        self.key = known_as(self)
        self.module = module
        self.functions: dict[str, Callable[..., Any]] = Functions(self._at_first_use)
        self._dtypes_like: dict[tuple[Any, bool], Any] = {}
        standard = {verb: implementation_of_function(module, verb) for verb in SURFACE}
        for verb in getattr(module, "CASTS_INTEGERS", ()):
            if gap_of(standard[verb].function) is None:
                function = casting_integers(verb, standard[verb].function, self.functions)
                standard[verb] = standard[verb]._replace(function=function, origin=COMPLETED)
        for verb in (IN_SINGLE | CHECKED) & standard.keys():
            standard[verb] = standard[verb]._replace(function=self._without_overflow(verb, standard[verb].function))
        for verb in CREATING:
            if gap_of(standard[verb].function) is None:
                wraps = getattr(module, "WRAPS_INTEGERS", False)
                function = requiring_fit(verb, standard[verb].function, self.functions, wraps_integers=wraps)
                standard[verb] = standard[verb]._replace(function=function)
        if not getattr(module, "ORDERS_COMPLEX", False):
            for verb in ORDERING:
                if gap_of(standard[verb].function) is None:
                    function = ordering_complex(verb, standard[verb].function, self)
                    standard[verb] = standard[verb]._replace(function=function, origin=COMPLETED)
        functions = {verb: served.function for verb, served in standard.items()}
        self.namespace = build_namespace(name, module, functions, self.functions)
        at_once = HOOKS.keys() - hook_modules(module).keys()
        hooks = {hook: self._hook(hook) for hook in at_once}
        everything = standard | hooks
        self.functions.update((verb, self._named(verb, served.function)) for verb, served in everything.items())
        self._kernels = {verb: served.kernels for verb, served in everything.items() if served.kernels}
        self.origins = {verb: served.origin for verb, served in everything.items()}
        support = getattr(module, "SPARSE", None)
        self.sparse_classes: str = "" if support is None else support.classes
        self.has_sparse_layouts = support is not None and not support.classes
        self.refuse, self.refine, self.returned = map(self.own_hook, ("refuse", "refine", "returned"))
        self.immutable: bool = getattr(module, "IMMUTABLE", False)
        self.flushes_subnormals: bool = getattr(module, "FLUSHES_SUBNORMALS", False)
        self.ignores_values: bool = getattr(module, "IGNORES_VALUES", False)
        self.reads_captured_arrays: bool = getattr(module, "READS_CAPTURED_ARRAYS", False)
        self.compilation_seconds: float = getattr(module, "COMPILATION_SECONDS", 1.0)
        self.no_strides: Gap | None = getattr(module, "NO_STRIDES", None)
        self.known_bad: tuple[KnownBad, ...] = getattr(module, "KNOWN_BAD", ())

    def resolve(self, verb: str) -> Callable[..., Any]:
        """``functions[verb]`` for a function that is added at its first use, which may be inside torch.compile."""
        found: Callable[..., Any] = getattr(resolved, _publish_function(self.key, verb))
        return found

    def kernels(self, verb: str) -> list[Kernel]:
        """The kernels of a verb or hook, best first; empty if the backend does not list them."""
        if verb in EXTRA or verb in HOOKS:
            self.functions[verb]  # its kernels are added at its first use
        return self._kernels.get(verb, [])

    def alternatives(self, verb: str) -> list[Kernel]:
        """The kernels of a verb or hook that only a measured choice uses."""
        name = getattr(self.module, "ALTERNATIVES", None)
        found: dict[str, list[Kernel]] = {} if name is None else import_module(name).KERNELS
        return found.get(verb, [])

    def _at_first_use(self, verb: str) -> Callable[..., Any]:
        """A function that was not needed before."""
        found = self._hook(verb) if verb in HOOKS else self._extra(verb)
        self.origins[verb] = found.origin
        if found.kernels:
            self._kernels[verb] = found.kernels
        return self._named(verb, found.function)

    def _hook(self, hook: str) -> Implementation:
        source = hook_module(self.module, hook)
        if source is not self.module and self.module.__name__ not in BACKENDS.values():  # the tests validate our own
            from xarrayops._core.backends.validation import validate_hook  # it imports inspect

            validate_hook(source, hook)
        return implementation_of_hook(self.module, source, hook, self._twin(hook))

    def _extra(self, verb: str) -> Implementation:
        """The implementation of a verb that is not in the standard and has no hook."""
        own = extra_module(self.module, verb)
        if own is not None and self.module.__name__ not in BACKENDS.values():  # the tests validate our own
            from xarrayops._core.backends.validation import validate_extra  # it imports inspect

            validate_extra(own)
        found = implementation_of_extra(self.module, verb, self.namespace)
        return found._replace(function=self._without_overflow(verb, found.function))

    def _without_overflow(self, verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function; if it sums, averages or normalises, without overflow in half and single precision."""
        looks = hasattr(self.module, "has_overflowed")
        doubles = verb in getattr(self.module, "COMPUTES_IN_DOUBLE", ())
        if verb in getattr(self.module, "CANNOT_OVERFLOW", ()) or gap_of(function) is not None:
            return function
        if not (verb in IN_SINGLE or doubles or (looks and verb in CHECKED)):
            return function
        return without_overflow(verb, function, self.functions, looks=looks, doubles=doubles)

    def _named(self, verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function; for a gap, a function that raises `Unsupported` with the names of the verb and the library."""
        gap = gap_of(function)
        if gap is None:
            return function
        refuse = unsupported(f"xo.{verb} does not serve {self.name} arrays: {gap.why}", instead=gap.instead)
        vars(refuse)["gap"] = gap
        return refuse

    def _twin(self, hook: str) -> Callable[..., Any]:
        """The generic function of a hook, with the library's namespace bound."""
        generic = HOOKS[hook]
        return generic if gap_of(generic) else partial(generic, self.namespace)

    def __repr__(self) -> str:
        return f"<xarrayops backend {self.name}>"

    def own_hook(self, hook: str) -> Callable[..., Any] | None:
        """The backend's own function for a hook; None if it uses the generic one."""
        function = self.functions[hook]  # before its origin: it may be added now
        return None if self.origins[hook] == GENERIC else function

    def devices(self) -> list[Device]:
        """The usable devices. They are cached, because it takes long to create device handles."""
        return list(self._devices)

    @computed_once
    def _devices(self) -> tuple[Device, ...]:
        return tuple(self.functions["devices"]())

    @computed_once
    def _host(self) -> Device | None:
        """The CPU device, if the library computes there. Accelerators are not queried: that may initialise them."""
        try:
            native = self.functions["as_device"]("cpu")
        except (ValueError, TypeError, RuntimeError):
            return None
        return Device("cpu", "cpu", native)

    def device_of(self, x: Array) -> Device | None:
        """The device of x, without waiting for the values of x.

        None if x has no single device (a tracer, a task graph, an array sharded over several devices).
        """
        if self.functions["is_lazy"](x):
            return None
        native = self.functions["device"](x)
        if self._host is not None and self._host.native == native:
            return self._host
        return next((device for device in self._devices if device.native == native), None)

    def device_at(self, kind: str, index: int) -> Device | None:
        """The device of that kind and index, which mean the same in every library, or None.

        All CPU devices share host memory, so their index is ignored.
        """
        if kind == "cpu":
            return self._host
        return next((device for device in self._devices if (device.kind, device.index) == (kind, index)), None)

    def device_attributes(self, device: Device) -> dict[str, int | str]:
        """What the library reports about a device: clocks, units and memory, where known."""
        return self.functions["device_attributes"](device.native)

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the library and of what it runs on."""
        return self.functions["versions"]()

    @property
    def has_entry_point(self) -> bool:
        """Whether the backend has an entry point and so a name; others are selected by their namespace module."""
        return module_of(self.name) is not None

    @property
    def shared_environment(self) -> dict[str, str]:
        """The environment variables that let processes share a device. They must be set before the first array."""
        return dict(getattr(self.module, "SHARED_ENVIRONMENT", {}))

    @property
    def settings(self) -> dict[str, dict[str, str]]:
        """Named configurations of the library, as environment variables."""
        return dict(getattr(self.module, "SETTINGS", {}))

    @property
    def untraceable(self) -> dict[str, Gap]:
        """The functions that the library's own compiler cannot trace (Dask: that must compute), with the reason."""
        return dict(getattr(self.module, "UNTRACEABLE", {}))

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that configure the library, if they are set."""
        names = getattr(self.module, "ENVIRONMENT", ())
        prefixes = tuple(name.removesuffix("*") for name in names if name.endswith("*"))
        known = ((name, value) for name, value in os.environ.items() if name in names or name.startswith(prefixes))
        return dict(sorted(known))

    @computed_once
    def sparse(self) -> SparseBackend:
        """The sparse backend of the library; imports the packages that it needs.

        Raises
        ------
        Unsupported
            The library has no supported sparse containers, or a required package is missing.
        """
        from xarrayops._core.backends.sparse_backend import SparseBackend  # it imports NumPy and the host kernels

        support = getattr(self.module, "SPARSE", None)
        if support is None:
            raise Unsupported(f'{self.name} has no supported sparse containers. Instead: xo.convert(x, "numpy") first')
        return SparseBackend(self, support)

    @constant_while_tracing
    def native_dtype(self, dtype: Any) -> Any:
        """The native dtype of a name; a native dtype is returned as it is. A dtype of another library raises.

        Python's classes of numbers name the dtypes of NumPy's numbers, or the library's defaults if it lacks those.
        """
        if isinstance(dtype, str):
            try:
                return self.functions["as_dtype"](dtype)
            except ValueError as error:
                raise Unsupported(_named_by_numpy(dtype) or f"{self.name} has no dtype {dtype!r}: {error}") from None
        if type(dtype) is type and dtype in _OF_CLASS:
            name, kind = _OF_CLASS[dtype]
            if kind != "integral" and self.functions["import_refusal"](name) is None:
                return self.functions["as_dtype"](name)
            return self.namespace.__array_namespace_info__().default_dtypes()[kind]
        if type(dtype) is type and dtype.__module__ == "builtins":
            problem = f"{self.name} has no dtype for {dtype.__name__}: arrays hold numbers"
            raise Unsupported(f'{problem}. Instead: a dtype such as "float64"')
        if self.functions["dtype_name"](dtype) is None:
            owner = dtype_backend_name(dtype)
            if owner not in (None, self.name):
                name = str(getattr(dtype, "__name__", dtype)).rpartition(".")[2]
                named = f'"{name}"' if name in DTYPE_NAMES else 'such as "float32"'
                raise MixedBackends(
                    f"dtype {dtype} belongs to {owner}, but the call uses {self.name}. "
                    f"Instead: name the dtype by the string {named}, which every library accepts."
                )
        return dtype

    @constant_while_tracing
    def floating_name(self, dtype: Any) -> str | None:
        """The name of a real or complex floating-point dtype; None for other dtypes, also for those of 8 bits."""
        name: str | None = self.functions["dtype_name"](dtype)
        return name if name in FLOATING_DTYPES or name in REAL_OF else None

    @constant_while_tracing
    def dtype_like(self, dtype: Any, *, is_complex: bool) -> Any:
        """The native dtype for floating-point or complex numbers that are combined with an array of this dtype.

        None if the array is not floating-point: then the default applies.
        """
        try:
            return self._dtypes_like[dtype, is_complex]
        except KeyError:
            name = self.floating_name(dtype)
        table = COMPLEX_OF if is_complex else REAL_OF
        native = None if name is None else self.functions["as_dtype"](table.get(name, name))
        self._dtypes_like[dtype, is_complex] = native
        return native

    @constant_while_tracing
    def precision_plan(self, policy: tuple[Any, ...], dtypes: tuple[Any, ...]) -> Plan | None:
        """How a product of arrays of these dtypes is computed under the policy with these fields; see `plan`."""
        sums_halves = self.own_hook("product_precision") is not None
        return plan(Policy(*policy), dtypes, self.functions, sums_halves=sums_halves)

    @constant_while_tracing
    def is_of_kind(self, dtype: Any, kinds: tuple[Any, ...]) -> bool:
        """Whether a dtype is of one of the kinds: a kind of the standard, a dtype, or a dtype's name."""
        native = self.native_dtype(dtype)
        name = self.functions["dtype_name"](native)
        for kind in map(checked_kind, kinds):
            if isinstance(kind, str) and kind in DTYPE_NAMES:  # the library lacks the dtype, so the answer is no
                found = kind == name
            else:
                found = self.functions["isdtype"](native, kind if isinstance(kind, str) else self.native_dtype(kind))
            if found:
                return True
        return False

    @constant_while_tracing
    def native_device(self, device: Any) -> Any:
        """The native device of a name such as ``"cuda:1"``; a native device is returned as it is."""
        try:
            return self.functions["as_device"](device)
        except (ValueError, TypeError, RuntimeError) as error:
            raise Unsupported(f"{self.name} has no device {str(device)!r}: {error}") from None


def _named_by_numpy(name: str) -> str | None:
    """The error for a dtype name or code that only NumPy accepts, such as ``"f4"``; None for other names."""
    from xarrayops._core.numpy_names.renamed import DTYPE_CODES, RENAMED  # needed for errors only

    ours = DTYPE_CODES.get(name) or RENAMED.get(name)
    return f"{name!r} is not the name of a dtype here. Instead: {ours!r}" if ours in DTYPE_NAMES else None


_published: dict[tuple[str, str], str] = {}


@constant_while_tracing
def _publish_function(key: str, verb: str) -> str:
    try:
        return _published[key, verb]
    except KeyError:
        return _published.setdefault((key, verb), publish(f"{verb} of {key}", owners[key].functions[verb]))
