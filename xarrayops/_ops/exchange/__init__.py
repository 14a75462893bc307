"""Conversion between libraries: planned, carried out, and what outlives it."""

from xarrayops._ops.exchange.convert import convert, explain_convert, shares_memory
from xarrayops._ops.verb import Verb

VERBS = (
    Verb("convert", convert, explain=explain_convert),
    Verb("shares_memory", shares_memory),
)
