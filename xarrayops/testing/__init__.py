"""The contract suite: what every backend must do, for ours and for yours.

It needs pytest and NumPy beside your library. A test module runs the whole of it with a fixture::

    import pytest
    from xarrayops.testing import ContractSuite, Variant

    @pytest.fixture(scope="module")
    def variant():
        return Variant("mylibrary")

    class TestMyLibrary(ContractSuite):
        pass

A library without a backend of its own is named by its namespace module: ``Variant(array_api_strict)``, and ``device=``
chooses a device. With several variants as ``params`` of the fixture the suite runs several times: on views with
strides (``lay=strided``) or, by a subclass that overrides `Variant.run`, under the library's compiler or with computing
forbidden.

One table per theme holds the cases, a row per function: inputs, an oracle (NumPy in double precision) and the dtype
that the standard asks for. Compared are class, dtype, device, shape and values. What a backend cannot do is told by its
own data: a function bound to ``unsupported(...)`` must raise and name the way out, and a name in ``UNTRACEABLE`` must
fail under a traced variant. An entry that has become untrue fails the suite.
"""

# ruff: noqa: E402 - pytest must know of our assertions before they are imported

from __future__ import annotations

import pkgutil

import pytest

pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)))

from xarrayops.testing._compare import check_array as check_array
from xarrayops.testing._suite import ContractSuite as ContractSuite, exercised as exercised
from xarrayops.testing._table import Call as Call, Row as Row, call as call, check_row as check_row
from xarrayops.testing._variant import Variant as Variant, reversed_ as reversed_, strided as strided
