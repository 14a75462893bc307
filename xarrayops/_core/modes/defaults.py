"""The defaults of creation functions: library, device and floating-point dtype."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import RLock
from types import ModuleType
from typing import Any

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.dtype_names import name_of
from xarrayops._core.backends.entry_points import module_of
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.refused import NotGiven, Refused, shows_own_parameters
from xarrayops._core.modes import tables as modes
from xarrayops._core.modes.settings import Scope, Setting
from xarrayops.errors import BackendNotFound
from xarrayops.plugin.arrays import Array, Record
from xarrayops.plugin.dtypes import DTYPE_NAMES, FLOATING_DTYPES

Library = str | Backend | ModuleType | Array
"""A library: a backend's name, a backend, a namespace module, or one of its arrays."""


class Place(Record):
    """The library and the device of new arrays. A device of None is the default device of the library."""

    backend: str | Backend
    device: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        """With the name of the device: other processes have other handles."""
        devices = () if self.device is None else find.library(self.backend).devices()
        names = [each.name for each in devices if each.native == self.device]
        return Place, (self.backend, *(names or [self.device]))


ENVIRONMENT = Place(os.environ.get("XARRAYOPS_BACKEND") or "numpy")
_program_place = ENVIRONMENT
_program_dtype: str | None = None
_program: tuple[str | Backend, Any, str | None] = *ENVIRONMENT, None
"""The default library, device and dtype that `of_new_arrays` returns outside of blocks."""
changes = 0
"""The number of calls of `set_default`. Code that was compiled before the last one must be compiled again."""
_changing = RLock()
_place: Setting[Place] = Setting("xo.use")
_dtype: Setting[str | None] = Setting("xo.use(dtype=)")


class use(Scope):  # noqa: N801 - lower case, because it is used as a statement: with xo.use("torch")
    """Set the default library, device and floating-point dtype inside a ``with`` block.

    The block affects creation functions without ``like=`` and, by its dtype, functions of integers that return
    floating-point numbers, such as `mean` and `divide`. It affects functions of xarrayops in its own thread or task
    only. A setting that the block omits keeps its outer value: the library named by the environment variable
    ``XARRAYOPS_BACKEND`` or NumPy, and the library's own device and dtype, unless `set_default` changed them.

    Functions that `jax.jit` or `torch.compile` compiled are compiled again for a block with other settings. They
    follow the blocks of their thread: in programs with several tasks, open the block around each call, without an
    ``await`` in it. `torch.compile` cannot trace a block inside the function.

    Parameters
    ----------
    backend : str, Backend, module or array, optional
        The library: the name of its backend, such as ``"torch"``, its backend, its namespace, or one of its arrays. An
        array also gives its device.
    device : optional
        A device name such as ``"cuda:0"``, or a native device.
    dtype : optional
        A real floating-point dtype: a name such as ``"float64"``, a native dtype of any library, or Python's ``float``,
        which is float64.

    Raises
    ------
    BackendNotFound
        No backend has the name.
    TypeError
        The dtype is not a real floating-point dtype.
    RuntimeError
        JAX was imported inside the block and compiles a function there. The code would keep the settings afterwards.

    Examples
    --------
    >>> import xarrayops as xo
    >>> with xo.use("numpy", device="cpu", dtype="float32"):
    ...     x = xo.zeros((2, 3))
    >>> x.dtype
    dtype('float32')
    """

    @shows_own_parameters
    def __init__(
        self,
        backend: Library | None = None,
        extra: Refused = NotGiven,
        /,
        device: Any = None,
        dtype: Any = None,
        like: Refused = None,
    ) -> None:
        _check_call("use", backend, extra, like)
        super().__init__()
        self._place = None if backend is None else Place(*library_and_device(backend, device))
        self._device = device
        self._dtype = floating_name("use", dtype)
        self._is_mode = self._dtype is not None

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """The library, device and dtype that were given."""
        found: list[tuple[Setting[Any], Any, Any]] = []
        if self._place is not None or self._device is not None:
            place = self._place or _place.value(_program_place)
            place = place if self._device is None else place._replace(device=self._device)
            found.append((_place, place, _program_place))
        if self._dtype is not None:
            found.append((_dtype, self._dtype, _program_dtype))
        return found

    def carried(self, values: Mapping[Setting[Any], Any]) -> Scope:
        """With the device in its library, so that it can be named."""
        from copy import copy  # imported here, because `import xarrayops` does not need it

        found = copy(self)
        found._place, found._device = values.get(_place, self._place), None
        return found


class of_program(Scope):  # noqa: N801 - lower case, as all blocks
    """The defaults outside of all blocks, for a process in which `set_default` was not called."""

    def __init__(self) -> None:
        super().__init__()
        self._place, self._dtype = _program_place, _program_dtype
        self._is_mode = self._dtype is not None

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """The library, device and dtype."""
        return [(_place, self._place, _program_place), (_dtype, self._dtype, _program_dtype)]


