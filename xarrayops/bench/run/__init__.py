"""A run: the plan, the worker processes, the order of measurements, and the records."""
