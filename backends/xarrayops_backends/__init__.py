"""The backends that ship with xarrayops: one file, one library.

An entry point names each file; the registry imports it at the first array of the library.
"""
