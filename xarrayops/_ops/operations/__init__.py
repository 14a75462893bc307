"""User-defined operations: a reference in array code, and kernels for some libraries.

`define` has the public decorator, `definition` holds one operation, `requirements` has the requirements of kernels, and
`caller` generates the functions that serve calls.
"""

from xarrayops._ops.operations.define import operation
from xarrayops._ops.verb import Verb

VERBS = (Verb("operation", operation),)
