"""engines: the libraries whose kernels may serve the arrays of other libraries.

While a block is open, dispatch uses tables whose functions ask the engines first (`serving`). A call of an engine has
three steps: the arrays are passed to the engine (`passing`), its function runs, and the results come back. `forms`
says beforehand whether the results would be those of the caller's library; `functions` has the data by function.
"""

from __future__ import annotations

from xarrayops._core import dispatch
from xarrayops._ops.engines.block import active as active, engines as engines
from xarrayops._ops.engines.serving import in_tables
from xarrayops._ops.verb import Verb

dispatch.changes_in_modes.append(in_tables)

VERBS = (Verb("engines", engines),)
