"""Find the backend of a class, a name, a dtype or an array, and build its namespace."""
