"""Calls of every function with a hostile argument: each gives a result, or an error of ours whose advice works.

``python -m tests.fuzz.advice LIBRARY STEP`` makes every STEP-th pair of a call and a hostile argument, and follows the
advice of each error: the expression after "Instead:" replaces the argument, until a result or an error without advice.
"""

from __future__ import annotations

import json
import re
import runpy
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dis import opmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy

import xarrayops as xo
import xarrayops.numpy
from xarrayops.errors import XArrayOpsError

UNIT = Path(__file__).parents[1] / "unit"
FIRST = runpy.run_path(str(UNIT / "core" / "first_calls.py"))
VALUES = runpy.run_path(str(UNIT / "numpy" / "conftest.py"))["VALUES"]
NOT_OF_OURS = {
    "array_namespace(": "functions of a namespace are the library's own",
    "xo.cond(x[0] > 0": "the predicate is computed in the call, and was made by the caller",
    "while_loop(": "as xo.cond",
    "np.sort(np.unique_values": "the inner result has unknown sizes, not the argument",
    ", 1.0) == x.dtype": "the comparison is the caller's",
}
"""Parts of calls that are left out, with the reason."""
MOST_STEPS = 3
"""How many pieces of advice a user follows for one call."""
FINAL = re.compile(
    r"NumPy's own functions|make it again|return it from|the same call of|backend=|a function of the real|the elements|"
    r"select the numeric|a matrix|axis=|layout=|(give )?length=|dtype=|a dtype|its sum or mean|leave it out|outside of|"
    r"xo\.where\((mask|condition)|xo\.astype, or other first values|a copy of x|the real tensor|np\.compress of|"
    r"pad them|name the dtype|call it outside|the tensor that it holds"
)
"""Advice in words, after which a user writes another program."""
_END = re.compile(r", (or|with|which|a) | (or|of both|of NumPy|before the call|first)\b|; |,? where ")
"""The end of an expression in the words of an advice."""
_CONVERSION = re.compile(
    r"xo\.(asarray|convert|astype|compute|real|abs|sparse\.to_dense)\(|(numpy|jax|dask|torch)\.|(BAD|x|obj)[.[](?!map_blocks)"
)
"""The beginning of advice that makes another argument. Other advice is another call."""
HostileArguments = dict[str, Callable[[Any], Any]]


class Library(NamedTuple):
    """A library: how it makes an array of a host array, and its hostile arguments, each made from such an array."""

    make: Callable[[Any], Any]
    hostile: HostileArguments
    names: dict[str, Any]


class Pair(NamedTuple):
    """A call with one hostile argument."""

    call: str
    variable: str
    kind: str


class Finding(NamedTuple):
    pair: Pair
    what: str


def common() -> HostileArguments:
    """Hostile arguments for every library."""
    return {
        "None": lambda a: None,
        "a word": lambda a: "red",
        "a dict": lambda a: {"a": 1},
        "an object": lambda a: object(),
        "a generator": lambda a: iter(a.reshape(-1).tolist()),
        "a list": lambda a: a.tolist(),
        "a ragged list": lambda a: [[1.0], [1.0, 2.0]],
        "bytes": lambda a: b"abc",
        "a memoryview": lambda a: memoryview(numpy.ascontiguousarray(a)),
        "text": lambda a: numpy.full(a.shape, "red"),
        "numbers as text": lambda a: numpy.full(a.shape, "1.5"),
        "dates": lambda a: numpy.full(a.shape, "2020-01-01", "datetime64[D]"),
        "objects": lambda a: numpy.full(a.shape, None),
        "words as objects": lambda a: numpy.full(a.shape, "red", object),
        "records": lambda a: numpy.zeros(a.shape, [("name", "U3"), ("b", "f8")]),
        "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
        "MaskedArray": lambda a: numpy.ma.masked_array(a, mask=False),
        "matrix": lambda a: numpy.asmatrix(a.reshape(-1, a.shape[-1])),
        "read-only": lambda a: numpy.broadcast_to(a, a.shape),
        "like NumPy": lambda a: _LikeNumPy(a),
    }


