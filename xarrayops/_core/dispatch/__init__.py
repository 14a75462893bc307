"""Find the function that serves a call, by the classes of the arguments."""
