"""Why CuPy's functions fail because of the machine. Asked only after a call failed."""

from __future__ import annotations

from cupy.cuda import compiler, memory, runtime

from xarrayops.plugin import Array, Gap

_LAUNCH_BLOCKING = "HIP_LAUNCH_BLOCKING" if runtime.is_hip else "CUDA_LAUNCH_BLOCKING"
_FULL = (
    "The device has no free memory. Instead: smaller arrays, or free what other libraries keep: "
    "torch.cuda.empty_cache(), and XLA_PYTHON_CLIENT_PREALLOCATE=false in the environment of JAX"
)
_LIMITED = (
    "CuPy may not allocate more. Instead: a higher limit in CUPY_GPU_MEMORY_LIMIT or "
    "cupy.get_default_memory_pool().set_limit(), or smaller arrays"
)
_HEADERS = (
    "CuPy does not find the header files of CUDA. Instead: pip install 'cupy-cuda12x[ctk]', or a toolkit in CUDA_PATH"
)
_NO_DEVICE = (
    "This process sees no device. Instead: check nvidia-smi or amd-smi, CUDA_VISIBLE_DEVICES and "
    "HIP_VISIBLE_DEVICES, or use another library"
)
_NO_DRIVER = (
    "There is no driver, or it is older than the CUDA of CuPy. Instead: a newer driver, or the CuPy for an older CUDA"
)
_NO_CODE = "This CuPy has no code for the device. Instead: the CuPy for a newer CUDA or ROCm"
_LOST = (
    "A kernel failed, perhaps of an earlier call, and this process cannot use the device any more. "
    f"Instead: a new process with {_LAUNCH_BLOCKING}=1 in its environment, where the call that fails raises the error"
)
_CAUSES = {
    **dict.fromkeys(("MemoryAllocation", "OutOfMemory"), _FULL),
    "NoDevice": _NO_DEVICE,
    "InsufficientDriver": _NO_DRIVER,
    **dict.fromkeys(("NoKernelImageForDevice", "NoBinaryForGpu"), _NO_CODE),
    **dict.fromkeys(("Assert", "HardwareStackError", "IllegalAddress", "IllegalInstruction", "InvalidPc"), _LOST),
    **dict.fromkeys(("ECCNotCorrectable", "ECCUncorrectable", "LaunchFailure", "MisalignedAddress"), _LOST),
}
"""The causes of errors of the runtime, by the name of the status without its prefix."""


def failure_cause(x: Array, error: Exception, /) -> Gap | None:
    """None: the array is not the cause. Errors of the machine keep their class and get a note."""
    add_cause(error)
    return None


def add_cause(error: Exception) -> None:
    """Add the cause of an error of the machine, and what to do, as a note."""
    cause = _cause(error)
    if cause is not None and cause not in getattr(error, "__notes__", ()):
        error.add_note(cause)


def _cause(error: Exception) -> str | None:
    text = str(error)
    if isinstance(error, memory.OutOfMemoryError):
        return _LIMITED if "limit set to" in text else _FULL
    if isinstance(error, compiler.CompileException):
        return _HEADERS if "cannot open source file" in text else None
    if isinstance(error, runtime.CUDARuntimeError):
        return next((cause for name, cause in _CAUSES.items() if f"Error{name}:" in text), None)
    return None