class _LikeNumPy:
    """An object that NumPy converts, such as a column of a table."""

    def __init__(self, a: Any) -> None:
        self._a = a

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._a.astype(self._a.dtype if dtype is None else dtype)


def of_numpy() -> Library:
    from scipy import sparse

    class Subclass(numpy.ndarray):
        pass

    hostile: HostileArguments = {
        "a subclass": lambda a: a.view(Subclass),
        "a record array": lambda a: numpy.zeros(a.shape, [("a", "f8")]).view(numpy.recarray),
        "durations": lambda a: numpy.zeros(a.shape, "timedelta64[s]"),
        "StringDType": lambda a: numpy.full(a.shape, "red", numpy.dtypes.StringDType()),
        "longdouble": lambda a: a.astype(numpy.longdouble),
        "bytes without a type": lambda a: numpy.zeros(a.shape, "V4"),
        "csr_array": lambda a: sparse.csr_array(a.reshape(-1, 1)),
    }
    return Library(numpy.asarray, common() | hostile, {})


def of_torch() -> Library:
    import torch
    from torch._subclasses import FakeTensorMode

    class Subclass(torch.Tensor):
        pass

    fake = FakeTensorMode()

    def floating(a: Any) -> Any:
        return torch.asarray(a, dtype=torch.float32)

    hostile: HostileArguments = {
        "nested": lambda a: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        "jagged": lambda a: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
        "quantized": lambda a: torch.quantize_per_tensor(floating(a), 0.1, 0, torch.qint8),
        "meta": lambda a: torch.asarray(a, device="meta"),
        "MaskedTensor": lambda a: torch.masked.masked_tensor(torch.asarray(a), torch.ones(a.shape, dtype=torch.bool)),
        "Parameter": lambda a: torch.nn.Parameter(torch.asarray(a), requires_grad=a.dtype.kind in "fc"),
        "sparse": lambda a: torch.asarray(a).to_sparse(),
        "csr": lambda a: torch.asarray(a).reshape(-1, 1).to_sparse_csr(),
        "conjugated": lambda a: torch.asarray(a, dtype=torch.complex64).conj(),
        "oneDNN": lambda a: floating(a).to_mkldnn(),
        "a subclass": lambda a: torch.asarray(a).as_subclass(Subclass),
        "fake": lambda a: fake.from_tensor(torch.asarray(a)),
        "float8_e8m0fnu": lambda a: torch.zeros(a.shape, dtype=torch.float8_e8m0fnu),
        "uint64": lambda a: torch.asarray(a).to(torch.uint64),
        "complex32": lambda a: torch.asarray(a).to(torch.complex32),
    }
    return Library(torch.asarray, common() | hostile, {"torch": torch})


def of_jax() -> Library:
    import jax
    from jax import numpy as jnp
    from jax.experimental import sparse

    jax.config.update("jax_enable_x64", True)

    def deleted(a: Any) -> Any:
        x = jnp.array(a)
        x.delete()
        return x

    def outlived(a: Any) -> Any:
        kept: list[Any] = []
        jax.jit(lambda x: kept.append(x) or x)(jnp.asarray(a))
        return kept[0]

    hostile: HostileArguments = {
        "a key": lambda a: jax.random.key(7),
        "keys": lambda a: jax.random.split(jax.random.key(7), len(a)),
        "deleted": deleted,
        "a tracer that outlived its function": outlived,
        "int4": lambda a: jnp.asarray(a, dtype=jnp.int4),
        "float8_e4m3fn": lambda a: jnp.asarray(a, dtype=jnp.float8_e4m3fn),
        "ShapeDtypeStruct": lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype),
        "float0": lambda a: numpy.zeros(a.shape, jax.dtypes.float0),
        "BCOO": lambda a: sparse.BCOO.fromdense(jnp.asarray(a)),
    }
    return Library(jnp.asarray, common() | hostile, {"jax": jax})


