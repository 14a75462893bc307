"""A function of one of the tables, and the source of the function that dispatches it."""

from __future__ import annotations

import ast
from textwrap import fill
from typing import Any

from numpy_keywords import NOT_REQUIRED, answered, answered_of_torch
from verb_tables import PACKAGE

PAGES = "https://data-apis.org/array-api/2025.12"
NUMPY_PAGES = "https://numpy.org/doc/stable/reference/generated/numpy."
ROLES = {
    "array": "ArrayT",
    "index": "Array",
    "operand": "ArrayT | Scalar",
    "maybe": "ArrayT | Scalar | None",
    "arrays": "Sequence[ArrayT]",
    "array_or_arrays": "ArrayT | Sequence[ArrayT]",
    "dtype": "DType | None",
    "device": "Device | None",
}
ARRAY_ROLES = ("array", "operand", "maybe")
RESULTS = [
    node.name
    for node in ast.parse((PACKAGE / "plugin" / "arrays.py").read_text()).body
    if isinstance(node, ast.ClassDef) and any(ast.unparse(base).startswith("tuple[") for base in node.bases)
]
"""The classes of results with named fields; a module imports those that it uses."""
OPTIONS = {"astype": ("saturate",), "matmul": ("out_dtype",)}
"""The keywords that xarrayops adds to functions of the standard: xarrayops/_core/dispatch/lookup.py."""
NAMES = """Devices and dtypes are names, such as ``"cuda:0"`` and ``"float32"``, or native objects of the library."""
CREATED = f"""``like=`` selects the library and the device of an array, and its floating-point dtype where the default
would be used. ``backend=`` selects a library: by its name such as ``"torch"``, its backend, its module or one of its
arrays. ``device=`` selects a device. The default is that of `xarrayops.use`, else of `xarrayops.set_default`, else
``XARRAYOPS_BACKEND``, else NumPy. {NAMES}"""
STAYS = f"The result belongs to the library of x, and is on the device of x unless ``device=`` is given. {NAMES}"


def attribute(module: Any, verb: str) -> Any:
    """The function of a verb such as ``"linalg.norm"`` in a module; None if it has none."""
    for part in verb.split("."):
        module = getattr(module, part, None)
    return module


