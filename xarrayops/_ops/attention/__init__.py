"""Attention: the verb and its contract, what is checked at the edge, and the choice among kernels."""
