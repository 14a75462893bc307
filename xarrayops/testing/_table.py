"""The table of cases and how one row is checked."""

from __future__ import annotations

import operator
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import Unsupported
from xarrayops.plugin import Gap, gap_of
from xarrayops.testing._compare import check_array, check_unchanged, check_values, is_namedtuple_with
from xarrayops.testing._variant import Variant

HostArray = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Native:
    """Stands for a library's own dtype of that name."""

    name: str


@dataclass(frozen=True)
class Call:
    """The arguments of one call; a NumPy array stands for an array of the library, a `Native` for its dtype."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        listed = [_show(a) for a in self.args] + [f"{name}={_show(value)}" for name, value in self.kwargs.items()]
        return f"({', '.join(listed)})"

    @property
    def arrays(self) -> list[HostArray]:
        """All arrays, members of sequences included."""
        return list(_arrays((self.args, self.kwargs)))

    @property
    def dtypes(self) -> set[str]:
        """The dtypes that the library must have for this call."""
        asked = self.kwargs.get("dtype")
        named = {asked.name if isinstance(asked, Native) else asked} - {None}
        return {str(name) for name in named} | {a.dtype.name for a in self.arrays}

    def filled(self, array: Callable[[HostArray], Any], dtype: Callable[[str], Any]) -> Call:
        """The call with every array and native dtype replaced."""

        def fill(item: Any) -> Any:
            if isinstance(item, np.ndarray):
                return array(item)
            if isinstance(item, Native):
                return dtype(item.name)
            return type(item)(map(fill, item)) if isinstance(item, (tuple, list)) else item

        return Call(fill(self.args), {name: fill(value) for name, value in self.kwargs.items()})


def call(*args: Any, **kwargs: Any) -> Call:
    """A call with these arguments."""
    return Call(args, kwargs)


@dataclass(frozen=True)
class Row:
    """One function of the table.

    Attributes
    ----------
    verb : str
        As users write it: "sum", "linalg.det".
    oracle : callable
        Given the arguments in double precision, the values that are expected: an array, or a tuple of them.
    calls : tuple of Call
        The calls, the most telling first: a variant with ``calls=`` makes no more than so many.
    dtype : str, callable or tuple
        The dtype of the result, or of each result: a name, a rule of `RULES`, or a function of the arrays' dtypes.
    law : callable, optional
        Where an oracle cannot tell the values (eigenvectors): given the oracle's arguments and then the results,
        pairs of what must be equal.
    fields : tuple of str
        The names under which a tuple's members must be found, too.
    ulps, normwise, values
        As for `check_array`.
    creation : bool
        Whether the function makes arrays from nothing, and must be told where.
    function : callable, optional
        What is called, if it is not the public function of that name.
    hook : str
        The name under which the backend holds it, if not the verb.
    label : str
        What tells the row from others of the same verb.
    """

    verb: str
    oracle: Callable[..., Any] | None
    calls: tuple[Call, ...]
    dtype: Any = "promoted"
    law: Callable[..., Any] | None = None
    fields: tuple[str, ...] = ()
    ulps: float = 16
    normwise: bool = False
    values: bool = True
    creation: bool = False
    function: Callable[..., Any] | None = None
    hook: str = ""
    label: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.label}" if self.label else self.verb

    @property
    def public(self) -> Callable[..., Any]:
        """The function under test."""
        found: Callable[..., Any] = self.function or operator.attrgetter(self.verb)(xo)
        return found


def row(verb: str, oracle: Callable[..., Any] | None, *calls: Call, **options: Any) -> Row:
    """A row of the table."""
    return Row(verb, oracle, calls, **options)


def cases(rows: list[Row]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test once per row, and note the verbs that it exercises."""

    def mark(test: Callable[..., None]) -> Callable[..., None]:
        vars(test)["verbs"] = frozenset(r.verb for r in rows)
        vars(test)["rows"] = tuple(rows)
        return pytest.mark.parametrize("row", rows, ids=str)(test)

    return mark


