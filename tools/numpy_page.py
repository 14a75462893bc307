"""The page docs/guides/from-numpy.md, from the tables of xarrayops/_core/numpy_names. tools/readme.py writes it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any

import numpy as np

import xarrayops as xo
from tests.fuzz.differential.known import ROWS
from tests.fuzz.differential.row import ALL
from xarrayops._core.numpy_names import FFT, LINALG, MAIN, METHODS, RANDOM, REMARKS
from xarrayops._core.numpy_names.keywords import RENAMED_KEYWORDS

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
TypeError: xo.sum takes axis=, dtype= and keepdims= by keyword; xarrayops.numpy.sum takes NumPy's arguments
>>> xo.add(x, x, out=x)
Traceback (most recent call last):
...
TypeError: xo.add has no out=. Instead: xarrayops.numpy.add, which has it
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

- Lists and numbers in a call with arrays become arrays of their library. Numbers alone are computed by NumPy,
  whatever the default library: `np.sqrt(2.0)`, `np.prod(x.shape)` and `int(np.ceil(n / 2))`. Otherwise functions
  without an array follow `xo.use` and `xo.set_default`. They have NumPy's default dtypes float64, int64 and
  complex128 on every library, unless `xo.use(dtype=...)` names another.
- JAX starts without 64-bit types. Python numbers, lists of them and NumPy's scalars next to an array are then weakly
  typed: a list next to a float32 array takes its dtype, so that `np.append(x, [1, 2])` is float32. Indices are int32.
  A call raises only if its result would have 64 bits in NumPy, such as `np.zeros(3, like=x)` and the mean of integers:
  switch the types on, or write `xo.use(dtype="float32")`. Comparisons of integers and fractions are exact.
- Dtypes are promoted as in NumPy, and elementwise functions compute in its loops: `np.sqrt` of int16 is float32.
  `dtype=` and `casting=` choose a loop by NumPy's rules and with NumPy's errors: `np.sqrt(x, dtype="int64")` raises.
- `out=` is written in place on NumPy, PyTorch and CuPy. JAX and Dask raise and say what to write, as do `np.copyto` and
  `np.put`. `where=` of a ufunc needs `out=`.
- `np.float32(x)` casts, `x.dtype == np.float32` and `isinstance(x, np.ndarray)` work on every library.
- `np.random.default_rng` has the methods of NumPy's generator; the numbers are from [xo.random](random.md). It
  has no global state: `np.random.seed` raises.
- Integers such as axes, shifts, sizes and counts may be 0-d arrays of any library. `like=` is a parameter of every
  function that creates arrays, also of `np.linspace`, the windows, `np.fft.fftfreq` and `np.random.default_rng`.
- What NumPy makes arrays of is accepted: buffers, and objects with `__array__` or `__array_interface__`, such as
  columns of pandas and polars, datasets of h5py, arrays of Arrow and images of PIL. They become arrays of the library
  of the call. If their elements are text, dates or objects, an error says so. `xo` itself takes arrays only; its error
  names the conversion, `xo.asarray(numpy.asarray(x), like=y)`.
- Means and variances of slices without elements warn as in NumPy, on every library, except with `where=`. Warnings
  about values (slices of NaN, division by zero; `np.errstate`) come for NumPy's arrays alone: other libraries would
  wait for their devices.
- Objects, structured dtypes and subclasses are not supported.
- Methods and operators belong to the array's own library.

### What still differs from NumPy

`make fuzz-numpy` compares `xarrayops.numpy` with NumPy: random calls of every name, with all options, shapes, dtypes
and values, on NumPy, PyTorch, JAX and Dask. Values, dtypes, shapes and errors agree with NumPy, except in
these cases:

{known}

Other unsupported calls raise an error that names the replacement.

## What differs in `xarrayops` itself

What differs everywhere, and why:

- Arrays come first and by position; options such as `axis=` come by keyword. The standard requires
  this, so a call means the same in every library.
- Functions that create arrays take `like=x`, or `backend=` and `device=`: without an array there is no library.
- Results are new arrays. There is no `out=`, because JAX and Dask have arrays that cannot change.
  `xo.at(x)[index].set(value)` returns the changed array, and x keeps its values; only with `copy=None` or `copy=False`
  may x change.
- Methods and operators belong to the array's own library and often differ: use the functions below.
- Python numbers are accepted together with arrays, not instead of them: `math.log(6.4)` for a number alone.
- Lists are accepted together with an array for options: quantiles, bins, indices, weights, coefficients, repeats. The
  data are arrays.
- Dtypes are names: `xo.float64`, or `"float64"`.
"""
NOTES = {
    **dict.fromkeys(("allclose", "array_equal"), "the result is an array"),
    **dict.fromkeys(("argsort", "sort"), "descending= and stable= for kind="),
    "bincount": "length= fixes the length of the result",
    "einsum": "the order of the products is the library's choice",
    **dict.fromkeys(("fill_diagonal", "nan_to_num"), "the result is a new array"),
    "histogram": "no names of estimators as bins",
    "interp": "float32 stays float32",
    "lexsort": "the keys are a sequence of arrays",
    "matmul": "sparse matrices, too",
    "pad": "no function as the mode",
    **dict.fromkeys(("nanpercentile", "nanquantile", "percentile", "quantile"), "q is a number, a list or an array"),
    "reshape": "the shape is one tuple",
    "squeeze": "the axes are required",
    "take": "axis is required for an array of several axes",
    "where": "three arguments; of one condition: xo.nonzero(condition)",
    "linalg.lstsq": "the sums of squares are always given",
    "linalg.matrix_rank": "rtol= is relative to the greatest singular value",
    "linalg.svd": "xo.linalg.svdvals for compute_uv=False",
}
"""Other differences than the parameters, by NumPy's name without ``numpy.``."""
OF_MEMORY = frozenset(("out", "subok", "order", "casting", "kwargs", "signature"))
"""The parameters that the page does not list for each function: results are new arrays."""
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


