"""at: an indexed update of an array."""

from xarrayops._ops.indexing.verb import at, explain_at
from xarrayops._ops.verb import Verb

VERBS = (Verb("at", at, hook="update", explain=explain_at),)
