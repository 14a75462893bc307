"""Tests of a library that takes arrays of any library: comparisons, and the variants of the fixture ``xp``."""