def of_dask() -> Library:
    import dask
    from dask import array as da

    def made(a: Any) -> Any:
        return da.from_array(numpy.asarray(a), chunks=4)

    def unknown(a: Any) -> Any:
        x = made(a)
        return x[x == x]

    hostile: HostileArguments = {
        f"{name}, in chunks": lambda a, make=make: made(make(a))
        for name, make in common().items()
        if name in ("text", "objects", "records", "big-endian")
    }
    hostile |= {
        "unknown sizes": unknown,
        "masked": lambda a: da.ma.masked_equal(made(a), 1),
        "delayed": lambda a: dask.delayed(a),
    }
    return Library(made, common() | hostile, {"dask": dask})


LIBRARIES = {"numpy": of_numpy, "torch": of_torch, "jax": of_jax, "dask": of_dask}


def variables_of(call: str) -> dict[str, Any]:
    """The values of the arrays of a call, by name."""
    values = FIRST["VARIABLES"] if call.startswith("xo.") else VALUES
    return {name: numpy.asarray(value) for name, value in values.items()}


def pairs(library: Library) -> Iterator[Pair]:
    """Every call with every hostile argument in the place of each of its arrays."""
    for call in dict.fromkeys((*FIRST["calls_of_xarrayops"](), *FIRST["calls_of_numpy"]())):
        if any(part in call for part in NOT_OF_OURS):
            continue
        for name in variables_of(call):
            if re.search(rf'(?<![\w."]){name}(?![\w(="])', call):
                yield from (Pair(call, name, kind) for kind in library.hostile)


def outcome(library: Library, pair: Pair, argument: Any, *, computes: bool) -> Exception | None:
    """The error of a call; None for a result, and for an error that the expressions in the call raise themselves.

    With ``computes`` the values of a Dask array are computed, too.
    """
    arrays = {name: library.make(value) for name, value in variables_of(pair.call).items()}
    scope = {**arrays, pair.variable: argument, "xo": xo, "np": xarrayops.numpy, "numpy": numpy, "LIBRARY": "numpy"}
    try:
        found = eval(pair.call, scope)
        if computes and "dask" in library.names and isinstance(found, library.names["dask"].array.Array):
            xo.compute(found)
    except Exception as error:
        return error if _is_of_ours(error) else None
    return None


def _is_of_ours(error: Exception) -> bool:
    """Whether a function of ours raised an error, not an expression of the call or a function in it."""
    inside, place = False, error.__traceback__
    while place is not None:
        file = place.tb_frame.f_code.co_filename
        inside = (inside or "/xarrayops" in file) and file != "<string>"
        place = place.tb_next
    return inside


def is_clear(error: Exception) -> bool:
    """Whether an error is ours: of one of our classes, with our function in its message, or raised by our code."""
    if isinstance(error, XArrayOpsError) or str(error).startswith(("xo.", "np.", "xarrayops.")):
        return True
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    code = None if place is None else place.tb_frame.f_code
    is_raised = code is not None and code.co_code[place.tb_lasti] == opmap["RAISE_VARARGS"]
    return is_raised and "/xarrayops/" in code.co_filename


def is_of_numpy(pair: Pair, argument: Any, error: Exception) -> bool:
    """Whether a function of `xarrayops.numpy` raises what NumPy's own raises for the same argument."""
    if pair.call.startswith("xo."):
        return False
    if isinstance(argument, numpy.ndarray) and isinstance(error, TypeError):
        return True
    with suppress(Exception):  # an array of another library
        argument = xo.convert(argument, "numpy")
    scope = variables_of(pair.call) | {pair.variable: argument, "np": numpy, "numpy": numpy}
    try:
        eval(pair.call, scope)
    except Exception as other:
        return isinstance(error, type(other)) or isinstance(other, type(error))
    return False


