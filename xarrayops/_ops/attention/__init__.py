"""Attention: the verb and its contract, what is checked at the edge, and the choice among kernels."""

from xarrayops._ops.attention.explain import explain_attention
from xarrayops._ops.attention.verb import attention
from xarrayops._ops.verb import Verb

VERBS = (Verb("attention", attention, hook="attention", explain=explain_attention),)
