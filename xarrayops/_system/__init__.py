"""The machine (processors, memory, GPUs) and worker processes."""
