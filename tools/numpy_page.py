"""The page docs/guides/from-numpy.md, from the tables of xarrayops/_core/numpy_names. tools/readme.py writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._core.numpy_names import FFT, LINALG, MAIN, METHODS, RANDOM, REMARKS
from xarrayops._core.numpy_names.calls import STEPS, answer
from xarrayops._core.numpy_names.lines import Line
from xarrayops._core.numpy_names.positions import parameters

HEAD = """# From NumPy

Most of NumPy's names are the same here, and mean the same. This page has the others: every public name of NumPy 2, and
every method of its arrays. The errors say the same: `xo.concatenate` raises `AttributeError: xo has no concatenate.
Instead: xo.concat`.

```python
>>> import numpy as np
>>> import xarrayops as xo
>>> x = np.asarray([[3.0, 1.0], [2.0, 4.0]])
>>> xo.cumsum
Traceback (most recent call last):
...
AttributeError: xo has no cumsum. Instead: xo.cumulative_sum (an array of several axes needs axis=)
>>> xo.sum(x, 0)
Traceback (most recent call last):
...
TypeError: xo.sum takes axis by keyword: xo.sum(x, axis=0)
```

## One changed import

`import xarrayops.numpy as np` has NumPy's names and signatures, for the arrays of every library: main namespace,
`linalg`, `fft` and `random`. It is the first step of a port. Each function calls one of ours.

```python
>>> import xarrayops.numpy as xnp
>>> xnp.concatenate([x, x]).std(axis=0).shape, float(xnp.std(x, 0, ddof=1)[1])
((2,), 2.1213203435596424)
>>> with xo.use("numpy", dtype="float32"):
...     xnp.zeros(3).dtype
dtype('float32')
>>> xnp.ufuncs
Traceback (most recent call last):
...
AttributeError: np has no ufuncs; did you mean np.ufunc?
```

- Lists and numbers beside arrays become arrays of their library. Without an array, functions follow `xo.use` and
  `xo.set_default`, and have NumPy's default dtypes float64, int64 and complex128 on every library, unless
  `xo.use(dtype=...)` names another. JAX without its 64-bit types raises.
- Dtypes are promoted as in NumPy; on other libraries than NumPy, functions of small integers give float64.
- `out=` is written in place on NumPy, PyTorch and CuPy. JAX and Dask raise and say what to write, as do `np.copyto` and
  `np.put`. `where=` of a ufunc needs `out=`.
- `np.float32(x)` casts, `x.dtype == np.float32` and `isinstance(x, np.ndarray)` work on every library.
- `np.random.default_rng` has the methods of NumPy's generator; the numbers are those of [xo.random](random.md). There
  is no global state: `np.random.seed` raises.
- `weights=` of quantiles, estimators of bins, objects, structured dtypes and subclasses are not supported.
- Methods and operators are those of the array's own library.

## What differs in `xarrayops` itself

What differs everywhere, and why:

- Arrays come first and by position; options such as `axis=` come by keyword. The standard requires
  this, so a call means the same in every library.
- Functions that create arrays take `like=x`, or `backend=` and `device=`: without an array there is no library.
- Results are new arrays. There is no `out=`, because JAX and Dask have arrays that cannot change.
  `xo.at(x)[index].set(value)` returns the changed array, and x keeps its values; only with `copy=None` or `copy=False`
  may x change.
- Methods and operators are those of the array's own library, which often differ: use the functions below.
- Python numbers are accepted beside arrays, not instead of them: `math.log(6.4)` for a number alone.
- Dtypes are names: `xo.float64`, or `"float64"`.

In the lines of code, `v` and `w` are vectors of 4 elements and `u` of 3, `x` and `y` are matrices of 3 rows and
4 columns, `a` and `b` are square matrices of 3, `z` is complex, `i` and `k` are integers, `m` and `mask` are booleans,
`s` is sorted, and `n` is a number. A test runs each line on NumPy and on PyTorch.
"""
KEYWORDS = {
    **dict.fromkeys(("a_max", "a_min"), "clip"),
    "assume_unique": "isin",
    "axisa": "linalg.cross",
    "bias": "cov",
    "casting": "astype",
    "compute_uv": "linalg.svd",
    "copy": "meshgrid",
    "ddof": "std",
    "decimals": "round",
    "dtype": "concat",
    **dict.fromkeys(("equal_nan", "sorted"), "unique"),
    "initial": "sum",
    "interpolation": "quantile",
    "kind": "sort",
    "mode": "take",
    "order": "zeros",
    "out": "add",
    "overwrite_input": "median",
    "rcond": "linalg.pinv",
    "retstep": "linspace",
    "sparse": "meshgrid",
    "tol": "linalg.matrix_rank",
    "where": "divide",
}
"""NumPy's keywords with the functions whose answers the page shows."""
VALUES = {"compute_uv": False, "equal_nan": False, "kind": "stable", "mode": "clip", "order": "F"} | dict.fromkeys(
    ("assume_unique", "bias", "copy", "overwrite_input", "retstep", "sorted", "sparse"), True
)
"""The values of these keywords; others are arguments with the name of the keyword."""
MODULES = (
    ("linalg", "numpy.linalg", np.linalg, LINALG),
    ("fft", "numpy.fft", np.fft, FFT),
)


