"""Random index expressions of xo.at next to NumPy's own assignment."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator

import numpy as np
from results import Outcome

from xarrayops.testing._suite.operations.index_fuzz import cases, fault, variant_of

PIECE = 500
"""The expressions of one seed. Compiled functions are freed after each piece."""


def run(library: str, count: int, seed: int) -> Iterator[Outcome]:
    """The outcome so far, after each piece. An expression that NumPy refuses passes if our own error refuses it."""
    if library == "jax":
        os.environ["JAX_ENABLE_X64"] = "1"  # the expressions have 64-bit arrays
    warnings.simplefilter("ignore")  # overflow of small integers
    variant = variant_of(library, seed)
    outcome = Outcome(0, {})
    refused = 0
    for start in range(0, count, PIECE):
        piece = seed + start // PIECE
        for case in cases(piece, min(PIECE, count - start), variant.dtypes):
            with np.errstate(all="ignore"):
                wrong = fault(variant, case, True)
            if wrong:
                outcome.failures[f"seed {piece}: {case}"] = wrong
            outcome.passed += not wrong
            refused += case.want is None and not wrong
        outcome.settings = {"seeds": f"{seed} to {piece}", "refused_as_numpy_does": refused}
        if "jax" in sys.modules:
            sys.modules["jax"].clear_caches()
        yield outcome
