"""The requirements of a kernel for the arrays of a call: as a test with a reason, and as Python expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal

from xarrayops._core.backends.registry import Backend
from xarrayops._ops.operations.caller import Parameters
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array, Record
from xarrayops.plugin.candidates import Call, always
from xarrayops.plugin.dtypes import REAL_OF
from xarrayops.plugin.operations import CallTests

Aligned = int | Literal["dtype"] | None
Dtypes = tuple[str, ...] | Mapping[str, tuple[str, ...]] | None
ORDERS = ("C", "F")


class Requirements(Record):
    """The requirements of a kernel; None for no requirement.

    ``dtypes``: the names of dtypes, one of which all arrays must have; or a mapping from a parameter to its dtypes.
    ``device``: the kind of device. ``layout``: "C" or "F". ``aligned``: the divisor of each address, in bytes, or
    "dtype" for the alignment that the dtype requires. ``options``: the classes of the options. ``all_arrays``: whether
    all arrays are required. ``can``: a capability test of the `Call`, whose arguments are the arrays and whose keywords
    are the options.
    """

    dtypes: Dtypes = None
    device: str | None = None
    layout: str | None = None
    aligned: Aligned = None
    options: tuple[type, ...] | None = None
    all_arrays: bool = False
    can: Callable[[Call], str | None] = always

    def refusal(self, parameters: tuple[str, ...], backend: Backend, call: Call) -> str | None:
        """Why a kernel with these requirements cannot serve the call; None if it can."""
        for name, x in zip(parameters, call.args, strict=True):
            if x is not None:
                reason = self._refusal_of_array(name, x, backend)
                if reason is not None:
                    return reason
            elif self.all_arrays:
                return f"{name} is omitted; the kernel takes all arrays"
        if isinstance(self.dtypes, tuple):
            names = [backend.functions["dtype_name"](x.dtype) for x in call.args if x is not None]
            if len(set(names)) > 1:
                return f"the arrays have different dtypes: {', '.join(map(str, names))}"
        if self.options is not None:
            for name, value in call.kwargs.items():
                if type(value) not in self.options:
                    known = ", ".join(each.__name__ for each in self.options)
                    return f"option {name} is a {type(value).__name__}; the kernel takes {known}"
        return self.can(call)

    def _refusal_of_array(self, name: str, x: Array, backend: Backend) -> str | None:
        allowed = self.dtypes_of(name)
        dtype = backend.functions["dtype_name"](x.dtype)
        if allowed is not None and dtype not in allowed:
            return f"{name} is {dtype or x.dtype}; the kernel takes {', '.join(allowed)}"
        kind = _device_kind(x, backend)
        if kind is None or (self.device is not None and kind != self.device):
            return f"{name} is on {kind or x.device}; the kernel runs on {self.device or 'devices with values'}"
        if (self.layout is None and self.aligned is None) or backend.no_strides is not None:
            return None
        memory = backend.functions["memory"](x)
        if memory is None:
            return f"{name} exposes no memory"
        if self.layout is not None and not _is_contiguous(memory, self.layout):
            return f"{name} is not {self.layout}-contiguous"
        if self.aligned is not None and memory.pointer is not None:
            divisor = _alignment(dtype, memory.itemsize) if self.aligned == "dtype" else self.aligned
            if memory.pointer % divisor:
                return f"{name} is not aligned to {divisor} bytes"
        return None

    def dtypes_of(self, name: str) -> tuple[str, ...] | None:
        """The dtypes that a parameter may have; None if it may have any."""
        return self.dtypes.get(name) if isinstance(self.dtypes, Mapping) else self.dtypes

    def expressions(
        self, parameters: Parameters, backend: Backend, tests: CallTests
    ) -> tuple[list[tuple[str, str]], dict[str, Any]] | None:
        """The expressions of a `Guarded` kernel with these requirements, and the objects that they name.

        None if expressions cannot test the requirements.
        """
        if self.can is not always:
            return None
        wanted: list[tuple[str, str]] = []
        objects: dict[str, Any] = {}
        for name in parameters.arrays:
            if self.all_arrays and name in parameters.optional:
                wanted.append(("", f"{name} is not None"))
            for text in self._expressions_of(name, parameters.arrays[0], backend, tests, objects):
                if not text:
                    return None
                wanted.append((name, text.format(x=name)))
        if self.options is not None:
            objects["_option_types"] = frozenset(self.options)
            wanted += [("", f"type({name}) in _option_types") for name in parameters.options]
        return wanted, objects

    def _expressions_of(
        self, name: str, first: str, backend: Backend, tests: CallTests, objects: dict[str, Any]
    ) -> Iterator[str]:
        """The expressions for one parameter; an empty one if the library has no expression for a requirement."""
        allowed = self.dtypes_of(name)
        if isinstance(self.dtypes, tuple) and name != first:
            yield f"{{x}}.dtype is {first}.dtype"
        elif allowed is not None:
            places = []
            for dtype, native in _native(allowed, backend).items():
                objects[f"_{dtype}"] = native
                places.append(f"{{x}}.dtype is _{dtype}")
            yield f"({' or '.join(places)})" if places else "False"
        if self.device is not None:
            yield tests.device.get(self.device, "False" if tests.device else "")
        elif "any" in tests.device:
            yield tests.device["any"]
        if backend.no_strides is None:
            if self.layout is not None:
                yield tests.order.get(self.layout, "")
            if self.aligned == "dtype":
                if tests.aligned:
                    yield tests.aligned
            elif self.aligned is not None:
                yield f"not {tests.address} % {self.aligned}" if tests.address else ""


def _native(dtypes: tuple[str, ...], backend: Backend) -> dict[str, Any]:
    """The native dtypes with these names, without those that the library lacks."""
    found = {}
    for name in dtypes:
        with suppress(Unsupported):
            found[name] = backend.native_dtype(name)
    return found


def _alignment(dtype: str | None, itemsize: int) -> int:
    """The alignment of a dtype in bytes; for complex numbers that of their parts."""
    return itemsize // 2 if dtype in REAL_OF else itemsize


def _is_contiguous(memory: Any, layout: str) -> bool:
    if layout == "C":
        return bool(memory.is_compact)
    return bool(memory._replace(shape=memory.shape[::-1], strides=memory.strides[::-1]).is_compact)


def _device_kind(x: Array, backend: Backend) -> str | None:
    """The kind of the device of x, for a tracer of the accelerator; None if it is not a device with values."""
    native = backend.functions["device"](x)
    if native is not None:
        return next((each.kind for each in backend.devices() if each.native == native), None)
    kinds = [each.kind for each in backend.devices()]
    return next((kind for kind in kinds if kind != "cpu"), "cpu")
