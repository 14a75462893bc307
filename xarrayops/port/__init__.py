"""Moving NumPy programs to other libraries: ``python -m xarrayops.port``.

`xarrayops.port.check` reads a program and lists, line by line, what differs by library, with a verdict for each
backend.
`xarrayops.port.rewrite` rewrites it, with only those edits that keep its meaning.
"""
