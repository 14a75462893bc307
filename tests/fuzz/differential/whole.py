"""Calls that no signature describes: objects that are indexed, functions of functions, subscripts of einsum."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.fuzz.differential.parameters import DTYPE_CODES, RANDOM, REAL

if TYPE_CHECKING:
    from tests.fuzz.differential.draw import Draw


def _einsum(d: Draw) -> str:
    subscripts, *shapes = d.one_of(
        ("ij,jk->ik", (3, 4), (4, 3)),
        ("ij,jk", (3, 4), (4, 4)),
        ("ii", (4, 4)),
        ("ii->i", (4, 4)),
        ("iij->ij", (3, 3, 4)),
        ("ij->ji", (3, 4)),
        ("i,i", (4,), (4,)),
        ("i,j->ij", (4,), (3,)),
        ("...j,j->...", (2, 3, 4), (4,)),
        ("ij,ij->", (3, 4), (3, 4)),
        ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
        ("ba", (3, 4)),
        ("ij,jk->ik", (3, 4), (3, 4)),
    )
    operands = [d.array(shape) for shape in shapes]
    options = ", dtype='float64'" if d.chance(0.1) else ", optimize=True" if d.chance(0.2) else ""
    return f"np.einsum({subscripts!r}, {', '.join(operands)}{options})"


def _joined(name: str) -> Callable[[Draw], str]:
    def call(d: Draw) -> str:
        x = d.array((4,), (3,), (3, 4), (), (0,))
        parts = [x, d.one_of("1:4", "0", "2.5", "[1, 2]", "1:3:0.5", "0:1:5j", d.array(d.main.shape))]
        return f"np.{name}[{', '.join(parts[: d.integer(1, 2)][:: d.one_of(1, -1)])}]"

    return call


def _grid(name: str) -> Callable[[Draw], str]:
    slices = ("0:3", "1:4:2", "0:1:0.25", "-1:1:5j", "3", ":2", "2:2", "0:2:3j")
    return lambda d: f"np.{name}[{', '.join(d.one_of(*slices) for _ in range(d.integer(1, 3)))}]"


def _index(name: str) -> Callable[[Draw], str]:
    return lambda d: f"np.{name}[{d.one_of('1:3', '..., 0', '1', '1:2, 3', 'None, ::2')}]"


def _block(d: Draw) -> str:
    x = d.array((3, 4), (4,), (3, 3), ())
    y = d.array(d.main.shape)
    blocks = (f"[{x}, {y}]", f"[[{x}, {y}], [{y}, {x}]]", f"[[{x}], [{y}]]", x, f"[{x}, [{y}]]", f"[{x}, 1]")
    return f"np.block({d.one_of(*blocks)})"


def _piecewise(d: Draw) -> str:
    x = d.array((4,), (3, 4), (), dtypes=REAL)
    functions = d.one_of("[1, 2]", "[lambda v: v * 2, 0]", "[-1, lambda v: v, 5]", "[1.5, 2.5]", "[1]", "[1, 2, 3, 4]")
    return f"np.piecewise({x}, {d.one_of(f'[{x} < 0, {x} >= 0]', f'[{x} < 1]', f'{x} > 0')}, {functions})"


def _select(d: Draw) -> str:
    x = d.array((4,), (3, 4), dtypes=REAL)
    default = d.one_of("", ", 7", ", default=0.5", ", nan")
    choices = d.one_of(f"[{x}, {x} * 2]", f"[{x}, 1]", f"[0, {d.array(d.main.shape)}]", f"[{x}]")
    return f"np.select([{x} > 1, {x} < 0], {choices}{default})"


def _fromfunction(d: Draw) -> str:
    function = d.one_of("lambda i, j: i + j", "lambda i, j: i == j", "lambda i, j: i * 2.5 - j")
    shape, dtype = d.one_of("(2, 3)", "(0, 2)", "[3, 3]"), d.one_of("", ", dtype=int", ", dtype=np.float32")
    return f"np.fromfunction({function}, {shape}{dtype})"


def _fromiter(d: Draw) -> str:
    values = d.one_of("range(5)", "[1.5, 2]", "(i * i for i in range(4))", "[]")
    return f"np.fromiter({values}, {d.one_of(*DTYPE_CODES[:9])}{d.one_of('', ', 2', ', count=9')})"


def _frombuffer(d: Draw) -> str:
    buffer = d.one_of("bytes(range(16))", "bytearray(8)", "bytes(5)")
    dtype = d.one_of("np.uint8", "np.int16", "np.float32", "float")
    return f"np.frombuffer({buffer}, {dtype}{d.one_of('', ', count=2', ', offset=1', ', 1, 2')})"


def _at(d: Draw) -> str:
    name = d.one_of("add", "subtract", "multiply", "maximum", "minimum", "divide", "negative", "logical_or")
    x = d.array((4,), (3, 4))
    index = d.one_of("[0, 1, 0]", "1", "slice(1, 3)", "[-1]", "[9]", "np.asarray([0, 0])", "[]")
    return f"np.{name}.at({x}, {index}{'' if name == 'negative' else f', {d.number()}'})"


def _where(d: Draw) -> str:
    mask = d.array(dtypes=("bool", "bool", "int64", "float64"))
    return f"np.where({mask})" if d.chance(0.15) else f"np.where({mask}, {d.beside()}, {d.beside()})"


def _constant(name: str) -> Callable[[Draw], str]:
    return lambda d: f"np.{name}"


def _dtype(d: Draw) -> str:
    return f"np.dtype({d.one_of(*DTYPE_CODES)}).{d.one_of('name', 'kind', 'itemsize', 'str', 'char')}"


def _random(name: str) -> Callable[[Draw], str]:
    """A method of a generator with a library's array as seed; the numbers differ, so only what they are is compared."""

    def call(d: Draw) -> str:
        size = d.one_of("3", "(2, 3)", "()", "None", "0", "size=(4,)")
        dtype = d.one_of("", "", ", dtype=np.float32", ", dtype='float64'")
        x = (
            d.array((4,), (3, 4))
            if name in ("permutation", "permuted") or (name == "choice" and d.chance(0.5))
            else "5"
        )
        given = {
            "random": f"{size}{dtype}",
            "uniform": f"{d.one_of('', '-1, 1, ', '2, ')}{size if size.isdigit() else 'size=3'}",
            "normal": f"{d.one_of('0, 1', '[1, 2], 3', '5')}",
            "standard_normal": f"{size}{dtype}",
            "lognormal": d.one_of("", "0, 1, 3", "1"),
            "beta": d.one_of("2, 3", "[1, 2], 0.5", "0.5, 0.5, (2, 3)", "1, 0"),
            "exponential": d.one_of("", "2", "[1, 2]", "2, (2, 3)"),
            "standard_exponential": f"{size}{dtype}",
            "integers": d.one_of(
                "5",
                "2, 7, 4",
                "5, size=(2, 3)",
                "5, dtype=np.int32, size=3",
                "3, 3",
                "[2, 5]",
                "0, 9, 2, endpoint=True",
            ),
            "choice": f"{x}, {d.one_of('3', '(2, 2)', 'None', '2, replace=False', '9, False')}",
            "permutation": x,
            "permuted": f"{x}{d.one_of('', ', axis=0', ', axis=-1')}",
        }[name]
        return f"np.random.default_rng(3).{name}({given})"

    return call


