"""Why CuPy's functions fail because of the machine. Asked only after a call failed."""

from __future__ import annotations

from re import search

from cupy.cuda import runtime
from cupy.cuda.compiler import CompileException
from cupy.cuda.memory import OutOfMemoryError

from xarrayops.plugin import Array, Gap

_SWITCH = "HIP_LAUNCH_BLOCKING=1" if runtime.is_hip else "CUDA_LAUNCH_BLOCKING=1"
_CAUSES = {
    "limit set to": "CuPy has a limit. Instead: a higher CUPY_GPU_MEMORY_LIMIT, or smaller arrays",
    "[Oo]ut of memory": (
        "The device is full. Instead: smaller arrays, torch.cuda.empty_cache() if PyTorch keeps memory, or "
        "XLA_PYTHON_CLIENT_PREALLOCATE=false in the environment if JAX does"
    ),
    "cannot open source file": "CuPy does not find the header files of CUDA. Instead: pip install 'cupy-cuda12x[ctk]'",
    "ErrorNoDevice": "This process sees no device. Instead: check nvidia-smi or amd-smi, and *_VISIBLE_DEVICES",
    "ErrorInsufficientDriver": "There is no driver, or an old one. Instead: a newer driver, or CuPy for an older CUDA",
    "ErrorNo(KernelImage|Binary)": "CuPy has no code for this device. Instead: CuPy for a newer CUDA or ROCm",
    "Error(Assert|HardwareStack|Illegal|InvalidPc|ECC|LaunchFailure|Misaligned)": (
        "A kernel failed, perhaps of an earlier call, and this process cannot use the device any more. Instead: a new "
        f"process with {_SWITCH} in its environment, where the call that fails raises the error"
    ),
}
"""What to say, by patterns in the messages."""


def failure_cause(x: Array, error: Exception, /) -> Gap | None:
    """None: the array is not the cause. Errors of the machine keep their class and get a note."""
    if isinstance(error, (CompileException, OutOfMemoryError, runtime.CUDARuntimeError)):
        cause = next((cause for pattern, cause in _CAUSES.items() if search(pattern, str(error))), None)
        if cause is not None and cause not in getattr(error, "__notes__", ()):
            error.add_note(cause)
    return None