def followed(library: Library, pair: Pair, error: Exception, argument: Any) -> tuple[str, Any]:
    """How far the advice of an error leads: "" (there is none), "done", or "again", with the argument that it makes."""
    text = str(error)
    advice = text.rpartition("Instead: ")[2] if "Instead: " in text else ""
    advice = re.sub(r"^xo\.[\w.]+, or (?=xo|np)", "", advice)
    advice = re.sub(r"^((xo|np)\.[\w.]+ of the dense array|convert) ", "", advice)
    code = re.split(_END, advice, maxsplit=1)[0].strip(" .")
    if not code or FINAL.match(advice):
        return "", None
    if code.startswith("jax.numpy.unique"):
        return "", None
    named = re.search(r"argument ([\w.]+(\[\d+\])*)", text)
    good = library.make(numpy.asarray([1.0, 2.0]))
    scope = {"BAD": argument, "xo": xo, "numpy": numpy, "np": numpy, "value": 0, **library.names}
    scope |= dict.fromkeys(("x", "y", "condition", "segment_ids", "x1", "mask"), good)
    scope |= {"indices": library.make(numpy.asarray([0])), "args": [good], "f": lambda chunk: chunk}
    if named:
        code = re.sub(rf"(?<![\w.'\"]){re.escape(named[1])}(?![\w'\"])", "BAD", code)
    else:
        scope |= {"x": argument, "obj": argument}
    return "again" if _CONVERSION.match(code) else "done", eval(code, scope)


def finding(library: Library, pair: Pair) -> str:
    """What is wrong with the error of a pair, or with its advice; empty if nothing is."""
    argument = library.hostile[pair.kind](variables_of(pair.call)[pair.variable])
    before: Any = None
    for _ in range(MOST_STEPS):
        error = outcome(library, pair, argument, computes=not before)
        if error is None:
            return ""
        shown = f"{type(error).__name__}: {error}"[:400]
        if is_of_numpy(pair, argument, error):
            return ""
        if not is_clear(error):
            return f"raw: {shown}"
        if (shown, _kind(argument)) == before:
            return f"a circle: {shown}"
        before = shown, _kind(argument)
        try:
            step, argument = followed(library, pair, error, argument)
        except XArrayOpsError as failure:  # the advice of this error is for the same argument
            try:
                step, argument = followed(library, pair, failure, argument)
            except Exception as second:
                return f"advice that fails: {shown} -> {failure} -> {type(second).__name__}: {second}"
        except Exception as failure:
            return f"advice that fails: {shown} -> {type(failure).__name__}: {failure}"
        if step != "again":
            return ""
    return f"no end: {before[0]}"


def _kind(argument: Any) -> tuple[type, str]:
    return type(argument), str(getattr(argument, "dtype", ""))


def run(name: str, step: int) -> tuple[int, list[Finding]]:
    """The number of pairs of a library that were tried, and the findings."""
    library = LIBRARIES[name]()
    chosen = list(pairs(library))[::step]
    findings = []
    for pair in chosen:
        signal.alarm(60)
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                what = finding(library, pair)
            except (ValueError, TypeError, RuntimeError) as error:  # the library cannot make this argument
                what = "" if _is_made_by(error) else f"{type(error).__name__}: {error}"
        signal.alarm(0)
        if what:
            findings.append(Finding(pair, what))
    return len(chosen), findings


def _is_made_by(error: Exception) -> bool:
    """Whether the error comes from the function that makes a hostile argument."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        if place.tb_frame.f_code.co_name == "outcome":
            return False
        place = place.tb_next
    return True


if __name__ == "__main__":
    count, found = run(sys.argv[1], int(sys.argv[2]))
    print(json.dumps({"pairs": count, "findings": found, "kinds": Counter(each.pair.kind for each in found)}))
