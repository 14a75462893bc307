"""What the command line needs before it imports NumPy and the analysis, which are slow to import."""

from __future__ import annotations

from xarrayops.errors import XArrayOpsError

DEVICES = ("h100", "a100", "l4", "rtx4090", "mi300x")
"""The devices with published figures, in xarrayops/port/trace/devices.json."""
UNUSABLE = 2
"""The exit status for files and calls that cannot be used."""
STYLES = ("numpy", "xo")
"""The styles of `rewrite`: NumPy's names from `xarrayops.numpy`, or our own."""


class PortError(XArrayOpsError, ValueError):
    """A program cannot be read, or it cannot be run as requested."""
