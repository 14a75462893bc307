"""Crossings: where values leave a library or its device, where a program waits for values, and where Dask computes.

`ledger` counts them by line, and `blocks` has the blocks in which they are counted.
"""

from xarrayops._ops.transfers.blocks import profile, strict
from xarrayops._ops.verb import Verb

VERBS = (Verb("strict", strict), Verb("profile", profile))
