"""The state that the edits of one program share: its analysis, the names that it may use, and the record of edits."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property

import libcst as cst
import numpy as np

from xarrayops.port.rewriting.edits import Edit, Returned, Todo
from xarrayops.port.source import Program
from xarrayops.port.source.ownership import Ownership
from xarrayops.port.source.parameters import ARRAY_NAMES, is_of_arrays
from xarrayops.port.source.value import ARRAY, UNKNOWN, words
from xarrayops.port.source.variables import INDEXED

VARIABLE = "SCIPY_ARRAY_API"
"""With it in the environment SciPy takes the arrays of other libraries."""
_NARROW = words("uint8 int8 int16 uint16 uint32 uint64 u1 i1 i2 u2 u4 u8 ubyte short ushort uint kind itemsize")
"""Names of dtypes, and of attributes by which programs compare them."""
BUILTINS = frozenset(dir(builtins)) - {"_"}
"""Without ``_``, which interactive Python and doctests add."""


class Context:
    """One program while it is rewritten."""

    def __init__(self, program: Program, returned: Mapping[str, Returned], *, is_xo: bool) -> None:
        self.program = program
        self.is_xo = is_xo
        """Whether NumPy's names are replaced by ours."""
        self.returned = returned
        """The functions that return the arguments that they write."""
        self.kept: set[str] = set()
        """The functions in which a write into an argument stays in place."""
        self.unported: set[str] = set()
        """The modules of the program that use NumPy itself and have a note."""
        self.names = program.names
        self.value = program.value
        self.variables = program.variables
        self.edits: list[Edit] = []
        self.todos: list[Todo] = []
        self.announced: list[Todo] = []
        self.needs: set[str] = set()
        """The modules that edits use: "xarrayops", "xarrayops.numpy", "numpy"; and the variable that SciPy needs."""
        self.meetings = {meeting.node: meeting for meeting in program.meetings}
        """The uses of arrays of the module together with arrays of the caller."""
        self._used = {*filter(None, map(_name, ast.walk(program.source.tree)))}

    @cached_property
    def ownership(self) -> Ownership:
        """Which writes can make a new array."""
        return self.program.ownership_with({name: each.written for name, each in self.returned.items()})

    def is_array(self, node: ast.AST) -> bool:
        """Whether an expression is proved to be an array."""
        return self.value(node).is_proved

    def has_array_method(self, node: ast.expr, name: str) -> bool:
        """Whether an expression with this method or attribute is certainly an array."""
        if self.is_array(node):
            return True
        is_other = self.value(node).kind not in (ARRAY, UNKNOWN) or self.names.resolve(node) is not None
        if is_other or self.program.has_foreign_arrays:
            return False
        if name not in ARRAY_NAMES and name != "size":
            return False
        while isinstance(node, ast.Subscript):
            node = node.value
        if not isinstance(node, ast.Name | ast.Attribute):
            return True
        used = self.variables.used(node)  # of arrays only; ``size`` alone is not a proof
        return (name != "size" or INDEXED in used) and all(map(is_of_arrays, used - {INDEXED}))

    @cached_property
    def has_narrow_integers(self) -> bool:
        """Whether the program names an integer dtype that PyTorch does not take for indices, or compares dtypes."""
        names = {node.attr for node in self.program.nodes(ast.Attribute)}
        names |= {str(node.value) for node in self.program.nodes(ast.Constant)} | self._used
        return not names.isdisjoint(_NARROW)

    @cached_property
    def _modules(self) -> set[str]:
        """The modules that the program imports, or names from them."""
        modules = {alias.name for node in self.program.nodes(ast.Import) for alias in node.names}
        return modules | {node.module or "" for node in self.program.nodes(ast.ImportFrom)}

    def edit(self, node: ast.expr | ast.stmt, kind: str, reason: str) -> None:
        """Note an edit."""
        self.edits.append(Edit(node.lineno, kind, reason))

    def todo(self, node: ast.expr | ast.stmt, problem: str) -> None:
        """Note a place that does not change, at the line of its statement."""
        self.todos.append(Todo(self.statement(node).lineno, problem))

    def announce(self, node: ast.expr | ast.stmt, problem: str) -> None:
        """Note what a person must do after an edit, at the line of its statement; written with the edits."""
        self.announced.append(Todo(self.statement(node).lineno, problem))

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node."""
        return self.program.parents.get(node)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node is a part of."""
        return next(each for each in (node, *self.program.around(node)) if isinstance(each, ast.stmt))

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function around a node; None at the level of the module."""
        return next(self.program.functions(node), None)

    def is_compiled(self, node: ast.AST) -> bool:
        """Whether another package compiles the code of a node for NumPy's arrays."""
        compiled = self.program.foreign.compiled
        return bool(compiled) and any(function in compiled for function in self.program.functions(node))

    @cached_property
    def numpy(self) -> str:
        """The name by which the rewritten program calls xarrayops.numpy."""
        return self.imported("xarrayops.numpy") or self.imported("numpy") or self._free("np")

    @cached_property
    def xo(self) -> str:
        """The name of xarrayops."""
        return self.imported("xarrayops") or self._free("xo")

    @cached_property
    def host(self) -> str:
        """The import name of NumPy, for functions that need host memory."""
        known = self.imported("numpy") if self.is_port else None
        return known or self._free("numpy" if self.numpy != "numpy" else "host_numpy")

    @cached_property
    def is_port(self) -> bool:
        """Whether the program already imports xarrayops.numpy, so that ``numpy`` means NumPy itself."""
        return any(module.startswith("xarrayops.numpy") for module in self._modules)

    def is_dtype(self, name: str) -> bool:
        """Whether a NumPy name is a class of numbers, such as ``float64``, or of dtypes."""
        found = getattr(np, name, None)
        return isinstance(found, type) and issubclass(found, np.generic | np.dtype)

    def numpy_name(self, node: ast.AST) -> str | None:
        """The NumPy name of an expression, such as ``linalg.norm``; None for NumPy itself in a port."""
        name = self.names.resolve(node)
        if self.is_port and name is not None and not name.startswith("xarrayops."):
            return None
        return self.names.numpy_name(node)

    def imported(self, module: str) -> str | None:
        """The name under which the program imports a module; None if it does not."""
        imports = (node for node in ast.walk(self.program.source.tree) if isinstance(node, ast.Import))
        for alias in (alias for node in imports if self.function(node) is None for alias in node.names):
            if alias.name == module and (alias.asname or "." not in module):
                return alias.asname or module
        return None

    def _free(self, name: str) -> str:
        """A name that the program does not use for anything else."""
        while name in self._used or keyword.iskeyword(name) or name in BUILTINS:
            name += "_"
        return name

    def new_name(self, name: str) -> str:
        """A variable that the program does not have yet."""
        name = self._free(name)
        self._used.add(name)
        return name

    @contextmanager
    def names_of_one_edit(self) -> Iterator[None]:
        """New variables of the block may be those of other edits as well."""
        used = {*self._used}
        try:
            yield
        finally:
            self._used = used

    @cached_property
    def unused(self) -> str:
        """The variable for a value that nothing uses."""
        return self._free("_")

    def np_call(self, name: str, *arguments: cst.Arg) -> cst.Call:
        """A call of one of NumPy's functions."""
        self.needs.add("xarrayops.numpy")
        return cst.Call(dotted(f"{self.numpy}.{name}"), arguments)

    def xo_call(self, name: str, *arguments: cst.Arg) -> cst.Call:
        """A call of one of our functions."""
        self.needs.add("xarrayops")
        return cst.Call(dotted(f"{self.xo}.{name}"), arguments)


