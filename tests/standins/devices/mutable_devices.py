"""A library with mutable arrays, like PyTorch and CuPy, on two devices and the host."""

import sys

from two_devices import library

module = sys.modules[__name__]
library(globals(), immutable=False)
