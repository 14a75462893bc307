"""The machine: its processors, memory and GPUs, and the processes that run on it."""
