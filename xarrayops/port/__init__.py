"""Moving NumPy programs to other libraries: ``python -m xarrayops.port``.

`xarrayops.port.check` reads a program and lists, line by line, what differs by library, with a verdict for each
backend; its function is ``xarrayops.port.check.check``.
`xarrayops.port.rewrite` rewrites it, with only those edits that keep its meaning; its function is
``xarrayops.port.rewrite.rewrite``.
`xarrayops.testing.verify` compares the result with the original on every library.
"""

from xarrayops.port.source import PortError as PortError

__all__ = ["PortError"]
