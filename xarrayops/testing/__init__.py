"""The contract suite, the tests that every backend must pass, ours and yours; and `verify`, for ports.

The suite needs pytest, NumPy and your library. A test module runs the whole suite with one fixture::

    import pytest
    from xarrayops.testing import ContractSuite, Variant

    @pytest.fixture(scope="module")
    def variant():
        return Variant("mylibrary")

    class TestMyLibrary(ContractSuite):
        pass

For a library that has no backend, pass its namespace module: ``Variant(array_api_strict)``. ``device=`` selects a
device. If the fixture has several variants as ``params``, the suite runs once for each. A variant can test strided
views (``lay=strided``). A subclass that overrides `Variant.run` can run each function under the library's compiler, or
with computation forbidden.

Each theme has one table of cases, with one row per function: the inputs, an oracle (NumPy in double precision) and the
dtype that the standard requires. The suite compares class, dtype, device, shape and values. A backend declares what it
does not support: a function bound to ``unsupported(...)`` must raise an error that says what to do instead, and a
function named in ``UNTRACEABLE`` must fail under a traced variant. The suite fails if such an entry is out of date.

`assert_equal`, `assert_close` and `assert_less` compare arrays of any library, and `xarrayops.testing.pytest_plugin`
runs a package's own tests on all installed libraries.

`verify` compares a function of your own with a reference on every installed library, and `check_operation` the kernels
of an operation with its reference. They need no pytest.
"""

from __future__ import annotations

import pkgutil
import sys
from typing import TYPE_CHECKING

if "pytest" in sys.modules:  # it rewrites assertions only in modules registered before their import
    sys.modules["pytest"].register_assert_rewrite(
        *(f"{__name__}.{each.name}" for each in pkgutil.iter_modules(__path__))
    )

from xarrayops.plugin.lazy import lazy_attributes
from xarrayops.testing._library.comparisons import (
    assert_close as assert_close,
    assert_equal as assert_equal,
    assert_less as assert_less,
)
from xarrayops.testing._operations._check import (
    OperationFault as OperationFault,
    OperationReport as OperationReport,
    check_operation as check_operation,
)
from xarrayops.testing._verify._report import Divergence as Divergence, Outcome as Outcome, Report as Report
from xarrayops.testing._verify._verify import verify as verify

__all__ = [
    *(
        "Case",
        "ContractSuite",
        "Divergence",
        "OperationFault",
        "OperationReport",
        "Outcome",
        "Report",
        "Row",
        "Variant",
    ),
    *(
        "assert_close",
        "assert_equal",
        "assert_less",
        "call",
        "check_array",
        "check_operation",
        "check_row",
        "exercised",
    ),
    *("reversed_", "strided", "verify"),
]

if TYPE_CHECKING:
    from xarrayops.testing._suite.compare import check_array as check_array
    from xarrayops.testing._suite.suite import ContractSuite as ContractSuite, exercised as exercised
    from xarrayops.testing._suite.table import Case as Case, Row as Row, call as call, check_row as check_row
    from xarrayops.testing._suite.variant import Variant as Variant, reversed_ as reversed_, strided as strided
else:
    _SUITE = {
        "compare": ("check_array",),
        "suite": ("ContractSuite", "exercised"),
        "table": ("Case", "Row", "call", "check_row"),
        "variant": ("Variant", "reversed_", "strided"),
    }
    """The names of the contract suite by module; they import pytest when they are first used."""

    _HOMES = {name: (module, name) for module, names in _SUITE.items() for name in names}
    __getattr__ = lazy_attributes(globals(), f"{__name__}._suite", _HOMES)

    def __dir__() -> list[str]:
        return sorted(__all__)
