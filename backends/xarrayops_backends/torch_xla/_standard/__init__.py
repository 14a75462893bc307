"""Functions of the standard in which PyTorch/XLA deviates from it or is slower than it need be, by family."""
