"""The contract suite: the tests that every backend must pass, ours and yours.

It needs pytest, NumPy and your library. A test module runs the whole suite with one fixture::

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
"""

# ruff: noqa: E402 - pytest rewrites assertions only in modules registered before their import

from __future__ import annotations

import pkgutil

import pytest

pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)))

from xarrayops.testing._compare import check_array as check_array
from xarrayops.testing._suite import ContractSuite as ContractSuite, exercised as exercised
from xarrayops.testing._table import Case as Case, Row as Row, call as call, check_row as check_row
from xarrayops.testing._variant import Variant as Variant, reversed_ as reversed_, strided as strided
