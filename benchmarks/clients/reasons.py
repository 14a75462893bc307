"""Why a test of a client may fail with `xarrayops.compat` and pass with array-api-compat."""

from __future__ import annotations

import re

WORKS = "the test expects a failure, and xarrayops has no such fault"
INTEGERS = "integers give the default floating-point dtype; the test expects NumPy's, which depends on their width"
COMPLEX = "complex numbers have no order in PyTorch; the test expects that an earlier step fails"
REASONS = [
    ("marray", r"test_elementwise_binary\[.*torch-\w+-(hypot|logaddexp)\]", INTEGERS),
    ("marray", r"test_clip\[.*torch-complex", COMPLEX),
    ("any", r"^\[XPASS\(strict\)\]", WORKS),
]
"""(client or "any", pattern of the test's name or message, reason)."""


def reason(client: str, test: str, message: str) -> str | None:
    """The reason, or None if the test must pass."""
    return next(
        (
            why
            for name, pattern, why in REASONS
            if name in ("any", client) and (re.search(pattern, test) or re.search(pattern, message))
        ),
        None,
    )
