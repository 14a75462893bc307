"""What the core and a backend exchange: hooks, descriptions of arrays and calls, and the list of functions."""
