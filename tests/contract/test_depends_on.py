"""The tests of the suite use what they declare with `depends_on`; no variant repeats a test without need."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from xarrayops.testing import ContractSuite, Variant, strided
from xarrayops.testing._suite.variant import ASPECTS, depends_on, distinct

if TYPE_CHECKING:
    from pathlib import Path

TESTS = {name: test for name, test in inspect.getmembers(ContractSuite) if name.startswith("test_")}
EITHER = frozenset(name for name in TESTS if hasattr(TESTS[name], "rows"))
"""The tests of tables: each row may use both aspects, and creation functions have no array in memory."""
FIRST_PARAMETERS = 2
"""How many values of each parameter are tried; the tests of a table use the same aspects for each row."""


class Recording(Variant):
    """A variant that records which of the aspects a test uses."""

    def __init__(self, library: str) -> None:
        super().__init__(library)
        self.used: set[str] = set()

    @property
    def traced(self) -> bool:  # type: ignore[override]
        self.used.add("run")
        return False

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        self.used.add("run")
        return super().run(function, *args, **kwargs)

    def array(self, a: Any) -> Any:
        self.used.add("memory")
        return super().array(a)


def parameters(test: Callable[..., None]) -> Iterator[dict[str, Any]]:
    """The first parameters of a test, as pytest would pass them."""
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    for chosen in product(*(list(mark.args[1])[:FIRST_PARAMETERS] for mark in marks)):
        given: dict[str, Any] = {}
        for mark, value in zip(marks, chosen, strict=True):
            names = mark.args[0] if isinstance(mark.args[0], tuple) else (mark.args[0],)
            given |= dict(zip(names, value if len(names) > 1 else (value,), strict=True))
        yield given


def used(test: Callable[..., None], folder: Path) -> set[str]:
    """The aspects that a test uses on NumPy."""
    variant = Recording("numpy")
    fixtures = {"variant": variant, "tmp_path": folder, **dict.fromkeys(("containers", "sparse"), variant.sparse)}
    needed = inspect.signature(test).parameters
    for given in parameters(test):
        try:
            test(ContractSuite(), **{name: fixtures[name] for name in fixtures if name in needed}, **given)
        except pytest.skip.Exception:
            continue
    return variant.used


def test_declarations_are_what_the_tests_use(tmp_path: Path) -> None:
    """A test uses what it declares and nothing else; tests of tables declare what most of their rows use."""
    wrong = []
    for name, test in TESTS.items():
        if "variant" not in inspect.signature(test).parameters:
            continue
        found, declared = used(test, tmp_path), set(getattr(test, "aspects", ASPECTS))
        if found - declared or (declared - found and name not in EITHER):
            wrong.append(f"{name} declares {sorted(declared)} and uses {sorted(found)}")
    assert not wrong, "\n".join(wrong)


class Doubled(Variant):
    """Functions run twice."""

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        function(*args, **kwargs)
        return function(*args, **kwargs)


def of_nothing() -> None: ...


def test_only_variants_that_differ_run_a_test() -> None:
    plain, views, doubled, foreign = Variant("numpy"), Variant("numpy", lay=strided), Doubled("numpy"), Variant("dask")
    variants = [plain, views, doubled, foreign]
    for aspects, want in {
        (): [plain, foreign],
        ("memory",): [plain, views, foreign],
        ("run",): [plain, doubled, foreign],
        ASPECTS: variants,
    }.items():
        assert distinct(variants, depends_on(*aspects)(lambda: None)) == want
    assert distinct(variants, of_nothing) == variants, "a test without a declaration depends on everything"
    assert distinct([doubled], depends_on()(lambda: None)) == [doubled], "a variant without a plain variant"


def test_only_libraries_with_containers_run_their_tests() -> None:
    variants = [Variant("numpy"), Variant("dask")]
    assert distinct(variants, depends_on(containers=True)(lambda: None)) == variants[:1]
    assert distinct(variants, depends_on(containers=False)(lambda: None)) == variants[1:]


class TestParamsOfAnotherKind:
    """A fixture that makes its variant from a name runs every test once for each name."""

    pytest_generate_tests = ContractSuite.pytest_generate_tests

    @pytest.fixture(params=["first", "second"])
    def variant(self, request: pytest.FixtureRequest) -> Variant:
        return Variant("numpy", label=request.param)

    labels: ClassVar[list[str]] = []

    @depends_on()
    def test_labels(self, variant: Variant) -> None:
        self.labels.append(variant.label)
        assert self.labels == ["first", "second"][: len(self.labels)]
