"""cupy.cuda.Device: a number, and a context manager that makes it current."""

from cupy.cuda import runtime


class Device:
    __hash__ = None  # as in CuPy, whose class defines only comparisons

    def __init__(self, device=None):
        # Numbers only: https://docs.cupy.dev/en/stable/reference/generated/cupy.cuda.Device.html
        self.id = runtime.getDevice() if device is None else device.id if isinstance(device, Device) else int(device)
        self._outer = []

    def __enter__(self):
        self._outer.append(runtime.getDevice())
        self.use()
        return self

    def __exit__(self, *_):
        runtime.setDevice(self._outer.pop())

    def use(self):
        runtime.setDevice(self.id)

    def synchronize(self):
        pass

    @property
    def compute_capability(self):
        return "90"

    @property
    def mem_info(self):
        return (79 << 30, 80 << 30)  # free and total

    def __eq__(self, other):
        return self.id == other.id if isinstance(other, Device) else NotImplemented

    def __int__(self):
        return self.id

    def __repr__(self):
        return f"<CUDA Device {self.id}>"
