"""The backends that ship with xarrayops: one folder for each library.

An entry point names each; the registry imports it at the first array of the library.
"""
