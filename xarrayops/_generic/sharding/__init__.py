"""Steps of functions of split arrays: what is computed of one block, and how the results of blocks are combined.

No step depends on values in its control flow, so that each can be part of a compiled function.
"""
