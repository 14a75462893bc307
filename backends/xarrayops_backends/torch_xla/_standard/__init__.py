"""Functions of the standard that PyTorch/XLA computes differently or slowly, by family."""
