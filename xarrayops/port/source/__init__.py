"""Reading a program and its static analysis, with the standard library's ``ast``: nothing is executed.

`files` reads a file or a notebook, `names` finds which names mean NumPy, `values` follows the values through each
function, `writes` lists the places that change an array, and `module_arrays` those where an array of the module meets
one of the caller. `Program` has all of them.
"""

from xarrayops.port.source.files import PortError, Source, read, write
from xarrayops.port.source.program import Program

__all__ = ["PortError", "Program", "Source", "read", "write"]