def line_rows(lines: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """A row for each line of code: the name, the library's line, the line here, and a remark."""
    return [
        (f"`{name}`", f"`{lines[name][0]}`", f"`{lines[name][1]}`", "".join(lines[name][2:])) for name in ordered(lines)
    ]


def reason_rows(without: Mapping[str, str]) -> list[tuple[str, ...]]:
    """A row for each reason, with its names."""
    reasons = dict.fromkeys(without.values())
    return [(code(name for name in without if without[name] == reason), reason) for reason in reasons]


def difference(name: str) -> str:
    """The differences in the arguments of NumPy's function and the function here; empty if there are none."""
    theirs, ours = attrgetter(name)(np), attrgetter(name)(xo)
    parts = [NOTES[name]] if name in NOTES else []
    if inspect.isfunction(ours) and not isinstance(theirs, np.ufunc):
        known, own = inspect.signature(theirs).parameters, inspect.signature(ours).parameters
        keyword_only = [p for p in known if p in own and own[p].kind is own[p].KEYWORD_ONLY is not known[p].kind]
        places = sum(p.kind is not p.KEYWORD_ONLY for p in own.values())
        lacking = [p for place, p in enumerate(known) if p not in {*own, *OF_MEMORY} and place >= places]
        renamed = [p for p in known if RENAMED_KEYWORDS.get(p) in own]
        lacking = [p for p in lacking if p not in renamed]
        listed = " and ".join(filter(None, (", ".join(keyword_only[:-1]), *keyword_only[-1:])))
        parts = [f"{listed} by keyword"] * bool(listed) + parts
        parts += [f"{RENAMED_KEYWORDS[p]}= for {p}=" for p in renamed]
        parts += [f"no {', '.join(lacking)}"] * bool(lacking)
        parts += ["like= or backend= names the library"] * ("backend" in own)
    return "; ".join(parts)


def ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.lower(), name))


