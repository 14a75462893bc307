"""Devices, streams whose work is always done, and pointers to memory."""

from cupy import _signatures
from cupy.cuda import runtime
from cupy.cuda.device import Device


def is_available():
    return True


class UnownedMemory:
    def __init__(self, ptr, size, owner, device_id=-1):
        self.ptr, self.size, self.owner = ptr, size, owner
        self.device_id = runtime.getDevice() if device_id < 0 else device_id


class MemoryPointer:
    def __init__(self, mem, offset):
        self.mem, self.ptr, self.device_id, self.device = mem, mem.ptr + offset, mem.device_id, Device(mem.device_id)

    def __add__(self, offset):
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)


class Event:
    done = True

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.ptr = id(self)

    def synchronize(self):
        pass


class Stream:
    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        self.ptr = 0 if null else id(self)

    def __enter__(self):
        _current.append(self)
        return self

    def __exit__(self, *_):
        _current.pop()

    def record(self, event=None):
        return event or Event()

    def wait_event(self, event):
        if not isinstance(event, Event):
            raise TypeError("event must be a cupy.cuda.Event")

    def synchronize(self):
        pass


Stream.null = Stream(null=True)
_current = [Stream.null]


def get_current_stream(device_id=-1):
    return _current[-1]


class MemoryHook:
    """Registered in the thread by ``with``, but never called, because the stand-in has no memory pool."""

    name = "MemoryHook"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


_signatures.enforce(__name__, globals())
_signatures.enforce(runtime.__name__, vars(runtime))
