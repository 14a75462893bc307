"""NumPy's own functions beyond the standard, where they follow the contract: a module for each family."""
