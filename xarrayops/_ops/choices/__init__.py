"""Measured choice: kernels that were proved to be faster than the default serve calls of the same kind.

`calls` describes a call as plain data, `store` keeps measurements, `verdicts` has the statistics, `block` the public
blocks, and `serving` finds the function for a call. ``python -m xarrayops.tune`` measures.
"""

from xarrayops._ops.choices.block import choices, measured
from xarrayops._ops.verb import Verb

VERBS = (Verb("measured", measured), Verb("choices", choices))
