"""The generic twins of the functions of tools/extra.pyi, by topic, on the standard alone.

A module is imported when a backend without a function of its own first needs one of its functions.
"""
