"""Functions of the standard that NumPy computes differently or slowly, by family."""
