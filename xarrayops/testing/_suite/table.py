# Long: rows, cases and their check refer to each other.
"""The rows and cases of the tables, and the check of one row."""

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
from xarrayops.plugin.nested import fill, leaves
from xarrayops.testing._suite.compare import check_array, check_unchanged, check_values, is_namedtuple_with
from xarrayops.testing._suite.samples import Host
from xarrayops.testing._suite.variant import Test, Variant, declare


@dataclass(frozen=True)
class NativeDtype:
    """A placeholder for the library's own dtype of this name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Case:
    """The arguments of one call. Each NumPy array and `NativeDtype` is replaced by the library's array or dtype."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        listed = [_show(a) for a in self.args] + [f"{name}={_show(value)}" for name, value in self.kwargs.items()]
        return f"({', '.join(listed)})"

    @property
    def arrays(self) -> list[Host]:
        """All arrays, including those in sequences."""
        return [x for x in leaves((self.args, self.kwargs)) if isinstance(x, np.ndarray)]

    @property
    def dtypes(self) -> set[str]:
        """The dtypes that the library must have for this call."""
        requested = [str(self.kwargs["dtype"])] if self.kwargs.get("dtype") is not None else []
        return {*requested, *(a.dtype.name for a in self.arrays)}

    def filled(self, array: Callable[[Host], Any], dtype: Callable[[str], Any]) -> Case:
        """The case with every array and `NativeDtype` replaced by the results of the two functions."""

        def replace(item: Any) -> Any:
            if isinstance(item, np.ndarray):
                return array(item)
            return dtype(item.name) if isinstance(item, NativeDtype) else item

        return Case(*fill((self.args, self.kwargs), replace))


def call(*args: Any, **kwargs: Any) -> Case:
    """The case of a call with these arguments."""
    return Case(args, kwargs)


