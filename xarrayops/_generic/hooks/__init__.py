"""The hooks, by family."""