def same(theirs: Any, ours: Any) -> set[str]:
    """The public names that both have."""
    return {name for name in dir(theirs) if not name.startswith("_")} & set(dir(ours))


def main_sections() -> list[str]:
    """The sections about the functions of the main namespace."""
    names = same(np, xo)
    differing = {name for name in names if difference(name)}
    renamed = ((f"`{name}`", f"`xo.{MAIN.renamed[name]}`", REMARKS.get(name, "")) for name in ordered(MAIN.renamed))
    return [
        f"## The same names\n\n{code(names - differing)}.\n",
        "These have the same name, and differ in their arguments:\n",
        table(("name", "what differs"), ((f"`{name}`", difference(name)) for name in ordered(differing))),
        "## Other names\n\nSome are names that NumPy 2 has removed.\n",
        table(("NumPy", "here", "what differs"), renamed),
        f"## Names of `xarrayops.numpy` alone\n\n{code(MAIN.served)}.\n",
        "## Names without a counterpart, and why\n",
        table(("NumPy", "why, and the alternative"), reason_rows(MAIN.without)),
    ]


def module_sections() -> list[str]:
    """The sections about numpy.linalg, numpy.fft and numpy.random."""
    sections = []
    for name, title, module, answers in MODULES:
        names = same(module, getattr(xo, name))
        differing = {each for each in names if difference(f"{name}.{each}")}
        remarks = ((f"`{each}`", difference(f"{name}.{each}")) for each in ordered(differing))
        sections += [
            f"## {title}\n",
            *([f"The same: {code(names - differing)}.\n"] if names - differing else []),
            "These differ in their arguments:\n",
            table(("name", "what differs"), remarks),
            f"In `xarrayops.numpy.{name}` alone: {code(answers.served)}.\n",
            table(("NumPy", "why, and the alternative"), reason_rows(answers.without)),
        ]
    return [
        *sections,
        f"## numpy.random\n\nThe same names: {code(same(np.random, xo.random))}. Their numbers are not NumPy's: "
        "[Random numbers](random.md).\n",
        table(("NumPy", "the alternative"), reason_rows(RANDOM.without)),
    ]


def method_sections() -> list[str]:
    """The sections about the methods and attributes of arrays, and about keywords."""
    names = same(np.ndarray, xo) - METHODS.served - METHODS.renamed.keys()
    renamed = ((f"`{name}`", f"`xo.{METHODS.renamed[name]}`") for name in ordered(METHODS.renamed))
    keywords = ((f"`{theirs}=`", f"`{ours}=`") for theirs, ours in RENAMED_KEYWORDS.items())
    return [
        "## Methods and attributes of arrays\n",
        f"The function of the same name, with the array first, is right for {code(names)}. These are functions of\n"
        f"`xarrayops.numpy`, with the arguments of NumPy's method: {code(METHODS.served)}.\n",
        table(("NumPy", "here"), renamed),
        table(("NumPy", "why, and the alternative"), reason_rows(METHODS.without)),
        "## Keywords\n",
        "Functions that have other keywords in NumPy, such as `out=`, `where=` and `order=`, answer them with a\n"
        "`TypeError` that names the function of `xarrayops.numpy` that has the keyword. Some have another name here:\n",
        table(("NumPy", "here"), keywords),
    ]


def _listed(libraries: tuple[str, ...]) -> str:
    titles = {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX", "jax-32": "JAX", "dask": "Dask"}
    return ", ".join(dict.fromkeys(title for name, title in titles.items() if name in libraries))


def page() -> str:
    """The text of the page."""
    note = "<!-- Written by tools/readme.py from xarrayops/_core/numpy_names; do not edit. -->\n"
    rows = [(row.what, "all" if set(row.libraries) == set(ALL) else _listed(row.libraries), row.reason) for row in ROWS]
    head = HEAD.replace("{known}", table(("what", "libraries", "why"), rows))
    return "\n".join([note, head, *main_sections(), *module_sections(), *method_sections()])
