"""The exchange matrix: what every library hands to every other without a copy, with one, or not at all, and why.

``python -m xarrayops.testing.exchange_matrix`` asks `explain` about each cell before, converts, and compares the two.
Worker processes do it, so that a library that ends its process is charged to the cell that made it do so.
"""
