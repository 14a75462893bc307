"""A library with immutable arrays, like JAX, on two devices and the host."""

import sys

from two_devices import library

module = sys.modules[__name__]
library(globals(), immutable=True)
