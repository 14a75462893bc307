"""Immutable arrays, as JAX's, on two devices and the host."""

import sys

from two_devices import library

module = sys.modules[__name__]
library(globals(), immutable=True)
