"""The hooks of a backend: functions that it may define in addition to the functions of the standard.

The generic function declares the hook, with its law, and serves backends that do not define it: the modules of
``xarrayops/_generic/hooks/`` have one function for each hook, whose first parameter is the namespace of the library.
`xarrayops.plugin.generic.HOOKS` has them by name.
"""

from __future__ import annotations

from xarrayops._surface import ROLES

WRAPPED_HOOKS = ("einsum", "unique", "update", "select", "matmul_int32")
"""The hooks that compute like functions of the standard; `wrap` is called for them too."""


def takes_arrays(verb: str, /) -> bool:
    """Whether a function of the standard, or one of `WRAPPED_HOOKS`, has array arguments.

    >>> takes_arrays("matmul"), takes_arrays("zeros"), takes_arrays("einsum")
    (True, False, True)
    """
    return verb in ROLES or verb in WRAPPED_HOOKS


def array_roles(verb: str, /) -> dict[str, str]:
    """The parameters of a function that take arrays, each with its role; empty for unknown functions.

    A role is "array", "arrays" (a sequence), "operand" (an array or a number) or "maybe" (or None, too).

    >>> array_roles("sum"), array_roles("add")
    ({'x': 'array'}, {'x1': 'operand', 'x2': 'operand'})
    """
    return ROLES.get(verb, {})
