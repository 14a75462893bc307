"""Static analysis of a program with the standard library's ``ast``: nothing is executed.

`files` reads a file or a notebook, and `names` finds which names mean NumPy. `walk` follows the statements of each
function for two analyses: `values` (what variables may hold), and `origins` with `ownership` (where arrays come from
and who else may see them). `writes` lists the places that change an array; `module_arrays` lists the places that
combine an array of the module with an array of the caller. `Program` has all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from xarrayops.plugin.arrays import Record
from xarrayops.port.basics import PortError
from xarrayops.port.source.company import Companies, Company
from xarrayops.port.source.files import Source, read, write
from xarrayops.port.source.foreign import Foreign
from xarrayops.port.source.lists import Lists
from xarrayops.port.source.module_arrays import Meeting, meetings
from xarrayops.port.source.modules import ModulePlace
from xarrayops.port.source.names import (
    OTHER_ARRAYS,
    Comprehension,
    FunctionNode,
    Names,
    arguments,
    call_arguments,
    evaluated_outside,
    last_name,
)
from xarrayops.port.source.once import evaluated_once
from xarrayops.port.source.ownership import Ownership, Returning
from xarrayops.port.source.parameters import ARRAY_NAMES
from xarrayops.port.source.promotion import Difference, difference
from xarrayops.port.source.reference import References
from xarrayops.port.source.value import ARRAY, UNKNOWN, Value
from xarrayops.port.source.values import Values
from xarrayops.port.source.variables import Variables
from xarrayops.port.source.writes import Write, writes_of

__all__ = ["Place", "PortError", "Program", "Source", "read", "write"]


N = TypeVar("N", bound=ast.AST)
Loop = ast.For | ast.AsyncFor | ast.While


class Place(Record):
    """Where a node is: the node around it, the function around it, and the loops of that function around it."""

    parent: ast.AST
    function: FunctionNode | None
    loops: tuple[ast.AST, ...]


class Program:
    """A source and the results of its analysis."""

    def __init__(self, source: Source, *, scipy_array_api: bool = False) -> None:
        self.source = source
        self.scipy_array_api = scipy_array_api
        """Whether calls of SciPy stay if SciPy takes the arrays of every library."""
        self.names = Names(source.tree)
        self.values = Values(source.tree, self.names)
        self._companies: dict[FunctionNode, Companies] = {}

    @classmethod
    def read(cls, path: str | Path) -> Program:
        """Read and analyse a file; see `xarrayops.port.source.files.read` for the errors."""
        return cls(read(path))

    def value(self, node: ast.AST) -> Value:
        """What is known of the value of an expression."""
        return self.values.of(node)

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The source of a node, in one line."""
        return self.source.segment(node)

    def nodes(self, kind: type[N]) -> Iterator[N]:
        """The nodes of a class, in the order of the source."""
        return (node for node in self.places if isinstance(node, kind))

    @cached_property
    def places(self) -> dict[ast.AST, Place]:
        """The place of each node, in the order of the source."""
        return dict(_places(self.source.tree, None, ()))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node around each node."""
        return {node: place.parent for node, place in self.places.items()}

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the inside outwards."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    @cached_property
    def writes(self) -> tuple[Write, ...]:
        """The places that change an array, in the order of the source."""
        nodes = ((node, place.function) for node, place in self.places.items())
        return tuple(writes_of(nodes, self.values))

    def functions(self, node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The functions whose variables a node can use, from the inside outwards.

        Decorators, annotations and defaults of a function belong to the scope around it.
        """
        inside = {node}
        for outer in self.around(node):
            if isinstance(outer, FunctionNode) and inside.isdisjoint(evaluated_outside(outer)):
                if not isinstance(outer, ast.Lambda):
                    yield outer
                inside = set()
            inside.add(outer)

    def hidden_names(self, node: ast.AST, function: ast.AST) -> frozenset[str]:
        """The variables of comprehensions and lambdas between a node and the function around it."""
        found: set[str] = set()
        for outer in self.around(node):
            if outer is function:
                break
            if isinstance(outer, FunctionNode):
                found |= {each.arg for each in arguments(outer)}
            elif isinstance(outer, Comprehension):
                targets = (name for each in outer.generators for name in ast.walk(each.target))
                found |= {name.id for name in targets if isinstance(name, ast.Name)}
        return frozenset(found)

    @cached_property
    def annotations(self) -> frozenset[ast.AST]:
        """The nodes of annotations."""
        return frozenset(inner for _, annotation in self._annotated() for inner in ast.walk(annotation))

    def _annotated(self) -> Iterator[tuple[ast.AST, ast.expr]]:
        """The annotations with the assignment or function that has each."""
        for node in self.places:
            if isinstance(node, ast.AnnAssign):
                yield node, node.annotation
            elif isinstance(node, FunctionNode):
                found = [*(each.annotation for each in arguments(node)), getattr(node, "returns", None)]
                yield from ((node, each) for each in found if each is not None)

    @cached_property
    def unevaluated(self) -> frozenset[ast.AST]:
        """The nodes of annotations that nothing evaluates, and of ``if TYPE_CHECKING``."""
        is_late = any(node.module == "__future__" for node in self.nodes(ast.ImportFrom))
        found: list[ast.AST] = [
            each
            for node, each in self._annotated()
            if is_late or (isinstance(node, ast.AnnAssign) and self.places[node].function is not None)
        ]
        found += [each for node in self.nodes(ast.If) if last_name(node.test) == "TYPE_CHECKING" for each in node.body]
        return frozenset(inner for node in found for inner in ast.walk(node))

    @cached_property
    def foreign(self) -> Foreign:
        """The calls of other packages, and the functions that they compile."""
        return Foreign(self.source.tree, self.names, self.source.path)

    def foreign_arrays(self, call: ast.Call) -> list[ast.expr]:
        """The arguments of a call of another package that are arrays, or may be; none for other calls."""
        name = self.foreign.called(call)
        is_open = name is not None and self.foreign.takes_arrays_of_numpy(name)
        given = [] if name is None else call_arguments(call)
        return [each for each in given if self._holds_array(each) or (is_open and self._may_hold_array(each))]

    def _holds_array(self, node: ast.expr) -> bool:
        """Whether an expression is an array, or a list or tuple of some."""
        parts = node.elts if isinstance(node, ast.List | ast.Tuple) else ()
        return self.value(node).is_array or any(map(self._holds_array, parts))

    def _may_hold_array(self, node: ast.expr) -> bool:
        """Whether an expression of unknown kind may be computed from an array."""
        match node:
            case ast.Name():
                function = next(self.functions(node), None)
                is_number = function is not None and node.id in self.references.numbers(function)
                return not is_number and self.variables.may_be_array(node)
            case ast.Call() if self.names.function_name(node.func) is not None:
                is_made = self.value(node).kind not in (ARRAY, UNKNOWN)
                return not is_made and any(map(self._may_hold_array, node.args))
            case ast.BinOp(left=left, right=right):
                return self._may_hold_array(left) or self._may_hold_array(right)
            case ast.UnaryOp(operand=operand) | ast.Subscript(value=operand) | ast.Attribute(value=operand, attr="T"):
                return self._may_hold_array(operand)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return any(map(self._may_hold_array, parts))
        return False

    @cached_property
    def variables(self) -> Variables:
        """What the program does with its variables."""
        return Variables(self.places, self.values, self.functions)

    @cached_property
    def has_foreign_arrays(self) -> bool:
        """Whether the program may have other objects with array methods: data frames, or its own classes."""
        functions = ast.FunctionDef | ast.AsyncFunctionDef
        methods = {each.name for node in self.nodes(ast.ClassDef) for each in node.body if isinstance(each, functions)}
        return bool(methods & ARRAY_NAMES) or bool(self.names.packages & OTHER_ARRAYS)

    def is_open(self, node: ast.expr) -> bool:
        """Whether an expression of unknown kind may be an array, and not another object with array methods."""
        made = node.value if isinstance(node, ast.Subscript) else node
        name = self.names.resolve(made.func) if isinstance(made, ast.Call) else None
        is_known = self.value(node).kind != UNKNOWN or (name or "").startswith("xarrayops.")
        return not is_known and not self.has_foreign_arrays and self.variables.may_be_array(node)

    def evaluated_once(self, index: ast.expr) -> tuple[ast.expr, ast.expr]:
        """An index with new names for its calls, and the index by these names."""
        return evaluated_once(index, self.names, {node.id for node in self.nodes(ast.Name)})

    def difference(self, node: ast.BinOp) -> Difference | None:
        """How the result of an operator differs by library; arange counts integers if its arguments are unknown."""
        values = []
        for operand in (node.left, node.right):
            value = self.value(operand)
            is_typed = isinstance(operand, ast.Call) and any(each.arg == "dtype" for each in operand.keywords)
            if value.is_array and value.dtype is None and isinstance(operand, ast.Call) and not is_typed:
                is_range = self.names.function_name(operand.func) == "arange" and len(operand.args) < 4
                value = value._replace(dtype="int64", certain=False) if is_range else value
            values.append(value)
        return difference(node.op, *values)

    @cached_property
    def lists(self) -> Lists:
        """What may be a list where it is an index."""
        return Lists(self.places, self.names)

    @cached_property
    def is_entry(self) -> bool:
        """Whether the file starts a program: it is not a module of a package, or has code for its use as a script."""
        texts = {ast.unparse(node.test) for node in self.source.tree.body if isinstance(node, ast.If)}
        return "__name__ == '__main__'" in texts or not ModulePlace.of(Path(self.source.path)).package

    def takes_all(self, node: ast.expr) -> bool:
        """Whether the expression is a function of SciPy that takes the arrays of every library, which stays."""
        name = self.foreign.name(node) if self.scipy_array_api else None
        return name is not None and self.foreign.takes_eager_arrays(name)

    @cached_property
    def references(self) -> References:
        """The reference arrays of the functions."""
        return References(self.source.tree, self.values)

    def company(self, made: ast.expr) -> Company:
        """What a new array meets in the function around it."""
        function = next(self.functions(made), None)
        if function is None:
            return Company(None, False)
        if function not in self._companies:
            self._companies[function] = Companies(function, self.values, self.parents, self.takes_all)
        return self._companies[function].of(made)

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """The uses of arrays of the module together with arrays of the caller, in the order of the source."""
        return meetings(self.source.tree, self.values, self.parents, self.takes_all)

    @cached_property
    def ownership(self) -> Ownership:
        """Which writes can make a new array."""
        return self.ownership_with({})

    def ownership_with(self, returning: Returning) -> Ownership:
        """The same, assuming that these functions return the parameters that they write."""
        return Ownership(self.source.tree, self.values, returning)


def _places(
    node: ast.AST, function: FunctionNode | None, loops: tuple[ast.AST, ...]
) -> Iterator[tuple[ast.AST, Place]]:
    once = _evaluated_once(node)
    inside = (*loops, node) if isinstance(node, Loop | Comprehension) else loops
    for child in ast.iter_child_nodes(node):
        around = loops if child in once else inside
        yield child, Place(node, function, around)
        inner = child if isinstance(child, FunctionNode) else None
        yield from _places(child, inner or function, () if inner else around)


def _evaluated_once(node: ast.AST) -> tuple[ast.AST, ...]:
    """The parts of a loop that do not run in each step."""
    if isinstance(node, ast.For | ast.AsyncFor):
        return (node.iter, *node.orelse)
    if isinstance(node, ast.While):
        return tuple(node.orelse)
    return (node.generators[0],) if isinstance(node, Comprehension) else ()
