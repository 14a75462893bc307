"""Fuzzers: random, often invalid calls in worker processes, compared with an oracle."""
