"""Conversion between libraries: the plan, its execution, and the lifetime of shared device memory."""

from xarrayops._ops.exchange import convert
from xarrayops._ops.verb import Verb

VERBS = (
    Verb("convert", convert.convert, explain=convert.explain_convert),
    Verb("shares_memory", convert.shares_memory),
)