def code(names: Iterable[str]) -> str:
    """The names as a list in a sentence."""
    return ", ".join(f"`{name}`" for name in sorted(names, key=lambda name: (name.lower(), name)))


def table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    head = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows).replace("|  |", "| |")


def line_rows(lines: Mapping[str, Line]) -> list[tuple[str, ...]]:
    """A row for each line of code."""
    return [
        (f"`{name}`", f"`{lines[name][0]}`", f"`{lines[name][1]}`", "".join(lines[name][2:])) for name in ordered(lines)
    ]


def reason_rows(without: Mapping[str, str]) -> list[tuple[str, ...]]:
    """A row for each reason, with its names."""
    reasons = dict.fromkeys(without.values())
    return [(code(name for name in without if without[name] == reason), reason) for reason in reasons]


def keyword_row(name: str) -> tuple[str, str]:
    """The row about a keyword: the answer to a call that has it, without the first sentence."""
    required = {n: object() for n, p in parameters(KEYWORDS[name]).items() if p.default is p.empty}
    given = {**required, **({"arrays": (1, 2)} if name in ("copy", "sparse") else {}), name: VALUES.get(name, object())}
    shown = f"{name}={VALUES[name]!r}" if name in VALUES else f"{name}="
    return f"`{shown}`", answer(KEYWORDS[name], given).partition("=. ")[2]


def ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.lower(), name))


def same(theirs: Any, ours: Any) -> set[str]:
    """The public names that both have."""
    return {name for name in dir(theirs) if not name.startswith("_")} & set(dir(ours))


def main_sections() -> list[str]:
    """The sections about the functions of the main namespace."""
    names = same(np, xo)
    differing = names & REMARKS.keys()
    renamed = ((f"`{name}`", f"`xo.{MAIN.renamed[name]}`", REMARKS.get(name, "")) for name in ordered(MAIN.renamed))
    return [
        f"## The same names\n\n{code(names - differing)}.\n",
        "These have the same name, and differ in their arguments:\n",
        table(("name", "what differs"), ((f"`{name}`", REMARKS[name]) for name in ordered(differing))),
        "## Other names\n\nSome are names that NumPy 2 has removed.\n",
        table(("NumPy", "here", "what differs"), renamed),
        "## A line of code instead\n",
        table(("name", "NumPy", "here", "what differs"), line_rows(MAIN.lines)),
        "## Names without a counterpart, and why\n",
        table(("NumPy", "why, and what serves"), reason_rows(MAIN.without)),
    ]


def module_sections() -> list[str]:
    """The sections about numpy.linalg, numpy.fft and numpy.random."""
    sections = []
    for name, title, module, answers in MODULES:
        names = same(module, getattr(xo, name))
        differing = {each for each in names if f"{name}.{each}" in REMARKS}
        remarks = ((f"`{each}`", REMARKS[f"{name}.{each}"]) for each in ordered(differing))
        sections += [
            f"## {title}\n",
            *([f"The same: {code(names - differing)}.\n"] if names - differing else []),
            "These differ in their arguments:\n",
            table(("name", "what differs"), remarks),
            table(("name", "NumPy", "here", "what differs"), line_rows(answers.lines)),
            table(("NumPy", "why, and what serves"), reason_rows(answers.without)),
        ]
    return [
        *sections,
        f"## numpy.random\n\nThe same names: {code(same(np.random, xo.random))}. Their numbers are not NumPy's: "
        "[Random numbers](random.md).\n",
        table(("NumPy", "what serves"), reason_rows(RANDOM.without)),
    ]


def method_sections() -> list[str]:
    """The sections about the methods and attributes of arrays, and about keywords."""
    names = same(np.ndarray, xo) - METHODS.lines.keys()
    keywords = (keyword_row(name) for name in ordered(STEPS))
    return [
        "## Methods and attributes of arrays\n",
        f"The function of the same name, with the array first, is right for {code(names)}.\n",
        table(("name", "NumPy", "here", "what differs"), line_rows(METHODS.lines)),
        table(("NumPy", "why, and what serves"), reason_rows(METHODS.without)),
        "## Keywords\n",
        "Functions that have these in NumPy answer them with a `TypeError`. `where=` is answered by reductions, and\n"
        "by functions that are not defined everywhere, such as `xo.divide` and `xo.log`. For all other keywords\n"
        "Python's own error has the name.\n",
        table(("keyword", "what to write"), keywords),
    ]


def page() -> str:
    """The text of the page."""
    note = "<!-- Written by tools/readme.py from xarrayops/_core/numpy_names; do not edit. -->\n"
    return "\n".join([note, HEAD, *main_sections(), *module_sections(), *method_sections()])
