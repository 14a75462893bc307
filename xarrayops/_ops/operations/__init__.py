"""Operations of users: a reference in array code, and kernels for some libraries.

`define` has what users call, `definition` holds one operation, `requirements` says what a kernel takes, and `caller`
generates the functions that serve calls.
"""

from xarrayops._ops.operations.define import operation
from xarrayops._ops.verb import Verb

VERBS = (Verb("operation", operation),)
