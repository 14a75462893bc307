"""Calls of every function of the standard, and what a namespace gives for them."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse

from xarrayops._core.backends.namespace import lookup
from xarrayops._surface import ROLES, SURFACE

Call = tuple[str, tuple[Any, ...], dict[str, Any]]

DTYPES = ("bool", "int8", "int32", "int64", "uint8", "uint16", "uint64", "float16", "float32", "float64", "complex64")
DTYPES_OF_TORCH = (*DTYPES, "uint32", "complex128")
KEYWORDS = ({"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": 5}, {"no_such_keyword": 1})
SPECIAL = np.asarray([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 1e-30])
"""Of these, each floating dtype has those that it can hold."""
COMPLEX = np.asarray([complex(a, b) for a in SPECIAL for b in SPECIAL])


def filled(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    """Random values of both signs, with special values of floating-point numbers and the limits of integers."""
    values = np.random.default_rng(seed).normal(size=shape) * 4
    x = np.asarray(values if dtype[0] in "fc" else np.abs(values) if dtype[0] == "u" else values).astype(dtype)
    if dtype[0] in "fc" and x.size:
        x.reshape(-1)[: SPECIAL.size] = SPECIAL[: x.size].astype(dtype)
    if dtype[0] in "iu" and x.size > 2:
        x.reshape(-1)[:2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    return x


def _dense(dtypes: tuple[str, ...]) -> list[np.ndarray[Any, Any]]:
    shapes = ((3, 4), (), (0, 4), (12,))
    return [filled(dtype, shape, 7 * i + j) for i, dtype in enumerate(dtypes) for j, shape in enumerate(shapes)]


def operands_of_numpy() -> list[Any]:
    """Arrays of every kind that reaches a NumPy namespace."""
    base = filled("float64", (3, 4), 1)
    read_only = base.copy()
    read_only.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix: Any = np.matrix(base)
    others = [
        *(base[::-1, ::2], base.T, np.asfortranarray(base), read_only, np.float32(2.5), np.int8(-3), matrix),
        *(np.ma.masked_array(base, base > 1), scipy.sparse.csr_array(np.eye(3)), np.asarray(["b", "a"])),
        *(np.asarray([3, 1], "M8[s]"), np.asarray([1, None], object), np.zeros(2, "i4,f4"), [3.0, -2.0], 2.0),
    ]
    return [*_dense(DTYPES), COMPLEX, *others]


def operands_of_torch() -> list[Any]:
    """Tensors of every dtype and layout, with views and gradients."""
    torch = import_module("torch")
    dense = [torch.asarray(x.copy()) for x in _dense(DTYPES_OF_TORCH)]
    base = torch.asarray(filled("float32", (3, 4), 1))
    complex_ = torch.asarray(filled("complex64", (3, 4), 2))
    others = [
        *(base.T, base[:, ::2], base.to(torch.bfloat16), base.clone().requires_grad_(), complex_.conj()),
        *(complex_.conj().imag, torch.eye(3).to_sparse(), torch.eye(3).to_sparse_csr(), torch.nn.Parameter(base)),
        *(np.ones(3), [3.0, -2.0], 2.0),
    ]
    return [*dense, torch.asarray(COMPLEX.copy()), *others]


def torch_index(x: Any) -> Any:
    return import_module("torch").arange(x.shape[0] - 1, -1, -1)


def reversed_(x: Any) -> Any:
    """The numbers in reverse order, so that zeros and infinities meet others."""
    if hasattr(x, "layout"):  # PyTorch does not flip unsigned integers
        return x[torch_index(x)] if str(x.layout) == "torch.strided" and x.ndim else x
    return x[::-1] if getattr(x, "ndim", 0) and not scipy.sparse.issparse(x) else x


def calls(operands: list[Any]) -> Iterator[Call]:
    """Each function on each operand, on pairs of them, and with keywords."""
    pairs = [*itertools.product(operands[:44:4], operands[2::5]), *((x, reversed_(x)) for x in operands)]
    for verb in SURFACE:
        roles = [role for role in (ROLES.get(verb) or {}).values() if role in ("array", "operand")]
        for x in operands:
            yield verb, (x, 2, 5) if verb == "clip" else (x,), {}
        if len(roles) == 1:
            for x, keywords in itertools.product(operands[::9], KEYWORDS):
                yield verb, (x,), keywords
        if len(roles) > 1:
            for pair in pairs:
                yield verb, pair, {}
            for x, number in itertools.product(operands[::4], (2, 0.5, True, 1j)):
                yield verb, (x, number), {}
                yield verb, (number, x), {}


def outcome(xp: Any, call: Call) -> Any:
    """The result of a call, or the class of the error."""
    verb, args, kwargs = call
    function = lookup(xp, verb)
    if function is None:
        return AttributeError
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except Exception as error:
            return type(error)


def described(x: Any) -> Any:
    """What must agree: the class, the dtype, the shape and the values."""
    if isinstance(x, tuple | list):
        return [getattr(x, "_fields", None), *map(described, x)]
    if scipy.sparse.issparse(x):
        return [type(x), described(x.toarray())]
    if isinstance(x, np.ma.MaskedArray):
        return [type(x), described(x.filled(0)), described(np.ma.getmaskarray(x))]
    if type(x).__module__.partition(".")[0] == "torch" and hasattr(x, "layout"):
        values = x.detach().to_dense() if str(x.layout) != "torch.strided" else x.detach()
        if str(x.dtype) in ("torch.bfloat16", "torch.complex32"):  # NumPy has neither
            values = values.to(import_module("torch").complex64)
        return [type(x), x.dtype, x.layout, x.requires_grad, described(values.resolve_conj().resolve_neg().numpy())[2:]]
    if isinstance(x, np.ndarray | np.generic):
        return [type(x), x.dtype, x.shape, x.tolist() if x.dtype.kind not in "fc" else _bits(np.asarray(x))]
    return [type(x), str(x)]


def _bits(x: np.ndarray[Any, Any]) -> list[str]:
    """The values as text, in which all NaNs are equal and zeros have a sign."""
    return [str(value) for value in x.ravel().tolist()]
