"""CuPy's error for a source that does not compile: cupy/cuda/compiler.py."""


class CompileException(Exception):
    def __init__(self, msg, source, name, options, backend="nvrtc"):
        self._msg = msg
        super().__init__()

    def __str__(self):
        return self._msg
