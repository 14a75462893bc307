"""Kernels of an operation that are written in C++, CUDA or HIP: one build serves several libraries.

The compiled function is called through tvm-ffi, which passes the arrays by DLPack.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from xarrayops._core.backends.registry import Backend
from xarrayops._ops.operations.requirements import Requirements
from xarrayops._system import gpus
from xarrayops.errors import BuildError, Unsupported, install_command
from xarrayops.plugin.arrays import gap_of
from xarrayops.plugin.candidates import Call, NotServed
from xarrayops.plugin.native import OPTION_TYPES, NativeKernel

if TYPE_CHECKING:
    from xarrayops._ops.operations.definition import Definition

Sources = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[str, str]
_number = count()


class Native:
    """The compiled function of a kernel.

    Attributes
    ----------
    name : str
        The name of the kernel.
    device : str
        The kind of device whose memory it takes: "cuda" if a source is CUDA, "rocm" if one is HIP, else "cpu".
    requirements : Requirements
        Of the kernel.
    """

    def __init__(
        self,
        definition: Definition,
        name: str,
        sources: Mapping[str, str],
        entry: str,
        flags: Sequence[str],
        requirements: Requirements,
    ) -> None:
        from xarrayops._system.compiler import HEADERS, SUFFIXES, language_of  # `import xarrayops` builds nothing

        known = (*SUFFIXES, *HEADERS)
        unknown = [each for each in sources if not each.endswith(known)]
        if unknown or not any(each.endswith(SUFFIXES) for each in sources):
            named = f"not {', '.join(unknown)}" if unknown else f"and {', '.join(sources) or 'nothing'} is not a source"
            raise ValueError(f"{definition.name}: the sources of {name} end in {' '.join(known)}, {named}")
        self.name = name
        self._definition = definition
        self._sources = dict(sources)
        self._entry = entry
        self._flags = tuple(flags)
        self._language = language_of(list(sources))
        self.device = self._language.device
        self.requirements = requirements._replace(device=self.device, options=OPTION_TYPES, all_arrays=True)
        self._target = f"xarrayops.{definition.name}.{name}.{next(_number)}"
        self._building = Lock()
        self._backends: dict[str, Backend] = {}
        self._function: Callable[..., None] | None = None
        self._error: BuildError | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _native_of, (self._definition, self.name)

    def unavailable(self) -> str | None:
        """Why it cannot be built here; None if it can."""
        from importlib.util import find_spec  # slow to import

        from xarrayops._system import compiler

        if find_spec("tvm_ffi") is None:
            return f"apache-tvm-ffi is not installed: {install_command('native')}"
        if compiler.find(self._language) is None:
            return compiler.missing(self._language)
        return None if self._error is None else str(self._error).partition("\n")[0]

    def function_for(self, backend: Backend) -> Callable[..., Any] | str:
        """The kernel for the arrays of a backend, or why there is none. Nothing is built before a call."""
        hook = backend.functions["native_kernel"]
        gap = gap_of(hook)
        reason = str(gap) if gap else self.unavailable()
        if reason is not None:
            return reason
        self._backends[backend.name] = backend
        try:
            return hook(self.kernel())
        except Unsupported as error:
            return str(error)

    def kernel(self) -> NativeKernel:
        """The kernel as a backend gets it."""
        own = self._definition
        return NativeKernel(self._target, self._load_or_warn, own.reference, own.parameters.options, self.device)

    def _load_or_warn(self) -> Callable[..., None]:
        """The compiled function. If it cannot be built, a warning says why, and the next kernel serves."""
        try:
            return self.load()
        except BuildError as error:
            warnings.warn(f"another kernel serves, because this one cannot be built: {error}", stacklevel=2)
            self._definition.forget()
            raise NotServed(str(error)) from error

    def refusal(self, call: Call, backend: Backend) -> str | None:
        """Why it cannot serve a call with arrays of a backend in their memory; None if it can."""
        return self.requirements.refusal(self._definition.parameters.arrays, backend, call)

    def load(self) -> Callable[..., None]:
        """The compiled function. The first call builds it, unless the cache has it.

        Raises
        ------
        BuildError
            It cannot be built; later calls raise the same error.
        """
        if self._function is None:
            with self._building:
                if self._error is not None:
                    raise self._error
                if self._function is None:
                    try:
                        self._function = self._built()
                    except BuildError as error:
                        self._error = BuildError(f"{self._definition.name}, native kernel {self.name}: {error}")
                        raise self._error from None
        return self._function

    def _capabilities(self) -> list[str]:
        """The compute capabilities of the devices that the libraries see, or that the driver reports."""
        if self.device == "cpu":
            return []
        places = [(each, backend) for backend in self._backends.values() for each in backend.devices()]
        attributes = [
            backend.functions["device_attributes"](each.native) for each, backend in places if each.kind == self.device
        ]
        found = {str(each["capability"]) for each in attributes if "capability" in each}
        return sorted(found) or gpus.capabilities(self.device)

    def _built(self) -> Callable[..., None]:
        from xarrayops._system import compiler

        reason = self.unavailable()
        if reason is not None:
            raise BuildError(reason)
        import tvm_ffi

        folders = dict.fromkeys((tvm_ffi.libinfo.find_include_path(), tvm_ffi.libinfo.find_dlpack_include_path()))
        library = compiler.shared_library(
            self._sources,
            flags=self._flags,
            includes=list(folders),
            key=f"tvm-ffi {tvm_ffi.__version__}",
            capabilities=self._capabilities(),
        )
        found: Callable[..., None] | None = getattr(tvm_ffi.load_module(str(library)), self._entry, None)
        if found is None:
            raise BuildError(
                f"the sources export no function {self._entry!r}. "
                f"Instead: TVM_FFI_DLL_EXPORT_TYPED_FUNC({self._entry}, function)"
            )
        return found


def texts(sources: Sources, reference: Callable[..., Any]) -> dict[str, str]:
    """The text of each source by its name. Relative paths begin at the folder of the file with the reference.

    Raises
    ------
    ValueError
        Two sources have the same name.
    """
    if isinstance(sources, Mapping):
        return dict(sources)
    listed = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    base = _folder_of(reference)
    found: dict[str, str] = {}
    for each in map(Path, listed):
        if each.name in found:
            raise ValueError(f"two sources are named {each.name}")
        found[each.name] = (base / each).read_text(encoding="utf-8")
    return found


def _folder_of(function: Callable[..., Any]) -> Path:
    code = getattr(function, "__code__", None)
    folder = Path(code.co_filename).parent if code is not None else Path()
    return folder if folder.is_dir() else Path()


def _native_of(definition: Definition, name: str) -> Native:
    """The native kernel of that name."""
    found: Native = next(each for each in definition.natives if each.name == name)
    return found