class Function:
    """One row of the table tools/standard.pyi, or of tools/extra.pyi."""

    def __init__(self, node: ast.FunctionDef, module: str, row_file: str, table: str) -> None:
        self.row_file = row_file
        self.listed_in, self.is_extra = table, table == "extra"
        self.doc = ast.get_docstring(node) or ""
        self.name = node.name
        self.verb = f"{module}.{node.name}" if module in ("linalg", "fft") else node.name
        self.table = f"_{node.name}"
        self.args = node.args
        self.returns = ast.unparse(node.returns) if node.returns else "None"
        positional = [*node.args.posonlyargs, *node.args.args]
        self.positional = [a.arg for a in node.args.posonlyargs]
        self.either = [a.arg for a in node.args.args]
        self.options = OPTIONS.get(self.verb, ())
        self.keywords = [a.arg for a in node.args.kwonlyargs if a.arg not in self.options]
        self.vararg = node.args.vararg.arg if node.args.vararg else None
        self.numbers = self.vararg if self.vararg and ast.unparse(node.args.vararg.annotation) == "operand" else None
        """The variable arguments that may be numbers, too."""
        self.roles = {a.arg: ast.unparse(a.annotation) for a in [*positional, *node.args.kwonlyargs] if a.annotation}
        self.roles = {name: "array" if role == "index" else role for name, role in self.roles.items()}
        self.arrays = [name for name, role in self.roles.items() if role in ARRAY_ROLES]
        self.sequence = (None if self.numbers else self.vararg) or next(
            (name for name, role in self.roles.items() if role == "arrays"), None
        )
        self.one_or_several = next((name for name, role in self.roles.items() if role == "array_or_arrays"), None)
        """The parameter that is one array or a sequence of them."""
        self.creates = not self.arrays and not self.sequence
        self.required = NOT_REQUIRED.get(self.verb, ())
        options = (*self.keywords, *self.required)
        self.answered = (*answered(self.verb, row_file), *answered_of_torch(self.verb, options))
        self.refuses_positions = bool(self.keywords) and not self.vararg

    def signature(
        self, like: str = "like: Array | None = None", backend: str = "Library | None", required: tuple[str, ...] = ()
    ) -> str:
        """The signature with annotations; ``required`` are parameters that have the default NotGiven."""
        args = self.args
        parts: list[str] = []
        positional = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
        for i, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
            parts.append(self._parameter(arg, ast.Name("NotGiven") if arg.arg in required else default))
            if args.posonlyargs and i == len(args.posonlyargs) - 1:
                parts.append("/")
        if args.vararg:
            parts.append(f"*{args.vararg.arg}: {'ArrayT | Scalar' if self.numbers else 'ArrayT'}")
        elif args.kwonlyargs or self.creates:
            parts.append("*")
        parts += [self._parameter(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
        if self.creates:
            parts += [like, f"backend: {backend} = None"]
        return ", ".join(parts)

    def served_signature(self) -> str:
        """The signature with the refused parameters: xarrayops/_core/dispatch/refused.py.

        Options that the standard lacks follow the refused keywords if they are the only options, so that these take a
        surplus positional argument.
        """
        if self.options and not self.keywords:
            refused = "".join(f"{name}: Refused = None, " for name in self.answered)
            return self.signature(required=self.required).replace("/, *, ", f"/, {refused}")
        extra = "extra: Refused = NotGiven, " if self.refuses_positions else ""
        signature = self.signature(required=self.required)
        if extra and not self.either and self.positional:
            signature = signature.replace("/, *, ", f"{extra}/, ")
        elif extra:
            signature = signature.replace("*, ", extra)
        return ", ".join([signature, *(f"{name}: Refused = None" for name in self.answered)])

    def refusal(self) -> list[str]:
        """The lines that raise if a refused parameter is given, or one that NumPy does not require is missing."""
        tests = [f"{name} is NotGiven" for name in self.required[-1:]]
        tests += ["extra is not NotGiven"] * self.refuses_positions
        tests += [f"{name} is not None" for name in self.answered]
        return [f"if {' or '.join(tests)}:", f'    raise wrong_call("{self.verb}", locals())'] if tests else []

    def delegation(self) -> list[str]:
        """The lines that pass a call with an option to the function that serves such calls."""
        given = ", ".join([*self.positional, *(f"{name}={name}" for name in (*self.keywords, *self.options))])
        tests = [self.given(name) for name in self.options]
        return [f"if {' or '.join(tests)}:", f'    return with_options("{self.verb}", {given})'] if tests else []

    def given(self, option: str) -> str:
        """The test whether a call has an option that the standard lacks: it is not None, or true."""
        return option if self.roles[option] == "bool" else f"{option} is not None"

    def parameters(self) -> str:
        """The bare signature in the standard: names, kinds and defaults, without annotations."""
        stripped = ast.parse(f"def f({ast.unparse(self.args)}): 0").body[0]
        assert isinstance(stripped, ast.FunctionDef)
        args = stripped.args
        pairs = zip(args.kwonlyargs, args.kw_defaults, strict=True)
        required = [(arg, default) for arg, default in pairs if arg.arg not in self.options]
        args.kwonlyargs, args.kw_defaults = [arg for arg, _ in required], [default for _, default in required]
        for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs, *([args.vararg] if args.vararg else [])]:
            arg.annotation = None
        return f"({ast.unparse(args)})"

    def array_roles(self) -> dict[str, str]:
        """The parameters that take arrays, each with its role; ``*arrays`` has the role "arrays"."""
        taking = {name: role for name, role in self.roles.items() if role in (*ARRAY_ROLES, "arrays")}
        if self.one_or_several:
            taking[self.one_or_several] = "arrays"
        several = self.args.vararg
        role = ast.unparse(several.annotation) if several is not None and several.annotation is not None else ""
        if several is not None and role in ("array", "operand"):
            taking[several.arg] = f"{role}s"
        return taking

    def _parameter(self, arg: ast.arg, default: ast.expr | None) -> str:
        assert arg.annotation is not None
        role = ast.unparse(arg.annotation)
        text = f"{arg.arg}: {ROLES.get(role, role)}".replace("'", '"')
        return text if default is None else f"{text} = {ast.unparse(default)}".replace("'", '"')

    def result(self) -> str:
        if self.returns in RESULTS:
            return f"{self.returns}[ArrayT]"
        return self.returns.replace("array", "Array" if self.creates else "ArrayT")

    def call(self) -> str:
        parts = [*self.positional, *self.either, *([f"*{self.vararg}"] if self.vararg else [])]
        return ", ".join([*parts, *(f"{name}={name}" for name in self.keywords)])

    def lookup(self) -> list[str]:
        """The lines that look f up: by one class, by two classes, or by the classes of all arrays."""
        if self.creates:
            return []
        classes = [f"type({name})" for name in self.arrays]
        if self.sequence:
            key = f"(Several, *{{*map(type, {self.sequence})}})"
            hit = f"{self.table}[key]"
        elif self.one_or_several:
            each = self.one_or_several
            others = f"map(type, {each} if isinstance({each}, (tuple, list)) else ({each},))"
            key = f"(Several, *{{{classes[0]}, *{others}}})"
            hit = f"{self.table}[key]"
        elif self.numbers:
            others = f"[type(each) for each in {self.numbers} if type(each) not in NUMBERS]"
            key = f"(Several, *{{{classes[0]}, *{others}}})"
            hit = f"{self.table}[key]"
        elif len(classes) == 1:
            key, hit = classes[0], f"{self.table}[{classes[0]}]"
        elif len(classes) == 2:
            key, hit = f"({', '.join(classes)})", f"{self.table}[{classes[0]}][{classes[1]}]"
        else:
            key, hit = f"({', '.join(classes)})", f"{self.table}[key]"
        lines = [f"key = {key}"] if "[key]" in hit else []
        whole_key = "key" if lines else key
        return [
            *lines,
            "try:",
            f"    f = {hit}",
            "except KeyError:",
            f'    f = getattr(resolved, resolve("{self.verb}", {whole_key}))',
        ]

    def converting(self) -> list[str]:
        """The lines that make native dtypes and devices; in a creation function they assign f, too."""
        if self.creates:
            numbers = [name for name, role in self.roles.items() if role.split(" |")[0] in ("float", "complex")]
            values = "".join(f", {name}" for name in numbers)
            return [f'f, dtype, device = creation("{self.verb}", like, backend, dtype, device{values})']
        lines: list[str] = []
        for option in ("dtype", "device"):
            if self.roles.get(option) == option:
                required = option in self.positional
                convert = f"{option} = native_{option}(type({self.arrays[0]}), {option})"
                lines += [convert] if required else [f"if {option} is not None:", f"    {convert}"]
        return lines

    def returning(self) -> list[str]:
        """The lines that convert options and call f.

        What they raise is completed: see xarrayops/_core/dispatch/errors.py.
        """
        lines = [*self.converting(), f"return f({self.call()})"]
        shown = [*self.arrays, *([f"*{self.numbers}"] if self.numbers else [])]
        shown += [name for name in (self.sequence, self.one_or_several) if name]
        shown = shown or [*self.positional, *self.either]
        return [
            "try:",
            *(f"    {line}" for line in lines),
            "except FAILURES as error:",
            f'    add_call(error, "{self.verb}", {", ".join(shown)})',
            "    raise",
        ]

    def docstring(self, page: str) -> list[str]:
        """The lines: the description, the default device if there is a device parameter, the page, if there is one."""
        place = fill(CREATED if self.creates else STAYS, 116) if "device" in self.roles else ""
        paragraphs = "\n\n".join(part for part in (self.doc, place, f"<{page}>" if page else "") if part)
        return f'"""{paragraphs}\n"""'.splitlines()

    def numpy_page(self) -> str:
        """The page of NumPy's function of the same name; empty if NumPy has none."""
        import numpy as np

        owner = np.lib.stride_tricks if self.verb == "sliding_window_view" else np
        path = f"{owner.__name__}.".removeprefix("numpy.") + self.verb if owner is not np else self.verb
        return f"{NUMPY_PAGES}{path}.html" if attribute(owner, self.verb) is not None else ""

    def stub(self) -> str:
        """The function for type checkers. With ``like=`` a created array has its class, without it any class."""
        if not self.creates:
            return f"def {self.name}({self.signature()}) -> {self.result()}: ..."
        signatures = {self.signature("like: ArrayT", "None"): "ArrayT", self.signature("like: None = None"): "Array"}
        return "\n".join(
            f"@overload\ndef {self.name}({given}) -> {result}: ..." for given, result in signatures.items()
        )

    def source(self, module: str) -> str:
        prefix = "extensions/generated/array_api" if module != "standard" else "API_specification/generated/array_api"
        page = f"{PAGES}/{prefix}.{self.verb}.html" if not self.is_extra else self.numpy_page()
        refusal = self.refusal()
        lines = [*self.docstring(page), *refusal, *self.delegation(), *self.lookup(), *self.returning()]
        body = "\n".join(f"    {line}" if line else "" for line in lines)
        table = "" if self.creates else f'\n\n{self.table} = table("{self.verb}", globals(), "{self.table}")\n'
        decorator = "@shows_own_parameters\n" if refusal else ""
        return f"{table}\n\n{decorator}def {self.name}({self.served_signature()}) -> {self.result()}:\n{body}\n"
