"""Moving NumPy programs to other libraries: ``python -m xarrayops.port``.

`check` reads a program and lists, line by line, what differs by library, with a verdict for each backend. `rewrite`
rewrites it with edits that keep its meaning only. `xarrayops.testing.verify` compares the result with the
original on every library.

`source` analyses programs, and `trace` runs them; `checking` and `rewriting` have the rules of `check` and `rewrite`.
"""

from typing import TYPE_CHECKING

from xarrayops.plugin.lazy import lazy_attributes
from xarrayops.port.basics import PortError as PortError

if TYPE_CHECKING:
    from xarrayops.port.checking import check as check
    from xarrayops.port.rewriting import rewrite as rewrite
else:
    __getattr__ = lazy_attributes(
        globals(), __name__, {"check": ("checking", "check"), "rewrite": ("rewriting", "rewrite")}
    )

__all__ = ["PortError", "check", "rewrite"]
