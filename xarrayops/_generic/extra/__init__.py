"""Generic twins of the functions of tools/extra.pyi, by topic, written only with the standard.

A module is imported when a backend first needs one of its functions.
"""
