"""Which backend serves a class, a name, a dtype or an array, and what its namespace holds."""
