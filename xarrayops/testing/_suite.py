"""The whole suite, and the account of what it exercises."""

from __future__ import annotations

from xarrayops._protocol.surface import OWN, SURFACE
from xarrayops.plugin import gap_of
from xarrayops.testing._around import AroundSuite
from xarrayops.testing._attention import AttentionSuite
from xarrayops.testing._creation import CreationSuite
from xarrayops.testing._dtypes import DtypeSuite
from xarrayops.testing._elementwise import ElementwiseSuite
from xarrayops.testing._exchange import ExchangeSuite
from xarrayops.testing._fft import FftSuite
from xarrayops.testing._indexing import AtSuite, IndexingSuite
from xarrayops.testing._layout import LayoutSuite
from xarrayops.testing._linalg import LinalgSuite
from xarrayops.testing._manipulation import ManipulationSuite
from xarrayops.testing._mixed import MixedSuite
from xarrayops.testing._reductions import ReductionSuite
from xarrayops.testing._row_files import ROW_FILES
from xarrayops.testing._scalars import ScalarSuite
from xarrayops.testing._sparse import SparseSuite
from xarrayops.testing._sparse_refusals import SparseRefusalSuite
from xarrayops.testing._table import Call, Row, able, fails, prepare, quiet, still_works
from xarrayops.testing._variant import Variant


def exercised(suite: type) -> frozenset[str]:
    """The verbs that the tests of a suite exercise."""
    return frozenset().union(*(getattr(getattr(suite, name), "verbs", ()) for name in dir(suite)))


def rows(suite: type) -> list[Row]:
    """The rows of all tables of a suite."""
    return [row for name in dir(suite) for row in getattr(getattr(suite, name), "rows", ())]


class ContractSuite(
    ElementwiseSuite,
    ReductionSuite,
    ManipulationSuite,
    IndexingSuite,
    AtSuite,
    LinalgSuite,
    AttentionSuite,
    FftSuite,
    CreationSuite,
    DtypeSuite,
    ScalarSuite,
    MixedSuite,
    ExchangeSuite,
    LayoutSuite,
    SparseSuite,
    SparseRefusalSuite,
    AroundSuite,
):
    """Every theme. A subclass defines the fixture ``variant`` (see `xarrayops.testing`)."""

    def test_every_verb_is_exercised(self) -> None:
        """No function of the surface is left out, and no test names one that does not exist."""
        asked, done = {*SURFACE, *OWN}, exercised(type(self))
        assert not asked - done, "\n".join(map(_what_to_write, sorted(asked - done)))
        assert not done - asked, f"exercised, but unknown: {sorted(done - asked)}"

    def test_untraceable_functions_are_untraceable(self, variant: Variant) -> None:
        """Each row of a name in ``UNTRACEABLE`` has a plain call that works eagerly and not here.

        What has come to work is no gap any more. Tests outside the tables see to it by themselves (`called`).
        """
        for verb, gap in variant.untraceable.items():
            found = [r for r in rows(type(self)) if verb in (r.verb, r.hook) and able(variant, r)]
            assert gap.why, f"{verb}: UNTRACEABLE gives no reason"
            assert gap.instead, f"{verb}: UNTRACEABLE gives no way out"
            assert found or verb in exercised(type(self)), f"{verb}: UNTRACEABLE names what no test exercises"
            for row in found:
                assert any(_fails_only_here(variant, row, case) for case in able(variant, row)), (
                    f"xo.{row}: {still_works(variant, verb)}"
                )

    def test_gaps_name_a_way_out(self, variant: Variant) -> None:
        """A function that is bound to ``unsupported(...)`` says why, and what to do instead."""
        for verb, function in variant.backend.functions.items():
            gap = gap_of(function)
            assert gap is None or (gap.why and gap.instead), verb


def _what_to_write(verb: str) -> str:
    """What the suite lacks for a verb, and where it belongs."""
    if verb in ROW_FILES:
        return f'{verb} is not exercised: add row("{verb}", oracle, call(...)) to xarrayops/testing/{ROW_FILES[verb]}'
    return f'{verb} is not exercised: add a test that is marked @exercises("{verb}") to the file of its family'


def _fails_only_here(variant: Variant, row: Row, case: Call) -> bool:
    """Whether a call fails as the variant runs it, where the plain call does not."""
    native, where = prepare(variant, row, case)
    with quiet():
        try:
            row.public(*native.args, **native.kwargs, **where)
        except Exception:
            return False
        native, where = prepare(variant, row, case)
        return fails(variant, row.public, *native.args, **native.kwargs, **where)
