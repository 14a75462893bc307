"""Kernels for the devices of this PyTorch, compiled at run time: by NVRTC and CUDA's driver, or by hipRTC and HIP.

PyTorch's own function for this, `torch.cuda._compile_kernel`, needs a toolkit; its wheels bring NVRTC or hipRTC alone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch

_IS_HIP = torch.version.hip is not None
_COMPILER, _CODE, _MODULE = ("hiprtc", "Code", "hipModule") if _IS_HIP else ("nvrtc", "CUBIN", "cuModule")
_LAUNCH, _DRIVER = ("hipModuleLaunchKernel", "libamdhip64.so") if _IS_HIP else ("cuLaunchKernel", "libcuda.so.1")
Launch = Callable[[Sequence[int], Sequence[int], Sequence[Any]], None]
"""Starts a kernel on the current stream of its device, with a grid, a block and ctypes objects for the arguments."""


def refusal(source: str, name: str, device: torch.device) -> str | None:
    """Why the kernel of a source cannot run on a device; None if it can, or if tensors there have no values."""
    if not torch.cuda.is_available():
        return None
    try:
        kernel(source, name, device)
    except (OSError, RuntimeError) as error:
        return f"its kernel cannot be compiled here: {error}"
    return None


def kernel(source: str, name: str, device: torch.device) -> Launch:
    """The kernel of a source, for a device.

    Raises
    ------
    OSError
        There is no run-time compiler or no driver.
    RuntimeError
        The compiler or the driver refuses the source.
    """
    return _loaded(source, name, torch.cuda.current_device() if device.index is None else device.index)


@cache
def _loaded(source: str, name: str, index: int) -> Launch:
    compiler, driver = _libraries()
    code = binary(compiler, source, _target(index))
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    with torch.cuda.device(index):
        torch.empty(1, device="cuda")  # the context of the device exists from here on
        _call(driver, f"{_MODULE}LoadData", ctypes.byref(module), code)
        _call(driver, f"{_MODULE}GetFunction", ctypes.byref(function), module, name.encode())

    def launch(grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any]) -> None:
        addresses = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        with torch.cuda.device(index):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            _call(driver, _LAUNCH, function, *grid, *block, 0, stream, addresses, None)

    return launch


def binary(compiler: Any, source: str, target: str) -> bytes:
    """The code that the run-time compiler makes of a source for a target; RuntimeError with its message."""
    options = (ctypes.c_char_p * 2)(target.encode(), b"--std=c++17")
    program = ctypes.c_void_p()
    _call(compiler, f"{_COMPILER}CreateProgram", ctypes.byref(program), source.encode(), b"source.cu", 0, None, None)
    try:
        if getattr(compiler, f"{_COMPILER}CompileProgram")(program, len(options), options):
            raise RuntimeError(_output(compiler, "ProgramLog", program).rstrip(b"\0").decode(errors="replace"))
        return _output(compiler, _CODE, program)
    finally:
        _call(compiler, f"{_COMPILER}DestroyProgram", ctypes.byref(program))


@cache
def _libraries() -> tuple[Any, Any]:
    """The run-time compiler of PyTorch's version and the driver."""
    file = "libhiprtc.so" if _IS_HIP else f"libnvrtc.so.{str(torch.version.cuda).partition('.')[0]}"
    folder = Path(torch.__file__).parent
    wheels = (where / file for where in (folder / "lib", *folder.parent.glob("nvidia/*/lib")))
    return ctypes.CDLL(next((str(each) for each in wheels if each.exists()), file)), ctypes.CDLL(_DRIVER)


def _target(index: int) -> str:
    properties = torch.cuda.get_device_properties(index)
    if _IS_HIP:
        return f"--offload-arch={properties.gcnArchName}"
    return f"--gpu-architecture=sm_{properties.major}{properties.minor}"


def _output(compiler: Any, what: str, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    _call(compiler, f"{_COMPILER}Get{what}Size", program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    _call(compiler, f"{_COMPILER}Get{what}", program, text)
    return text.raw


def _call(library: Any, name: str, *arguments: Any) -> None:
    """Call a function that returns a status."""
    status = getattr(library, name)(*arguments)
    if status:
        raise RuntimeError(f"{name} failed with status {status}")
