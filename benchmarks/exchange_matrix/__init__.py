"""The exchange matrix: which conversions between libraries are zero-copy, which copy, which are refused, and why.

``python -m benchmarks.exchange_matrix`` asks `explain` about each cell, converts, and compares the two. The
conversions run in worker processes, so that a crash is attributed to the cell that caused it.
"""