def _histogram(name: str) -> Callable[[Draw], str]:
    def call(d: Draw) -> str:
        x = d.array((6,), (3, 4), (0,), (), dtypes=(*REAL, "bool"), style=d.one_of("plain", "ties"))
        bins = d.one_of(
            "",
            ", 3",
            ", bins=[0, 1, 2.5]",
            ", [-2, 0, 0, 3]",
            ", np.asarray([-1.0, 0.0, 2.0])",
            ", [2, 1]",
            ", 0",
            ", 1",
        )
        ranges = d.one_of("", "", ", range=(-1, 2)", ", range=(2, 2)", ", range=(3, 1)")
        density = d.one_of("", "", ", density=True") if name == "histogram" else ""
        weights = f", weights={d.array(d.main.shape, dtypes=('float64', 'int64', 'float32'))}" if d.chance(0.2) else ""
        return f"np.{name}({x}{bins}{ranges}{density}{weights})"

    return call


CALLS: dict[str, Callable[[Draw], str]] = {
    "einsum": _einsum,
    **{name: _joined(name) for name in ("r_", "c_")},
    **{name: _grid(name) for name in ("mgrid", "ogrid")},
    **{name: _index(name) for name in ("s_", "index_exp")},
    "block": _block,
    "piecewise": _piecewise,
    "select": _select,
    "fromfunction": _fromfunction,
    "fromiter": _fromiter,
    "frombuffer": _frombuffer,
    "ufunc.at": _at,
    "where": _where,
    "dtype": _dtype,
    "random.default_rng": lambda d: "np.random.default_rng(3).random(4)",
    **{name: _constant(name) for name in ("e", "pi", "inf", "nan", "euler_gamma", "newaxis", "True_", "False_")},
    **{f"random.{name}": _random(name) for name in RANDOM},
    **{name: _histogram(name) for name in ("histogram", "histogram_bin_edges")},
}
"""The code of a whole call, by name."""
