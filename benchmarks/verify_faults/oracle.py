"""What a program does on a library, found without `verify`: each array's class, dtype and values, also of arguments."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import jax
import numpy as np
import torch

import xarrayops as xo

PLACES = {"numpy": np.array, "torch": torch.tensor, "jax": lambda x: jax.numpy.asarray(x)}
NEAR = {"float32": 2e-5, "complex64": 2e-5}
"""Below this fraction of the largest value a change may be rounding: 1e-9 in 64 bits."""


def module(text: str, name: str) -> ModuleType:
    """The program as a module."""
    made = ModuleType(name)
    sys.modules[name] = made
    exec(compile(text, f"<{name}>", "exec"), vars(made))
    return made


def outcome(text: str, original: ModuleType, call: str, library: str) -> Any:
    """The leaves of the result, of the arguments and of the module's lists after a call; or the error."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(io.StringIO()),
        jax.enable_x64(True),
    ):
        warnings.simplefilter("ignore")
        made = module(text, "program_of_oracle")
        tree, arguments = _placed(call, original, library)
        has_arrays = any(_is_array(x) for x in arguments.values())
        with contextlib.nullcontext() if has_arrays else xo.use(library):
            try:
                result = eval(tree, vars(made) | arguments)
                lists = {name: x for name, x in vars(made).items() if isinstance(x, list)}
                return list(_leaves([result, arguments, lists]))
            except Exception as error:
                return f"{type(error).__name__}: {error}"


def compare(want: Any, got: Any) -> str:
    """How two outcomes relate: "equal", "near" if rounding may be the cause, or "different"."""
    if isinstance(want, str) or isinstance(got, str):
        return "equal" if isinstance(want, str) == isinstance(got, str) else "different"
    if [each[:-1] for each in want] != [each[:-1] for each in got]:
        return "different"
    found = {_compare_values(a[-1], b[-1]) for a, b in zip(want, got, strict=True)}
    return next(each for each in ("different", "near", "equal") if each in found | {"equal"})


def _compare_values(a: Any, b: Any) -> str:
    if not isinstance(a, np.ndarray):
        return "equal" if a == b else "different"
    if a.dtype.kind not in "fc":
        return "equal" if np.array_equal(a, b) else "different"
    if np.array_equal(a, b, equal_nan=True):
        return "equal"
    scale = np.max(np.abs(a), initial=0, where=np.isfinite(a))
    near = NEAR.get(a.dtype.name, 1e-9)
    return "near" if np.allclose(a, b, rtol=near, atol=near * scale, equal_nan=True) else "different"


def _is_array(x: Any) -> bool:
    return isinstance(x, (np.ndarray, torch.Tensor, jax.Array))


def _placed(call: str, original: ModuleType, library: str) -> tuple[Any, dict[str, Any]]:
    """The call with variables for arguments, and their values on a library."""
    tree, found = ast.parse(call, mode="eval"), {}
    node: Any = tree.body
    while not isinstance(node, ast.Name):
        for i, arg in enumerate(node.args if isinstance(node, ast.Call) else ()):
            name = f"argument{len(found)}"
            x = eval(compile(ast.Expression(arg), "<argument>", "eval"), vars(original) | {"np": np})
            found[name] = PLACES[library](x) if isinstance(x, np.ndarray) else x
            node.args[i] = ast.copy_location(ast.Name(name, ast.Load()), arg)
        node = node.func if isinstance(node, ast.Call) else node.value
    return compile(tree, "<call>", "eval"), found


def _leaves(x: Any, path: str = "") -> Iterator[tuple[Any, ...]]:
    if isinstance(x, np.generic):
        yield path, "scalar", x.dtype.name, (), np.asarray(x)
    elif _is_array(x):
        values = np.asarray(x.detach() if isinstance(x, torch.Tensor) else x).copy()
        yield path, type(x).__name__, values.dtype.name, values.shape, values
    elif isinstance(x, (bool, int, float, complex)):
        yield path, type(x).__name__, np.asarray(x)
    elif isinstance(x, dict):
        yield path, "dict", sorted(map(str, x))
        for key, each in x.items():
            yield from _leaves(each, f"{path}.{key}")
    elif isinstance(x, (list, tuple)) or hasattr(x, "__next__"):
        members = list(x)
        yield path, type(x).__name__, len(members)
        for i, each in enumerate(members):
            yield from _leaves(each, f"{path}.{i}")
    elif hasattr(x, "__dict__"):
        yield path, type(x).__qualname__, ""
        yield from _leaves(vars(x), path)
    else:
        yield path, type(x).__name__, x
