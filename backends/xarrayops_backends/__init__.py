"""The backends that ship with xarrayops: one file, one library.

Each is found through its entry point and imported when the first of its arrays is met.
"""
