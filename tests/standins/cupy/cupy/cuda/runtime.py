"""The CUDA runtime: two devices, one of which is the current device of a thread."""

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


def streamIsCapturing(stream):  # noqa: N802
    return False


def eventRecord(event, stream):  # noqa: N802
    if not isinstance(event, int) or not isinstance(stream, int):
        raise TypeError("an integer is required")


def runtimeGetVersion():  # noqa: N802
    return 12090


def driverGetVersion():  # noqa: N802
    return 12090


cudaDevAttrMultiProcessorCount, cudaDevAttrL2CacheSize = 16, 38  # noqa: N816
cudaDevAttrClockRate, cudaDevAttrMemoryClockRate, cudaDevAttrGlobalMemoryBusWidth = 13, 36, 37  # noqa: N816
_ATTRIBUTES = {16: 132, 38: 50 << 20, 13: 1_980_000, 36: 2_619_000}


def deviceGetAttribute(attribute, index):  # noqa: N802
    """Clocks in kHz; one attribute is unknown to the driver."""
    if attribute not in _ATTRIBUTES:
        raise CUDARuntimeError("cudaErrorInvalidValue: invalid argument")
    return _ATTRIBUTES[attribute]


def getDeviceProperties(index):  # noqa: N802
    return {"name": f"Stand-in {index}".encode(), "major": 9, "minor": 0}
