"""The kernels of attention. `candidates`, which imports them all, is imported at the first call."""
