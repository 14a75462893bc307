"""Whether `xarrayops.export` traces a function in this thread.

Then attention uses PyTorch's public function, and operations of users run their references: other kernels may not exist
where the file is loaded. In a user's own `torch.export` they are operators, as under torch.compile.
"""

from __future__ import annotations

from threading import local

from xarrayops.plugin import constant_while_tracing


class _Thread(local):
    is_exporting = False


thread = _Thread()


@constant_while_tracing
def is_exporting() -> bool:
    """See above; a constant for Dynamo."""
    return thread.is_exporting
