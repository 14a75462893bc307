"""verify: compare a function with a reference on every installed library, and name the first line that differs."""

from xarrayops.testing._verify._report import (
    Divergence as Divergence,
    Outcome as Outcome,
    Report as Report,
)
from xarrayops.testing._verify._verify import verify as verify