def _name(node: ast.AST) -> str | None:
    """The name that a node reads or binds."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.alias(name=name, asname=other):
            return other or name.partition(".")[0]
    return None


def dotted(text: str) -> cst.Attribute | cst.Name:
    """The expression of a dotted name."""
    first, *others = text.split(".")
    node: cst.Attribute | cst.Name = cst.Name(first)
    for name in others:
        node = cst.Attribute(node, cst.Name(name))
    return node


_OPERATIONS = (cst.BinaryOperation, cst.BooleanOperation, cst.Call, cst.Comparison, cst.IfExp, cst.UnaryOperation)
"""Expressions that need no parentheses as an argument."""


def argument(value: cst.BaseExpression, keyword: str | None = None) -> cst.Arg:
    """An argument of a call; a tuple or a generator without parentheses gets them, and an operation loses them."""
    if isinstance(value, _OPERATIONS) and len(value.lpar) == 1 and not _has_comment(value):
        value = value.with_changes(lpar=[], rpar=[])
    if isinstance(value, cst.Tuple | cst.GeneratorExp) and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    name = None if keyword is None else cst.Name(keyword)
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, keyword=name, equal=equal if name else cst.MaybeSentinel.DEFAULT)


def _has_comment(value: cst.BaseExpression) -> bool:
    """Whether the parentheses around an expression have a comment or an end of a line next to them."""
    spaces = value.lpar[0].whitespace_after, value.rpar[0].whitespace_before
    return not all(isinstance(each, cst.SimpleWhitespace) for each in spaces)


def operand(value: cst.BaseExpression) -> cst.BaseExpression:
    """An expression that can stand before a dot or a bracket."""
    atoms = cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.List | cst.Dict | cst.SimpleString
    if isinstance(value, atoms) or value.lpar:
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
