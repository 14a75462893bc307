"""Functions of the standard in which PyTorch deviates from it or is slower than it need be, by family."""