@shows_own_parameters
def set_default(
    backend: Library | None = None,
    extra: Refused = NotGiven,
    /,
    device: Any = None,
    dtype: Any = None,
    like: Refused = None,
) -> None:
    """Set the default library, device and floating-point dtype for all threads, outside of `use`.

    Each call replaces all three; ``set_default()`` restores the initial defaults. The dtype is also set as the
    default dtype of PyTorch, so that operators of integer tensors (``counts / n``) follow. No other library has such a
    setting. Functions that JAX or PyTorch compiled before are compiled again.

    Parameters
    ----------
    backend, device, dtype : optional
        As for `use`. By default the environment variable ``XARRAYOPS_BACKEND`` or NumPy, and the library's own device
        and dtype.

    Raises
    ------
    BackendNotFound
        No backend has the name, or its library is not installed.
    TypeError
        The dtype is not a real floating-point dtype.
    Unsupported
        The library has no such dtype or device; JAX, for example, has no float64 while its 64-bit types are off.

    Examples
    --------
    >>> import xarrayops as xo
    >>> xo.set_default(dtype="float32")
    >>> xo.zeros(2).dtype
    dtype('float32')
    >>> xo.set_default()
    """
    global _program_place, _program_dtype, _program, changes
    _check_call("set_default", backend, extra, like)
    place = ENVIRONMENT._replace(device=device) if backend is None else Place(*library_and_device(backend, device))
    name = floating_name("set_default", dtype)
    if place != ENVIRONMENT or name is not None:
        chosen = find.library(place.backend)
        native_device = None if place.device is None else chosen.native_device(place.device)
        native_dtype = None if name is None else chosen.native_dtype(name)
        chosen.functions["empty"]((0,), dtype=native_dtype, device=native_device)  # raises if the library refuses them
    with _changing:
        if (place, name) == (_program_place, _program_dtype):
            return
        for loaded in list(registry.by_module.values()):
            loaded.functions["set_default_dtype"](name)
        if name is not None and _program_dtype is None:
            modes.begin()
        elif name is None and _program_dtype is not None:
            modes.end()
        _program_place, _program_dtype, _program, changes = place, name, (*place, name), changes + 1


def _set_native_default(backend: Backend) -> None:
    """Set the default dtype of a library that was loaded after `set_default`."""
    if _program_dtype is not None:
        backend.functions["set_default_dtype"](_program_dtype)


registry.on_load.append(_set_native_default)


def _check_call(verb: str, backend: Library | None, extra: Any, like: Any) -> None:
    """Raise for ``like=``, for positional arguments, and if no backend has the name. The library is not imported."""
    if like is not None:
        raise TypeError(f"xo.{verb} has no like=. Instead: xo.{verb}(x), which takes the library and the device of x")
    if extra is not NotGiven:
        raise TypeError(f'xo.{verb} takes device= and dtype= by keyword. Instead: xo.{verb}("numpy", dtype="float32")')
    if isinstance(backend, str) and backend in DTYPE_NAMES:
        raise BackendNotFound(f'xo.{verb}: {backend!r} is a dtype. Instead: xo.{verb}(dtype="{backend}")')
    if isinstance(backend, str) and module_of(backend) is None:
        find.named(backend)


def library_and_device(backend: Library, device: Any = None) -> tuple[str | Backend, Any]:
    """The name of the backend, or the backend if it has no entry point; and the device, by default that of an array.

    A name is returned without a look-up.
    """
    if isinstance(backend, str):
        return backend, device
    found = find.library(backend)
    if device is None and not isinstance(backend, (Backend, ModuleType)):
        device = found.functions["device"](backend)
    return found.name if found.has_entry_point else found, device


def floating_name(verb: str, dtype: Any) -> str | None:
    """The name of a real floating-point dtype; None for None."""
    if dtype is None:
        return None
    name = "float64" if dtype is float else name_of(dtype)
    if name not in FLOATING_DTYPES:
        raise TypeError(
            f"xo.{verb}: dtype must be one of {', '.join(FLOATING_DTYPES)}, a native dtype with that name or Python's "
            f"float, which is float64; it was {dtype!r}."
        )
    return name


def of_new_arrays() -> tuple[str | Backend, Any, str | None]:
    """The default library, device and floating-point dtype of this thread or task."""
    if not _place.open_blocks and not _dtype.open_blocks:
        return _program
    place = _place.value(_program_place)
    return place[0], place[1], _dtype.value(_program_dtype)  # Dynamo of PyTorch 2.11 cannot unpack it


def floating_dtype() -> str | None:
    """The default floating-point dtype of this thread or task; None for the library's own."""
    return _dtype.value(_program_dtype)
