"""Random numbers: other streams, and methods of generators that `xarrayops.random` lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops._core.numpy_names import RANDOM
from xarrayops.port.checking.places import Analysed
from xarrayops.port.findings import Finding


def rules(program: Analysed) -> Iterator[Finding]:
    """Findings about generators; names that are missing are in `xarrayops.port.checking.names`."""
    from xarrayops.numpy.random import Generator

    generators = set()
    for place in program.places:
        node = place.node
        if isinstance(node, ast.Call) and program.names.numpy_name(node.func) == "random.default_rng":
            generators |= _targets(place.parent)
            what = "the numbers are those of xo.random: the same on every library, and not those of NumPy's generator"
            instead = (
                "compare distributions; for NumPy's numbers draw them with NumPy, then xo.asarray(numbers, like=x)"
            )
            yield program.finding(node, "random", what, instead)
    for place in program.places:
        node = place.node
        if (
            isinstance(node, ast.Attribute)
            and ast.unparse(node.value) in generators
            and not hasattr(Generator, node.attr)
        ):
            answer = (RANDOM.answer(node.attr) or ": see dir(np.random.Generator)").removeprefix(": ")
            yield program.finding(node, "name", f"generators of xarrayops have no {node.attr}", answer)


def _targets(statement: ast.AST) -> set[str]:
    """The variables to which a generator is assigned."""
    if isinstance(statement, ast.Assign):
        return {ast.unparse(target) for target in statement.targets}
    return set()
