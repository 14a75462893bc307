"""Moving NumPy programs to other libraries: ``python -m xarrayops.port``.

`check` reads a program and lists, line by line, what differs by library, with a verdict for each backend. `rewrite`
rewrites it with edits that keep its meaning only. `xarrayops.testing.verify` compares the result with the
original on every library.

`source` analyses programs, and `trace` runs them; `checking` and `rewriting` have the rules of `check` and `rewrite`.
"""

from xarrayops.port.checking import check as check
from xarrayops.port.rewriting import rewrite as rewrite
from xarrayops.port.source import PortError as PortError

__all__ = ["PortError", "check", "rewrite"]
