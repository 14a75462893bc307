"""The suite must fail on a wrong backend, with a message that says what is wrong."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.dispatch import lookup as dispatch
from xarrayops.testing import ContractSuite, Row, Variant, check_row
from xarrayops.testing._suite.suite import rows

ROWS = rows(ContractSuite)


@contextmanager
def replaced(variant: Variant, verb: str, function: Callable[..., Any]) -> Iterator[None]:
    """Replace one function of the backend."""
    functions, original = variant.backend.functions, variant.backend.functions[verb]
    functions[verb] = function
    dispatch.table(verb).clear()
    try:
        yield
    finally:
        functions[verb] = original
        dispatch.table(verb).clear()


def failures(variant: Variant) -> dict[str, str]:
    """The messages of all rows that fail on a backend, by verb."""
    found: dict[str, list[str]] = {}
    for row in ROWS:
        try:
            check_row(variant, row)
        except AssertionError as error:
            found.setdefault(row.verb, []).append(str(error))
    return {verb: "\n".join(messages) for verb, messages in found.items()}


def rows_of(verb: str) -> list[Row]:
    return [row for row in ROWS if row.verb == verb]


class Tagged(np.ndarray[Any, Any]):
    """A class that is not in the ARRAY_TYPES of NumPy's backend."""


def _always_double(x1: Any, x2: Any, /) -> Any:
    return np.asarray(np.add(x1, x2), dtype="float64")


def _drops_keepdims(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    return np.add.reduce(x, axis, dtype)


def _off_by_a_little(x: Any, /) -> Any:
    return np.exp(x) * np.asarray(1 + 1e-4, dtype=x.dtype)


def _writes_its_input(x: Any, /) -> Any:
    return np.abs(x, out=x) if x.dtype.kind in "if" and x.flags.writeable else np.abs(x)


def _list_for_array(x: Any, /, *, axis: Any = None) -> Any:
    return np.flip(x, axis=axis).tolist()


def _raises(x: Any, /) -> Any:
    raise RuntimeError("no kernel")


def _one_short(x: Any, /, *, axis: int = 0) -> Any:
    return np.unstack(x, axis=axis)[:-1]


WRONG = {
    "add": (_always_double, "dtype: float64, expected float32"),
    "sum": (_drops_keepdims, r"axis=1, keepdims=True\): shape: \(2, 4\), expected \(2, 1, 4\)"),
    "exp": (_off_by_a_little, r"values: \d+ of 12 differ, first at"),
    "abs": (_writes_its_input, "input: the call has written to it"),
    "flip": (_list_for_array, "class: "),
    "negative": (_raises, "InvalidArguments: xo.negative.*: no kernel"),
    "unstack": (_one_short, "results: 1, expected 2"),
}
COMPOSED = ("calibrate", "dequantize", "nanmean", "nanstd", "nansum", "nanvar", "qmatmul", "quantize")
"""The functions that are written with others of the backend, and fail where one of those is wrong."""


@pytest.fixture(scope="module")
def numpy() -> Variant:
    return Variant("numpy", calls=12)


@pytest.fixture(scope="module")
def before(numpy: Variant) -> dict[str, str]:
    """The failures of the unchanged backend."""
    return failures(numpy)


@pytest.mark.parametrize("verb", WRONG)
def test_only_the_wrong_function_fails(numpy: Variant, before: dict[str, str], verb: str) -> None:
    function, message = WRONG[verb]
    assert verb not in before
    with replaced(numpy, verb, function):
        after = failures(numpy)
    assert verb in after
    assert after.keys() <= {*before, verb, *COMPOSED}
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(after[verb])


@pytest.mark.usefixtures("registry_memory")
def test_a_wrong_class_fails(monkeypatch: pytest.MonkeyPatch, numpy: Variant) -> None:
    monkeypatch.setattr(numpy.backend.module, "ARRAY_TYPES", (Tagged,))
    with pytest.raises(AssertionError, match=r"class: numpy.ndarray is not in the ARRAY_TYPES of numpy"):
        check_row(numpy, rows_of("add")[0])


def test_a_wrong_device_fails() -> None:
    strict = Variant(array_api_strict)
    other = array_api_strict.Device("device1")

    def elsewhere(x: Any, /) -> Any:
        return array_api_strict.sin(x).to_device(other)

    with (
        replaced(strict, "sin", elsewhere),
        pytest.raises(AssertionError, match=r"device: .*device1.*, expected .*CPU"),
    ):
        check_row(strict, rows_of("sin")[0])


def test_a_missing_name_in_a_tuple_fails(numpy: Variant) -> None:
    def anonymous(x: Any, /, *, mode: str = "reduced") -> Any:
        return tuple(np.linalg.qr(x, mode=mode))

    with replaced(numpy, "linalg.qr", anonymous), pytest.raises(AssertionError, match="fields: tuple lacks some of"):
        check_row(numpy, rows_of("linalg.qr")[0])


class Lenient(Variant):
    """A variant that claims to trace, but runs functions as usual."""

    traced = True


def test_a_stale_entry_in_untraceable_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    lenient = Lenient("numpy")
    gap = xo.plugin.Gap("it depends on values", "another function")
    monkeypatch.setattr(lenient.backend.module, "UNTRACEABLE", {"nonzero": gap}, raising=False)
    with pytest.raises(AssertionError, match="nonzero works under numpy: delete it from UNTRACEABLE"):
        ContractSuite().test_untraceable_functions_are_untraceable(lenient)


def test_an_unsupported_function_must_raise(numpy: Variant) -> None:
    def gap(x: Any, /) -> Any:
        return np.sin(x)

    gap.gap = xo.plugin.Gap("no sine", "a table of logarithms")  # type: ignore[attr-defined]
    with replaced(numpy, "sin", gap), pytest.raises(AssertionError, match="DID NOT RAISE"):
        check_row(numpy, rows_of("sin")[0])
    with replaced(numpy, "sin", xo.plugin.unsupported("no sine", instead="a table of logarithms")):
        check_row(numpy, rows_of("sin")[0])


def test_a_fault_that_is_fixed_fails() -> None:
    with pytest.raises(AssertionError, match=r"works on numpy: delete it from the faults \(wrong in an old version\)"):
        check_row(Variant("numpy", faults={"sin": "wrong in an old version"}), rows_of("sin")[0])


def test_an_unexercised_verb_fails() -> None:
    class Partial(ContractSuite):
        test_fft = None

    with pytest.raises(
        AssertionError, match=r"fft\.fft is not exercised: add .* to xarrayops/testing/_suite/standard/fft\.py"
    ):
        Partial().test_every_verb_is_exercised()


THIRD_PARTY = """
import array_api_strict
import pytest
from xarrayops.testing import ContractSuite, Variant

@pytest.fixture(scope="module")
def variant():
    return Variant(array_api_strict)

class TestMyLibrary(ContractSuite):
    pass
"""


def test_a_third_party_can_run_the_suite_with_few_lines(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(THIRD_PARTY)
    command = f"{sys.executable} -m pytest -q -p no:cacheprovider test_mine.py -k".split()
    done = subprocess.run([*command, "trunc or synchronize"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
