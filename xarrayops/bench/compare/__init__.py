"""Results compared: within a run, and between runs."""
