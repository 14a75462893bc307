"""Functions of the standard that JAX computes differently or slowly, by family."""
