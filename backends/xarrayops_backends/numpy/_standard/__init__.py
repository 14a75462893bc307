"""Functions of the standard in which NumPy deviates from it or is slower than it need be, by family."""
