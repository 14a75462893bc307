"""Moving NumPy programs to other libraries: ``python -m xarrayops.port``.

`xarrayops.port.check` reads a program and lists, line by line, what differs by library, with a verdict for each
backend.
`xarrayops.port.rewrite` rewrites it, with only those edits that keep its meaning.
`xarrayops.testing.verify` compares the result with the original on every library.
"""

from xarrayops.port.check import check as check
from xarrayops.port.source import PortError as PortError

__all__ = ["PortError", "check"]