def exercises(*verbs: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Note the verbs that a test outside the tables exercises."""

    def mark(test: Callable[..., None]) -> Callable[..., None]:
        vars(test)["verbs"] = frozenset(verbs)
        return test

    return mark


def check_row(variant: Variant, row: Row) -> None:
    """Make the calls of a row and compare; or, where the backend declares a gap, see that it is a good one.

    Raises
    ------
    AssertionError
        It lists every call that went wrong, each with what is wrong about it.
    """
    fault = variant.faults.get(str(row))
    if fault is None:
        check_calls(variant, row)
        return
    try:
        check_calls(variant, row)
    except AssertionError:
        return
    raise AssertionError(f"xo.{row} works on {variant}: delete the fault {fault!r}")


def check_calls(variant: Variant, row: Row) -> None:
    """Make the calls of a row and compare; the error lists every call that went wrong."""
    gap = gap_of(variant.backend.functions[row.hook or row.verb])
    failures: list[str] = []
    first: Exception | None = None
    for case in chosen(variant, row):
        try:
            if gap is not None:
                check_gap(variant, row, case, gap)
            else:
                with quiet():
                    check_call(variant, row, case)
        except Untraceable:
            continue
        except (Exception, pytest.fail.Exception) as error:
            failures.append(f"  {row.verb}{case}: {_brief(error)}")
            first = first or error if isinstance(error, Exception) else first
    if failures:
        raise AssertionError(f"xo.{row.verb} on {variant}:\n" + "\n".join(failures)) from first


@contextmanager
def quiet() -> Iterator[None]:
    """Without what libraries say about special values, empty means and slow paths; deprecations still raise."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


def able(variant: Variant, row: Row) -> list[Call]:
    """The calls whose dtypes, and those of whose results, a variant's library has."""
    calls = [case for case in row.calls if case.dtypes <= variant.dtypes]
    return [case for case in calls if result_dtypes(variant, row, case) <= variant.dtypes]


def result_dtypes(variant: Variant, row: Row, case: Call) -> set[str]:
    """The dtypes of the results of a call, where the row's rule tells them."""
    rules = row.dtype if isinstance(row.dtype, tuple) else (row.dtype,)
    return {dtype for rule in rules if (dtype := expected_dtype(rule, case, variant.defaults)) is not None}


def chosen(variant: Variant, row: Row) -> list[Call]:
    """The calls that a variant makes: no more than it has time for.

    Of too many, half are the first, and the others are spread over the rest.
    """
    calls = able(variant, row)
    if variant.calls is None or len(calls) <= variant.calls:
        return calls
    head = (variant.calls + 1) // 2
    rest, more = calls[head:], variant.calls - head
    return calls[:head] + [rest[(i + 1) * len(rest) // more - 1] for i in range(more)]


def check_gap(variant: Variant, row: Row, case: Call, gap: Gap) -> None:
    """A function that the backend declares unsupported must raise, and name the way out."""
    native, where = prepare(variant, row, case)
    with pytest.raises(Unsupported, match=re.escape(gap.instead)):
        row.public(*native.args, **native.kwargs, **where)


class Untraceable(Exception):
    """The call failed, and the backend's data said that it would."""


def called(variant: Variant, verb: str, function: Callable[..., Any], /, *args: Any) -> Any:
    """Call a function outside the tables as the variant runs it; one that the data calls untraceable must fail there.

    Its result is then that of a plain call.
    """
    if verb not in variant.untraceable:
        return variant.run(function, *args)
    assert fails(variant, function, *args), still_works(variant, verb)
    return function(*args)


def fails(variant: Variant, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> bool:
    """Whether a call fails as the variant runs it."""
    try:
        variant.run(function, *args, **kwargs)
    except Exception:
        return True
    return False


def still_works(variant: Variant, verb: str) -> str:
    """What is said of a verb that is called untraceable, and is not."""
    return f"{verb} works under {variant}: delete it from UNTRACEABLE in {variant.backend.module.__name__}"


def prepare(variant: Variant, row: Row, case: Call) -> tuple[Call, dict[str, Any]]:
    """The native arguments of a call, and what tells a creation function where to create."""
    native = case.filled(variant.array, variant.backend.native_dtype)
    return native, {} if not row.creation or "like" in native.kwargs else variant.creation


def check_call(variant: Variant, row: Row, case: Call) -> None:
    """Make one call and compare its result with the oracle's."""
    try:
        native, where = prepare(variant, row, case)
        result = variant.run(row.public, *native.args, **native.kwargs, **where)
    except Exception as error:
        if row.verb in variant.untraceable:
            raise Untraceable from error
        raise
    for x, before in zip(_matching(native, case), case.arrays, strict=True):
        check_unchanged(variant, x, before)
    wide = case.filled(widen, str)
    results = result if isinstance(result, (tuple, list)) else (result,)
    rules = row.dtype if isinstance(row.dtype, tuple) else (row.dtype,) * len(results)
    options: dict[str, Any] = {"ulps": row.ulps, "normwise": row.normwise, "values": row.values}
    if row.fields:
        assert is_namedtuple_with(result, row.fields), f"fields: {type(result).__name__} lacks some of {row.fields}"
    if row.law is None:
        assert row.oracle is not None, "a row needs an oracle or a law"
        wanted = row.oracle(*wide.args, **{k: v for k, v in wide.kwargs.items() if k != "like"})
        wanted = wanted if isinstance(result, (tuple, list)) else (wanted,)
    else:
        wanted = [variant.values(x) for x in results]
        host = [widen(value) for value in wanted]
        for got, want in row.law(*wide.args, *host, **wide.kwargs):
            check_values(_rounded(got, wanted), np.asarray(want), ulps=row.ulps, normwise=True)
    assert len(results) == len(wanted) == len(rules), f"results: {len(results)}, expected {len(wanted)}"
    for got, want, rule in zip(results, wanted, rules, strict=True):
        check_array(variant, got, want, dtype=expected_dtype(rule, case, variant.defaults), **options)


def widen(a: HostArray) -> HostArray:
    """Floating point in double precision; other values as they are."""
    return a.astype({"f": "float64", "c": "complex128"}.get(a.dtype.kind, a.dtype))


def expected_dtype(rule: Any, case: Call, defaults: dict[str, str]) -> str | None:
    """The name of the dtype that a rule gives for a call; an explicit ``dtype=`` decides by itself."""
    asked = case.kwargs.get("dtype")
    if asked is not None:
        return asked.name if isinstance(asked, Native) else str(asked)
    if callable(rule):
        return str(rule(*(a.dtype for a in case.arrays)))
    if rule in RULES:
        return RULES[rule]([a.dtype for a in case.arrays], defaults)
    return defaults.get(rule, rule)


def _promoted(dtypes: list[Any], defaults: dict[str, str]) -> str:
    return np.result_type(*dtypes).name


def _first(dtypes: list[Any], defaults: dict[str, str]) -> str:
    return str(dtypes[0].name)


def _real(dtypes: list[Any], defaults: dict[str, str]) -> str:
    promoted = np.result_type(*dtypes)
    return np.empty(0, dtype=promoted).real.dtype.name


def _complex(dtypes: list[Any], defaults: dict[str, str]) -> str:
    return np.result_type(*dtypes, "complex64").name


def _accumulator(dtypes: list[Any], defaults: dict[str, str]) -> str:
    dtype, default = dtypes[0], np.dtype(defaults["integral"])
    if dtype.kind not in "iu" or dtype.itemsize >= default.itemsize:
        return str(dtype.name)
    return default.name if dtype.kind == "i" else f"u{default.name}"


RULES: dict[str, Callable[[list[Any], dict[str, str]], str]] = {
    "promoted": _promoted,
    "first": _first,
    "real": _real,
    "complex": _complex,
    "accumulator": _accumulator,
}
"""How a result's dtype follows from those of the arrays; beside these, the kinds of default dtypes and plain names."""


def _arrays(item: Any) -> Iterator[HostArray]:
    if isinstance(item, np.ndarray):
        yield item
    elif isinstance(item, dict):
        yield from _arrays(tuple(item.values()))
    elif isinstance(item, (tuple, list)):
        for member in item:
            yield from _arrays(member)


def _matching(native: Call, case: Call) -> Iterator[Any]:
    """The native arrays in the places where the case has NumPy's."""

    def pairs(item: Any, like: Any) -> Iterator[Any]:
        if isinstance(like, np.ndarray):
            yield item
        elif isinstance(like, (tuple, list)):
            for one, other in zip(item, like, strict=True):
                yield from pairs(one, other)

    yield from pairs(native.args, case.args)
    yield from pairs(tuple(native.kwargs.values()), tuple(case.kwargs.values()))


def _rounded(got: Any, results: list[HostArray]) -> HostArray:
    """A value that a law computed, in the precision of the results that it came from: so well can the law hold."""
    got = np.asarray(got)
    single = any(r.dtype.name in ("float32", "complex64") for r in results)
    return got.astype({"f": "float32", "c": "complex64"}.get(got.dtype.kind, got.dtype)) if single else got


def _brief(error: BaseException) -> str:
    text = str(error).strip().splitlines() or [""]
    kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
    return f"{kind}{text[0][:300]}"


def _show(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{list(value.shape)}"
    if isinstance(value, (tuple, list)) and any(isinstance(v, np.ndarray) for v in value):
        return f"[{', '.join(map(_show, value))}]"
    return repr(value)
