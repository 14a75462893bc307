"""CuPy's error for a full device, whose message has the size that was requested: cupy/cuda/memory.pyx."""


class OutOfMemoryError(MemoryError):
    def __init__(self, size, total, limit=0):
        limited = f", limit set to: {limit:,} bytes" if limit else ""
        super().__init__(f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes{limited}).")
