"""Devices and streams that only keep count."""

from cupy.cuda import runtime  # noqa: F401
from cupy.cuda.device import Device  # noqa: F401
from cupy.cuda.memory import MemoryPointer, UnownedMemory  # noqa: F401
from cupy.cuda.stream import Event, ExternalStream, Stream, get_current_stream  # noqa: F401


def is_available():
    return True
