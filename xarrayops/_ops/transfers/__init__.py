"""Transfers and synchronisation: values that leave a library or its device, waits for values, and Dask computations.

`ledger` counts them by line, and `blocks` has the blocks in which they are counted.
"""

from xarrayops._ops.transfers.blocks import profile, strict
from xarrayops._ops.verb import Verb

VERBS = (Verb("strict", strict), Verb("profile", profile))
