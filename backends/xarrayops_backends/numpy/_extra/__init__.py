"""NumPy's own functions beyond the standard, where they mean what `xarrayops` promises for every library.

Each module has the functions of a family, and is imported when one of them is needed.
"""
