"""From a call to the function that serves it, by the classes of the arguments."""
