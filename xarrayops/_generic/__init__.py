"""Hooks written once on the standard alone, for every library that has no function of its own."""
