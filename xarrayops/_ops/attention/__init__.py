"""Attention: the verb and its contract, the checks of the arguments, and the choice among kernels."""

from xarrayops._ops.attention import explain, verb
from xarrayops._ops.verb import Verb

VERBS = (Verb("attention", verb.attention, hook="attention", explain=explain.explain_attention),)