def _show(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{list(value.shape)}"
    if isinstance(value, (tuple, list)) and any(isinstance(v, np.ndarray) for v in value):
        return f"[{', '.join(map(_show, value))}]"
    return repr(value)


@dataclass(frozen=True)
class Row:
    """One row of a table: a function, its cases and the expected results.

    Attributes
    ----------
    verb : str
        The function's name as users write it: "sum", "linalg.det".
    oracle : callable
        Takes the arguments in double precision; returns the expected values: an array, or a tuple of arrays.
    calls : tuple of Case
        The cases; those that find most errors come first, because a variant with ``calls=`` makes only some of them.
    dtype : str, callable or tuple
        The dtype of the result, or of each result: a name, a rule of `RULES`, or a function of the arrays' dtypes.
    law : callable, optional
        The equations that the results satisfy, if the values are not unique (eigenvectors): takes the oracle's
        arguments, then the results; returns pairs of arrays that must be equal.
    fields : tuple of str
        The field names of a result that is a named tuple.
    ulps, normwise, values
        As for `check_array`.
    creation : bool
        Whether the function has no array argument, so that the call must name the library and the device.
    function : callable, optional
        The function to call; default: the public function of that name.
    hook : str
        The name of the function in the backend; default: the verb.
    label : str
        A label that distinguishes several rows of the same verb.
    """

    verb: str
    oracle: Callable[..., Any] | None
    calls: tuple[Case, ...]
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


def row(verb: str, oracle: Callable[..., Any] | None, *calls: Case, **options: Any) -> Row:
    """A row of the table."""
    return Row(verb, oracle, calls, **options)


def created(verb: str, oracle: Callable[..., Any], *calls: Case, **options: Any) -> Row:
    """A row for a creation function, whose result has the default floating-point dtype unless options say otherwise."""
    return row(verb, oracle, *calls, creation=True, **{"dtype": "real floating", **options})


def cases(rows: list[Row]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test once for each row, and record the verbs that it exercises."""
    parametrized = pytest.mark.parametrize("row", rows, ids=str)
    return lambda test: parametrized(declare(test, verbs=frozenset(r.verb for r in rows), rows=tuple(rows)))


def rows_test(rows: list[Row]) -> Callable[..., None]:
    """The test of a theme: each row is checked by `check_row`."""

    @cases(rows)
    def test(self: Any, variant: Variant, row: Row) -> None:
        check_row(variant, row)

    return test


def exercises(*verbs: str) -> Callable[[Test], Test]:
    """Record the verbs that a test without a table exercises, or those tests of a class for which none are recorded."""
    return lambda test: declare(test, verbs=frozenset(verbs))


def check_row(variant: Variant, row: Row) -> None:
    """Check a row as `check_calls` does; if it is one of the variant's faults, check that it fails.

    Raises
    ------
    AssertionError
        The message lists every call that failed, with the reason; or it says that a fault has been fixed.
    """
    fault = variant.faults.get(str(row))
    try:
        check_calls(variant, row)
    except AssertionError:
        if fault is None:
            raise
    else:
        assert fault is None, f"xo.{row} works on {variant}: delete it from the faults ({fault})"


def check_calls(variant: Variant, row: Row) -> None:
    """Make the calls of a row and compare the results with the oracle's; the error lists every call that failed.

    If the backend declares the function unsupported, check instead that each call raises.
    """
    gap = gap_of(variant.backend.functions[row.hook or row.verb])
    failures: list[str] = []
    first: Exception | None = None
    for case in selected_cases(variant, row):
        try:
            if gap is not None:
                check_gap(variant, row, case, gap)
            else:
                with without_warnings():
                    check_call(variant, row, case)
        except (Exception, pytest.fail.Exception) as error:
            failures.append(f"  {row.verb}{case}: {_brief(error)}")
            first = first or error if isinstance(error, Exception) else first
    if failures:
        raise AssertionError(f"xo.{row.verb} on {variant}:\n" + "\n".join(failures)) from first


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore warnings about special values, empty means and slow paths; deprecations still raise."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


def supported_cases(variant: Variant, row: Row) -> list[Case]:
    """The cases for which the variant's library supports the dtypes of arguments and results."""
    calls = [case for case in row.calls if case.dtypes <= variant.dtypes]
    return [case for case in calls if result_dtypes(variant, row, case) <= variant.dtypes]


def result_dtypes(variant: Variant, row: Row, case: Case) -> set[str]:
    """The dtypes of the results of a case, except those for which the row has no rule."""
    rules = row.dtype if isinstance(row.dtype, tuple) else (row.dtype,)
    return {dtype for rule in rules if (dtype := expected_dtype(rule, case, variant.defaults)) is not None}


def selected_cases(variant: Variant, row: Row) -> list[Case]:
    """The cases that a variant runs: ``variant.calls`` cases, and one of each dtype class that they lack.

    Half of them are the first cases; the others are evenly spaced among the rest. A variant that traces runs the
    dtype classes of these cases alone: the plain variant of its library has run the others.
    """
    calls = supported_cases(variant, row)
    if variant.calls is None or len(calls) <= variant.calls:
        return calls
    head = (variant.calls + 1) // 2
    rest, more = calls[head:], variant.calls - head
    chosen = calls[:head] + [rest[(i + 1) * len(rest) // more - 1] for i in range(more)]
    if not variant.traced:
        present = set(map(dtype_class, chosen))
        missing = [case for case in calls if dtype_class(case) not in present]
        narrowest = {dtype_class(case): case for case in sorted(missing, key=_by_use)[::-1]}
        chosen += narrowest.values()
    return chosen


def dtype_class(case: Case) -> str:
    """The class of the dtype of the first array: its kind, and whether it is an integer below 32 bits."""
    dtype = case.arrays[0].dtype if case.arrays else np.dtype(bool)
    return f"narrow {dtype.kind}" if dtype.kind in "iu" and dtype.itemsize < 4 else dtype.kind


def _by_use(case: Case) -> tuple[bool, int]:
    """A key that sorts cases with elements first, and the narrowest dtypes first among them."""
    return case.arrays[0].size == 0, case.arrays[0].dtype.itemsize


def check_gap(variant: Variant, row: Row, case: Case, gap: Gap) -> None:
    """Check that an unsupported function raises, and that the message says what to do instead."""
    native, target = native_case(variant, row, case)
    with pytest.raises(Unsupported, match=re.escape(gap.instead)):
        row.public(*native.args, **native.kwargs, **target)


def check_raises(errors: Any, match: str, *uses: Callable[[], Any]) -> None:
    """Check that each call raises one of the errors, and that the message matches."""
    for use in uses:
        with pytest.raises(errors, match=match):
            use()


def called(variant: Variant, verb: str, function: Callable[..., Any], /, *args: Any) -> Any:
    """The result of a function, called as the variant runs it; for tests without a table.

    If the verb is in ``UNTRACEABLE``, check that this call fails, and return the result of a plain call.
    """
    if verb not in variant.untraceable:
        return variant.run(function, *args)
    assert fails(variant, function, *args), stale_entry_message(variant, verb)
    return function(*args)


def fails(variant: Variant, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> bool:
    """Whether a call fails as the variant runs it."""
    try:
        variant.run(function, *args, **kwargs)
    except Exception:
        return True
    return False


def stale_entry_message(variant: Variant, verb: str) -> str:
    """The message for a verb that is in ``UNTRACEABLE``, but works."""
    return f"{verb} works under {variant}: delete it from UNTRACEABLE in {variant.backend.module.__name__}"


def cast(variant: Variant, x: Any, dtype: str) -> Any:
    """An array in a dtype that a library may lack; skips the test if this library does."""
    try:
        return xo.astype(x, dtype)
    except Unsupported:
        pytest.skip(f"{variant} does not support {dtype}")


def native_case(variant: Variant, row: Row, case: Case) -> tuple[Case, dict[str, Any]]:
    """The case with native arguments, and the keywords that name the library and device for a creation function."""
    native = case.filled(variant.array, variant.backend.native_dtype)
    return native, {} if not row.creation or "like" in native.kwargs else variant.creation


def check_call(variant: Variant, row: Row, case: Case) -> None:
    """Make one call and compare its result with the oracle's; a call of a function in ``UNTRACEABLE`` may fail."""
    try:
        native, target = native_case(variant, row, case)
        result = variant.run(row.public, *native.args, **native.kwargs, **target)
    except Exception:
        if row.verb in variant.untraceable:
            return
        raise
    pairs = zip(leaves((native.args, native.kwargs)), leaves((case.args, case.kwargs)), strict=True)
    inputs = [x for x, host in pairs if isinstance(host, np.ndarray)]
    results = result if isinstance(result, (tuple, list)) else (result,)
    values = variant.values_of([*inputs, *results])
    for x, before, host in zip(inputs, case.arrays, values, strict=False):
        check_unchanged(variant, x, before, host=host)
    wide = case.filled(widen, str)
    rules = row.dtype if isinstance(row.dtype, tuple) else (row.dtype,) * len(results)
    options: dict[str, Any] = {"ulps": row.ulps, "normwise": row.normwise, "values": row.values}
    if row.fields:
        assert is_namedtuple_with(result, row.fields), f"fields: {type(result).__name__} lacks some of {row.fields}"
    if row.law is None:
        assert row.oracle is not None, "a row needs an oracle or a law"
        wanted = row.oracle(*wide.args, **{k: v for k, v in wide.kwargs.items() if k != "like"})
        wanted = wanted if isinstance(result, (tuple, list)) else (wanted,)
    else:
        wanted = [host for host in values[len(inputs) :] if host is not None]
        for got, want in row.law(*wide.args, *map(widen, wanted), **wide.kwargs):
            check_values(_rounded(got, wanted), np.asarray(want), ulps=row.ulps, normwise=True)
    assert len(results) == len(wanted) == len(rules), f"results: {len(results)}, expected {len(wanted)}"
    for got, want, rule, host in zip(results, wanted, rules, values[len(inputs) :], strict=True):
        check_array(variant, got, want, dtype=expected_dtype(rule, case, variant.defaults), host=host, **options)


def widen(a: Host) -> Host:
    """Floating-point values in double precision; other values unchanged."""
    return a.astype({"f": "float64", "c": "complex128"}.get(a.dtype.kind, a.dtype))


def expected_dtype(rule: Any, case: Case, defaults: dict[str, str]) -> str | None:
    """The dtype name that a rule gives for a case; ``dtype=`` overrides the rule. None: any dtype."""
    requested = case.kwargs.get("dtype")
    if requested is not None:
        return str(requested)
    if callable(rule):
        return str(rule(*(a.dtype for a in case.arrays)))
    if rule in RULES:
        return RULES[rule]([a.dtype for a in case.arrays], defaults)
    return defaults.get(rule, rule)


def _accumulator(dtypes: list[Any], defaults: dict[str, str]) -> str:
    dtype, default = dtypes[0], np.dtype(defaults["integral"])
    if dtype.kind not in "iu" or dtype.itemsize >= default.itemsize:
        return str(dtype.name)
    return default.name if dtype.kind == "i" else f"u{default.name}"


RULES: dict[str, Callable[[list[Any], dict[str, str]], str]] = {
    "promoted": lambda dtypes, defaults: np.result_type(*dtypes).name,
    "first": lambda dtypes, defaults: str(dtypes[0].name),
    "floating": lambda dtypes, defaults: (
        np.result_type(*dtypes).name if np.result_type(*dtypes).kind in "fc" else defaults["real floating"]
    ),
    "real": lambda dtypes, defaults: np.empty(0, np.result_type(*dtypes)).real.dtype.name,
    "complex": lambda dtypes, defaults: np.result_type(*dtypes, "complex64").name,
    "accumulator": _accumulator,
}
"""The rules that compute a result's dtype from the arrays' dtypes. A row may also name a dtype, or a default dtype."""


def _rounded(got: Any, results: list[Host]) -> Host:
    """A value that an equation computed, rounded to the precision of the results from which it was computed."""
    got = np.asarray(got)
    single = any(r.dtype.name in ("float32", "complex64") for r in results)
    return got.astype({"f": "float32", "c": "complex64"}.get(got.dtype.kind, got.dtype)) if single else got


def _brief(error: BaseException) -> str:
    text = str(error).strip().splitlines() or [""]
    kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
    return f"{kind}{text[0][:300]}"
