"""check_operation: compare every kernel of a user's operation with its reference.

`_samples` derives further samples from those given and lays arrays out in memory, `_call` checks one call,
`_transformations` checks compiled, differentiated and batched calls, and `_check` goes through all of them.
"""
