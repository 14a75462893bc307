"""Functions of the standard in which JAX deviates from it or is slower than it need be, by family."""
