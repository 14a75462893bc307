"""The complete contract suite, and the check that it exercises every verb."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xarrayops._surface import EXTRA, FAMILIES, OWN, SURFACE
from xarrayops.plugin import gap_of
from xarrayops.testing._suite.extra import (
    comparison,
    elementwise as special,
    linalg as norms,
    nans,
    order,
    padding,
    quantiles,
    sets,
    shaping,
    signal,
    statistics,
    windows,
)
from xarrayops.testing._suite.extra.counting import CountingSuite
from xarrayops.testing._suite.operations.attention import AttentionSuite
from xarrayops.testing._suite.operations.compilation import CompilationSuite
from xarrayops.testing._suite.operations.convolution import ConvolutionSuite
from xarrayops.testing._suite.operations.exchange import ExchangeSuite
from xarrayops.testing._suite.operations.export import ExportSuite
from xarrayops.testing._suite.operations.indexing import IndexingSuite
from xarrayops.testing._suite.operations.inspection import InspectionSuite
from xarrayops.testing._suite.operations.layout import LayoutSuite
from xarrayops.testing._suite.operations.mixed import MixedSuite
from xarrayops.testing._suite.operations.operations import OperationSuite
from xarrayops.testing._suite.operations.precision import PrecisionSuite
from xarrayops.testing._suite.operations.quantization import QuantizationSuite
from xarrayops.testing._suite.operations.random import RandomSuite
from xarrayops.testing._suite.operations.sharding import ShardingSuite
from xarrayops.testing._suite.operations.transfers import TransferSuite
from xarrayops.testing._suite.operations.transformations import TransformationSuite
from xarrayops.testing._suite.sparse.refusals import SparseRefusalSuite
from xarrayops.testing._suite.sparse.suite import SparseSuite
from xarrayops.testing._suite.standard import elementwise, fft, manipulation, reductions, sets as distinct
from xarrayops.testing._suite.standard.creation import CreationSuite
from xarrayops.testing._suite.standard.dtypes import DtypeSuite
from xarrayops.testing._suite.standard.linalg import LinalgSuite
from xarrayops.testing._suite.table import (
    Case,
    Row,
    fails,
    native_case,
    rows_test,
    stale_entry_message,
    supported_cases,
    without_warnings,
)
from xarrayops.testing._suite.variant import Variant, depends_on, select_variants

if TYPE_CHECKING:
    import pytest


def exercised(suite: type) -> frozenset[str]:
    """The verbs that the tests of a suite exercise."""
    return frozenset().union(*(getattr(getattr(suite, name), "verbs", ()) for name in dir(suite)))


def rows(suite: type) -> list[Row]:
    """The rows of all tables of a suite."""
    return [row for name in dir(suite) for row in getattr(getattr(suite, name), "rows", ())]


class ContractSuite(
    CountingSuite,
    IndexingSuite,
    LinalgSuite,
    QuantizationSuite,
    ShardingSuite,
    PrecisionSuite,
    AttentionSuite,
    CreationSuite,
    DtypeSuite,
    MixedSuite,
    ExchangeSuite,
    LayoutSuite,
    SparseSuite,
    SparseRefusalSuite,
    InspectionSuite,
    TransferSuite,
    RandomSuite,
    OperationSuite,
    TransformationSuite,
    CompilationSuite,
    ExportSuite,
    ConvolutionSuite,
):
    """The tests of all themes. A subclass defines the fixture ``variant`` (see `xarrayops.testing`)."""

    # Class, dtype, device, shape and values match the oracle, which is NumPy where it has the function.
    test_elementwise = rows_test(elementwise.ROWS)
    test_fft = rows_test(fft.ROWS)
    test_manipulation = rows_test(manipulation.ROWS)
    test_reduction = rows_test(reductions.ROWS)
    test_comparison = rows_test(comparison.ROWS)
    test_special = rows_test(special.ROWS)
    test_norms = rows_test(norms.ROWS)
    test_nans = rows_test(nans.ROWS)
    test_order = rows_test(order.ROWS)
    test_padding = rows_test(padding.ROWS)
    test_quantiles = rows_test(quantiles.ROWS)
    test_sets = rows_test([*distinct.ROWS, *sets.ROWS])
    test_shaping = rows_test(shaping.ROWS)
    test_signal = rows_test(signal.ROWS)
    test_statistics = rows_test(statistics.ROWS)
    test_windows = depends_on("run")(rows_test(windows.ROWS))

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Select the variants that run a test, by what it declares with `depends_on`."""
        select_variants(metafunc)

    def test_every_verb_is_exercised(self) -> None:
        """Every public function is exercised, and every exercised name exists."""
        public, done = {*SURFACE, *EXTRA, *OWN}, exercised(type(self))
        assert not public - done, "\n".join(map(_missing_test, sorted(public - done)))
        assert not done - public, f"exercised, but not public: {sorted(done - public)}"

    @depends_on("run")
    def test_untraceable_functions_are_untraceable(self, variant: Variant) -> None:
        """Each row of a name in ``UNTRACEABLE`` has a case that fails under the variant and works in a plain call.

        An entry that works is out of date. Tests without a table check this with `called`.
        """
        for verb, gap in variant.untraceable.items():
            found = [r for r in rows(type(self)) if verb in (r.verb, r.hook) and supported_cases(variant, r)]
            assert gap.why, f"{verb}: UNTRACEABLE gives no reason"
            assert gap.instead, f"{verb}: UNTRACEABLE does not say what to do instead"
            assert found or verb in exercised(type(self)), f"{verb}: it is in UNTRACEABLE, but no test exercises it"
            for row in found:
                assert any(_fails_only_under_variant(variant, row, case) for case in supported_cases(variant, row)), (
                    f"xo.{row}: {stale_entry_message(variant, verb)}"
                )

    @depends_on()
    def test_unsupported_functions_say_what_to_do_instead(self, variant: Variant) -> None:
        """Each function that is bound to ``unsupported(...)`` has a reason, and says what to do instead."""
        for verb, function in variant.backend.functions.items():
            gap = gap_of(function)
            assert gap is None or (gap.why and gap.instead), verb


def _missing_test(verb: str) -> str:
    """The message for a verb without a test: the line to add, and the file."""
    if verb in FAMILIES:
        file = f"xarrayops/testing/_suite/{FAMILIES[verb].replace('.', '/')}.py"
        return f'{verb} is not exercised: add row("{verb}", oracle, call(...)) to {file}'
    return f'{verb} is not exercised: add a test with @exercises("{verb}") to the file of its family'


def _fails_only_under_variant(variant: Variant, row: Row, case: Case) -> bool:
    """Whether a call fails as the variant runs it, but works as a plain call."""
    native, target = native_case(variant, row, case)
    with without_warnings():
        try:
            row.public(*native.args, **native.kwargs, **target)
        except Exception:
            return False
        native, target = native_case(variant, row, case)
        return fails(variant, row.public, *native.args, **native.kwargs, **target)
