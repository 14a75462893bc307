"""A fuzzer that compares `xarrayops.numpy` with NumPy: the same call on both, signature by signature."""
