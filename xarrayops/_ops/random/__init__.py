"""Random numbers that are the same on every library: keys, and generators with NumPy's methods."""

from xarrayops._ops.random import functions
from xarrayops._ops.random.generator import Generator
from xarrayops._ops.verb import Verb

VERBS = (
    Verb("random.bits", functions.bits, hook="random_draw", explain=functions.explain_bits),
    Verb("random.default_rng", functions.default_rng, creates=True, results=(Generator,)),
    Verb("random.fold_in", functions.fold_in, hook="random_keys"),
    Verb("random.key", functions.key, creates=True),
    Verb("random.split", functions.split),
)
