"""Functions of the standard that PyTorch computes differently or slowly, by family."""
