"""verify: compare a function with a reference on every installed library, and name the first line that differs."""
