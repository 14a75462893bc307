"""From a call to the function that serves it: backends, their namespaces, and dispatch by class."""
