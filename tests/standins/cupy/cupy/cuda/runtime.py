"""The CUDA runtime: two devices, and which of them is the current one of this thread."""

import threading

is_hip = False
_state = threading.local()


class CUDARuntimeError(RuntimeError):
    """CuPy's error class for the runtime's status codes."""


def getDeviceCount():  # noqa: N802
    return 2


def getDevice():  # noqa: N802
    return getattr(_state, "device", 0)


def setDevice(index):  # noqa: N802
    if not 0 <= index < getDeviceCount():
        raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
    _state.device = index


def runtimeGetVersion():  # noqa: N802
    return 12090


def driverGetVersion():  # noqa: N802
    return 12090


def getDeviceProperties(index):  # noqa: N802
    return {"name": f"Stand-in {index}".encode(), "major": 9, "minor": 0}
