"""Arrays that can be written, as PyTorch's and CuPy's, on two devices and the host."""

import sys

from two_devices import library

module = sys.modules[__name__]
library(globals(), immutable=False)
