"""Transfers and synchronisation: values that leave a library or its device, waits for values, and Dask computations.

`ledger` counts them by line, `blocks` has the blocks in which they are counted, and `host` calls functions of NumPy.
"""

from xarrayops._ops.transfers.blocks import profile, strict
from xarrayops._ops.transfers.host import on_host
from xarrayops._ops.verb import Verb

VERBS = (Verb("strict", strict), Verb("profile", profile), Verb("on_host", on_host))
