"""NumPy's own functions beyond the standard, where they follow the contract of `xarrayops`.

Each module has the functions of a topic, and is imported when one of them is needed.
"""
