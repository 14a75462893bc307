"""Pointers to memory, enough to build an array over memory that somebody else owns."""

from cupy.cuda.device import Device


class UnownedMemory:
    def __init__(self, ptr, size, owner, device_id=-1):
        self.ptr, self.size, self.owner = ptr, size, owner
        self.device_id = Device().id if device_id < 0 else device_id


class MemoryPointer:
    def __init__(self, mem, offset):
        self.mem, self.ptr, self.device_id = mem, mem.ptr + offset, mem.device_id

    @property
    def device(self):
        return Device(self.device_id)
